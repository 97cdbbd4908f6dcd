;; Files of cases: reading, judging, printing.

(define path #f)

;;; The lines of a text that are not blank, with their numbers: a list of pairs.
(define (numbered-lines text)
  (let loop ((lines (string-split text #\newline)) (number 1) (found '()))
    (cond ((null? lines) (reverse found))
          ((string=? (string-trim (car lines)) "") (loop (cdr lines) (+ number 1) found))
          (else (loop (cdr lines) (+ number 1) (cons (cons number (car lines)) found))))))

(define (say . parts) (for-each display parts) (newline))

;;; Prints a message for a person and ends with the exit code of a wrong use.
(define (refuse . parts)
  (parameterize ((current-output-port (current-error-port))) (apply say "error: " parts))
  (exit 2))

(define (case-fault? object)
  (or (json-error? object) (and (condition? object) (eq? (condition-kind object) 'error))))

;;; Returns what `judge` makes of each line of cases, or refuses a file with a line that is none.
(define (judge-lines lines judge)
  (let loop ((lines lines) (judged '()) (faults '()))
    (cond
      ((pair? lines)
       (let* ((line (car lines))
              (it (attempt (lambda () (judge line))
                    (lambda (object)
                      (if (case-fault? object) (list 'fault (message-of object)) (raise object))))))
         (if (and (pair? it) (eq? (car it) 'fault))
             (loop (cdr lines) judged
               (cons (string-append path ":" (number->string (car line)) ": " (cadr it)) faults))
             (loop (cdr lines) (cons it judged) faults))))
      ((pair? faults)
       (refuse "this is no case: " (string-join (list-head* (reverse faults) 10) "\n  ")))
      ((null? judged) (refuse "`" path "` has no cases"))
      (else (reverse judged)))))

(define (list-head* list count) (if (< (length list) count) list (list-head list count)))

(define (read-case text)
  (let ((case (json->value text)))
    (if (not (dictionary? case)) (bad-case "a case is an object"))
    case))

(define (print-traces lines)
  (for-each (lambda (trace) (say (value->json trace)))
    (judge-lines lines (lambda (line) (trace-of (read-case (cdr line))))))
  (exit 0))

(define (read-expected text)
  (attempt (lambda () (json->value text))
    (lambda (object)
      (bad-case (string-append "the expected trace: " (message-of object))))))

;;; Compares a line of cases with what is expected: a list of the line's number, the name and the
;;; differences.
(define (compare-line line expected)
  (let* ((case (read-case (cdr line))) (trace (read-expected expected)))
    (list (car line) (field case "name" "a case") (compare-traces case trace (trace-of case)))))

(define (print-difference judged difference)
  (say path ":" (car judged) ": " (cadr judged) ": " (difference-place difference)
    (if (difference-reason difference)
        (string-append " (decisions, " (difference-reason difference) ")")
        ""))
  (say "  expected " (difference-expected difference))
  (say "  got      " (difference-got difference)))

(define (compare-files lines expected)
  (if (not (= (length lines) (length expected)))
      (refuse (length lines) " cases, but " (length expected)
        " traces; the trace of a case stands on the same line of `--expected`"))
  (let* ((left expected)
         (judged
           (judge-lines lines
             (lambda (line)
               (let ((trace (cdar left)))
                 (set! left (cdr left))
                 (compare-line line trace)))))
         (agreeing (filter (lambda (it) (null? (caddr it))) judged))
         (different
           (remove (lambda (it) (null? (remove difference-reason (caddr it)))) judged)))
    (for-each
      (lambda (it) (for-each (lambda (difference) (print-difference it difference)) (caddr it)))
      judged)
    (say "aeiou: " (length judged) " cases, " (length agreeing) " as expected, "
      (- (length judged) (length agreeing) (length different))
      " different as the decisions say, " (length different) " different")
    (exit (if (null? different) 0 1))))

(define (main arguments)
  (set! path (car arguments))
  (let ((lines (numbered-lines (cadr arguments))))
    (if (null? (cddr arguments))
        (print-traces lines)
        (compare-files lines (numbered-lines (caddr arguments))))))

(main (cdr (command-line)))
