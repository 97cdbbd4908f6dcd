;;; A review ratchet over a source tree.
;;;
;;; A coordinator splits the files among worker fibers. Each reads its files, measures them and asserts what it found. A reviewer
;;; watches the findings; if there are more than the threshold allows, a person decides whether they are acceptable. Either way a report is written.
(import (scheme base) (scheme write) (duet base) (duet dataspace) (review measure))

(define worker-count 4)

;; Lines longer than this, open notes and repeated paragraphs are findings.
(define line-length-max 120)
(define findings-max 10)

(define report-folder "review-reports")

;;; Files

(define (source-files)
  (let ((entries (call-tool 'reviewer 'workspace/list (dictionary 'recursive #t))))
    (let loop ((entries entries) (paths '()))
      (if (null? entries)
          (reverse paths)
          (let ((path (dictionary-ref (car entries) 'path)))
            (loop (cdr entries)
                  (if (and (eq? (dictionary-ref (car entries) 'kind) 'file) (reviewable? path))
                      (cons path paths)
                      paths)))))))

;; Deals a list into `count` lists, like cards.
(define (deal items count)
  (let ((hands (make-vector count '())))
    (let loop ((items items) (hand 0))
      (if (null? items)
          (map reverse (vector->list hands))
          (begin
            (vector-set! hands hand (cons (car items) (vector-ref hands hand)))
            (loop (cdr items) (modulo (+ hand 1) count)))))))

;;; Workers

(define (review-file path)
  (let ((content
          (guard (failure ((condition? failure) failure))
            (dictionary-ref (call-tool 'reviewer 'workspace/read (dictionary 'path path))
                            'content))))
    (assert!
      (cond ((string? content) (record 'measured path (measure content)))
            ((condition? content) (record 'unread path (condition-message content)))
            (else (record 'unread path "not text"))))))

(define (work number paths)
  (for-each review-file paths)
  (signal! 'worker-done number (length paths)))

;;; The reviewer: keeps everything measured, by path.

(define measured (dictionary))
(define unread '())

(define (watch-findings total)
  (define done 0)
  (define (step!)
    (set! done (+ done 1))
    (progress! "reviewing" done total))
  (on-assert (measured $path $measures)
    (dictionary-set! measured path measures)
    (step!))
  (on-assert (unread $path $reason)
    (set! unread (cons (cons path reason) unread))
    (step!)))

(define (lines-of measures) (record-field measures 0))
(define (longest-of measures) (record-field measures 1))
(define (longest-line-of measures) (record-field measures 2))
(define (notes-of measures) (record-field measures 3))
(define (paragraphs-of measures) (record-field measures 4))

;; All paths that were measured, in order.
(define (measured-paths)
  (list-sort string<? (dictionary-keys measured)))

;; The findings of one kind over all files: a list of (path . text).
(define (collect finding)
  (let loop ((paths (measured-paths)) (found '()))
    (if (null? paths)
        (reverse found)
        (loop
          (cdr paths)
          (append (reverse (finding (car paths) (dictionary-ref measured (car paths)))) found)))))

(define (long-lines path measures)
  (if (> (longest-of measures) line-length-max)
      (list (cons path (string-append "line " (number->string (longest-line-of measures)) " has "
                                      (number->string (longest-of measures)) " characters")))
      '()))

(define (open-notes path measures)
  (map (lambda (note)
         (cons path
               (string-append "line " (number->string (record-field note 1)) ": "
                              (record-field note 2))))
       (notes-of measures)))

;; Paragraphs that stand in more than one place, each told where it stands again.
(define (repeated-paragraphs)
  (let ((first-places (dictionary)))
    (collect
      (lambda (path measures)
        (let loop ((paragraphs (paragraphs-of measures)) (found '()))
          (if (null? paragraphs)
              (reverse found)
              (let* ((paragraph (car paragraphs))
                     (place (string-append path ":" (number->string (record-field paragraph 0))))
                     (hash (record-field paragraph 2))
                     (earlier (dictionary-ref first-places hash #f)))
                (if (not earlier) (dictionary-set! first-places hash place))
                (loop (cdr paragraphs)
                      (if earlier
                          (cons (cons path (string-append
                                             "line " (number->string (record-field paragraph 0))
                                             ": "
                                             (number->string (record-field paragraph 1))
                                             " lines stand at " earlier
                                             " already"))
                                found)
                          found)))))))))

;;; The report

(define (write-section title findings port)
  (write-string (string-append "\n## " title " (" (number->string (length findings)) ")\n\n") port)
  (if (null? findings) (write-string "None.\n" port))
  (for-each
    (lambda (finding)
      (write-string (string-append "- `" (car finding) "` " (cdr finding) "\n") port))
    findings))

(define (report verdict long notes repeated)
  (let ((port (open-output-string))
        (lines (apply + (map lines-of (dictionary-values measured)))))
    (write-string "# Review\n\n" port)
    (write-string
      (string-append (number->string (dictionary-count measured)) " files, " (number->string lines)
                     " lines. Verdict: "
                     verdict ".\n")
      port)
    (write-section "Long lines" long port)
    (write-section "Open notes" notes port)
    (write-section "Repeated paragraphs" repeated port)
    (write-section "Not read" (reverse unread) port)
    (get-output-string port)))

(define (decide count)
  (if (<= count findings-max)
      "accepted without asking"
      (let ((answer
              (await
                (user-input :prompt
                            (record 'question
                                    (string-append "There are " (number->string count)
                                                   " findings, and "
                                                   (number->string findings-max)
                                                   " would be acceptable. Accept them?")
                                    (list "yes" "no"))))))
        (if (equal? answer "yes") "accepted by a person" "returned by a person"))))

(define (main)
  (let ((paths (source-files)))
    (watch-findings (length paths))
    (let loop ((hands (deal paths worker-count)) (number 1))
      (if (pair? hands)
          (begin
            (spawn (lambda () (work number (car hands))))
            (loop (cdr hands) (+ number 1)))))
    (let loop ((number 1))
      (if (<= number worker-count)
          (begin
            (await (record 'worker-done :field 0 :equals number))
            (loop (+ number 1)))))
    (let* ((long (collect long-lines))
           (notes (collect open-notes))
           (repeated (repeated-paragraphs))
           (verdict (decide (+ (length long) (length notes) (length repeated))))
           (name (if (string-prefix? "accepted" verdict) "accepted.md" "returned.md"))
           (path (string-append report-folder "/" name)))
      (call-tool 'reviewer
                 'workspace/write
                 (dictionary 'path path 'content (report verdict long notes repeated)))
      (display (string-append "The report is in " path ": " verdict "."))
      (newline))))

(main)
