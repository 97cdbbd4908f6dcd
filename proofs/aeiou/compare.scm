;; Comparing a trace with that of the reference implementation, as the decisions say. A difference
;; that they name carries the name, such as "section 5.5"; another one carries #f.

;;; Returns no difference, or one.
(define (differ-unless same place expected got reason)
  (if same '() (list (make-difference place (value->json expected) (value->json got) reason))))

(define (compare-field place key expected got reason)
  (let ((a (field expected key 'null)) (b (field got key 'null)))
    (differ-unless (json=? a b) place a b reason)))

;;; Returns the code of the error of a trace, or null; messages are not compared.
(define (error-code trace)
  (let ((error (field trace "error" 'null)))
    (if (dictionary? error) (field error "code" 'null) 'null)))

(define (compare-codes expected got reason)
  (let ((a (error-code expected)) (b (error-code got)))
    (differ-unless (equal? a b) "error" a b reason)))

;;; The checklist has no name for the error of size: the reference may use another one.
(define (unnamed-code-reason expected got)
  (and (equal? (error-code got) "ERR_ENV_SIZE") (string? (error-code expected))
       (not (member (error-code expected)
              '("ERR_ENV_MARKERS_INVALID" "ERR_ENV_SECTION_MISSING" "ERR_ENV_ORDER")))
       "A14"))

(define (compare-envelopes case expected got)
  (append
    (compare-codes expected got (unnamed-code-reason expected got))
    (if (eq? (error-code expected) 'null)
        (append (compare-field "sections" "env" expected got #f)
          (compare-field "lints" "lints" expected got #f))
        '())))

(define (compare-userdata case expected got)
  (define (null-subject?)
    (attempt
      (lambda ()
        (eq? (json-ref (json->value (text-of case "text") :repeated 'last) "subject") 'null))
      (lambda (object) #f)))
  (append
    (compare-field "ok" "ok" expected got (and (null-subject?) "section 5.16"))
    (compare-codes expected got (and (null-subject?) "section 5.16"))))

(define (long-line? text)
  (any (lambda (line) (> (bytevector-length (string->utf8 line)) 65535))
    (string-split text #\newline)))

(define (compare-digests case expected got)
  (compare-field "digest" "digest" expected got
    (and (or (long-line? (text-of case "out")) (long-line? (text-of case "scr")))
         "section 2, defects")))

(define (compare-tracks case expected got) (compare-field "halts" "halts" expected got #f))

;; Programs.

(define (items trace key) (let ((value (field trace key '()))) (if (list? value) value '())))

(define (subset? some others)
  (null? (remove (lambda (it) (member it others)) some)))

(define (compare-names place key expected got)
  (let* ((a (items expected key)) (b (items got key)) (small (map string-downcase a)))
    (differ-unless (and (subset? a b) (subset? b a)) place a b
      (cond ((subset? a b) "section 5.13")
            ;; The reference tells upper from lower case only when it checks.
            ((and (subset? b small) (subset? small (items got "required_tools"))) "section 5.12")
            (else #f)))))

;;; Returns a printed value with the entries of its maps sorted, because the reference prints them
;;; in a random order; a text that is no printed value stays as it is.
(define (sorted-text text)
  (let ((end (string-length text)))
    ;; Returns the part that begins at an index, with its maps sorted, and the index behind it.
    (define (part at)
      (let ((char (if (< at end) (string-ref text at) #\null)))
        (cond
          ((char=? char #\{) (group (+ at 1) #\} (lambda (items) (list-sort string<? items))))
          ((char=? char #\[) (group (+ at 1) #\] (lambda (items) items)))
          ((char=? char #\") (quoted at (+ at 1)))
          (else (plain at at)))))
    (define (quoted from at)
      (cond ((>= at end) (cons (substring text from end) end))
            ((char=? (string-ref text at) #\\) (quoted from (min end (+ at 2))))
            ((char=? (string-ref text at) #\") (cons (substring text from (+ at 1)) (+ at 1)))
            (else (quoted from (+ at 1)))))
    (define (plain from at)
      (if (or (>= at end) (memv (string-ref text at) '(#\, #\} #\] #\{ #\[ #\")))
          (cons (substring text from at) at)
          (plain from (+ at 1))))
    ;; Returns the parts of an item up to a comma or the closing bracket.
    (define (item at closing)
      (let loop ((at at) (parts '()))
        (if (or (>= at end) (memv (string-ref text at) (list #\, closing)))
            (cons (string-trim (apply string-append (reverse parts))) at)
            (let ((it (part at)))
              (if (= (cdr it) at)
                  (loop (+ at 1) (cons (string (string-ref text at)) parts))
                  (loop (cdr it) (cons (car it) parts)))))))
    (define (group at closing order)
      (let loop ((at at) (items '()))
        (let* ((it (item at closing)) (items (cons (car it) items)) (next (cdr it)))
          (if (and (< next end) (char=? (string-ref text next) #\,))
              (loop (+ next 1) items)
              (cons
                (string-append (if (char=? closing #\}) "{" "[")
                  (string-join (order (reverse items)) ", ")
                  (if (< next end) (string closing) ""))
                (min end (+ next 1)))))))
    (if (and (< 0 end) (memv (string-ref text 0) '(#\{ #\[)))
        (let ((it (part 0))) (string-append (car it) (substring text (cdr it) end)))
        text)))

(define (same-texts? expected got)
  (and (= (length expected) (length got))
       (null? (remove (lambda (pair) (string=? (sorted-text (car pair)) (sorted-text (cdr pair))))
                (map cons expected got)))))

;;; The words of programs that the reference parses and does not run.
(define unrun-words
  '("on error" "last" "eval" "ln(" "log(" "sin(" "cos(" "tan(" "asin(" "acos(" "atan("))

(define (mentions? text words) (any (lambda (word) (and (string-contains text word) #t)) words))

;;; Whispers as the reference keeps them: the last one of each target.
(define (last-whispers whispers)
  (let ((last (dictionary)))
    (for-each (lambda (it) (dictionary-set! last (whisper-part it 0) (whisper-part it 1))) whispers)
    (map (lambda (entry) (list (car entry) (cdr entry)))
      (list-sort (lambda (a b) (string<? (car a) (car b))) (dictionary->alist last)))))

(define (whisper-part it index)
  (let ((parts (if (dictionary? it) (dictionary-values it) it)))
    (if (and (list? parts) (= (length parts) 2) (string? (list-ref parts index)))
        (list-ref parts index)
        (value->json it))))

(define (run-code trace)
  (let ((error (field trace "error" 'null)))
    (if (dictionary? error) (field error "ns_code" 'null) 'null)))

(define (compare-executions case expected got)
  (let ((reason (and (mentions? (text-of case "src") unrun-words) "section 2, defects"))
        (emits (items expected "emits"))
        (found (items got "emits"))
        (whispers (items expected "whispers"))
        (kept (items got "whispers")))
    (append
      (differ-unless (same-texts? emits found) "emits" emits found reason)
      (differ-unless (json=? (items expected "calls") (items got "calls")) "calls"
        (items expected "calls") (items got "calls") reason)
      (differ-unless (equal? (last-whispers whispers) (last-whispers kept)) "whispers" whispers
        kept reason)
      (differ-unless (equal? (run-code expected) (run-code got)) "error" (run-code expected)
        (run-code got) reason))))

(define (refused? trace) (or (contains? trace 'parse_error) (contains? trace 'build_error)))
(define (contains? trace key) (and (dictionary? trace) (dictionary-contains? trace key)))

;;; Why a program that the reference reads is none here, or #f.
(define (refusal-reason case expected)
  (cond ((not (equal? (field expected "commands" 1) 1)) "A12")
        ((mentions? (text-of case "src") '("ask " "promptuser " "clear event" "return"))
         "section 2")
        (else #f)))

(define (compare-runs case expected got)
  (cond
    ((and (refused? expected) (refused? got)) '())
    ((refused? expected)
     (differ-unless #f "program" "a syntax error" "a program" #f))
    ((refused? got)
     (differ-unless #f "program" "a program" (field got "parse_error" 'null)
       (refusal-reason case expected)))
    (else
     (append
       (compare-names "required tools" "required_tools" expected got)
       (compare-names "missing tools" "missing_tools" expected got)
       (cond
         ((not (contains? got 'refused)) (compare-executions case expected got))
         ((not (equal? (field expected "commands" 1) 1))
          (differ-unless #f "execution" "executed" (field got "refused" 'null) "A12"))
         (else
          (differ-unless #f "execution" "executed" (field got "refused" 'null)
            (and (pair? (items got "missing_tools")) "A4"))))))))

;; Loops.

;;; Returns the result of the reference's loop, a string, or null.
(define (loop-result expected)
  (let ((results (items expected "result")))
    (if (null? results)
        'null
        (let* ((text (car results)) (bar (last-index text #\|)))
          (if (string-suffix? "NilValue" text) 'null (if bar (substring text 0 bar) text))))))

(define (last-index text char)
  (let loop ((i (- (string-length text) 1)))
    (cond ((< i 0) #f) ((char=? (string-ref text i) char) i) (else (loop (- i 1))))))

(define (trimmed value) (if (string? value) (string-trim value) value))

(define (stuck? expected)
  (let ((error (field expected "error" 'null)))
    (and (dictionary? error) (string-contains (field error "message" "") "repetitive state") #t)))

(define (lints-of got)
  (append-map (lambda (turn) (items turn "lints")) (items got "turns")))

(define (errors-of got)
  (filter string? (map (lambda (turn) (field turn "error" 'null)) (items got "turns"))))

;;; Why two loops end differently, or #f.
(define (ending-reason case expected got)
  (let ((result (loop-result expected))
        (found (field got "result" 'null))
        (lints (lints-of got))
        (errors (errors-of got)))
    (cond
      ((or (member "LINT_MULTIPLE_MARKERS" lints) (member "LINT_MARKER_MIDLINE" lints))
       "section 5.5")
      ((member "ERR_PERMISSIONS" errors) "A4")
      ((member "ERR_ACTIONS_INVALID" errors) "A12")
      ((equal? (field got "reason" 'null) "ERR_MAX_TURNS_EXCEEDED")
       (and (or (eq? result 'null)
                (equal? (trimmed result) (trimmed (field got "output" ""))))
            "section 5.10"))
      ((and (equal? (field got "reason" 'null) "ERR_NO_PROGRESS") (pair? errors)) "section 5.7")
      ((and (string? result) (string? found) (contains-words? found result)) "A19")
      ((and (string? result) (string? found) (string-contains result found)) "section 5.5")
      ((mentions? (string-join (list-of case "turns") "\n") unrun-words) "section 2, defects")
      (else #f))))

;;; Returns whether the letters and digits of a result stand in another one: the reference drops
;;; labels, fences and the two characters `\\n`.
(define (contains-words? text result)
  (define (words text)
    (list->string
      (filter (lambda (char) (or (char-alphabetic? char) (char-numeric? char)))
        (string->list (string-join (string-split* text "\\n") "")))))
  (string-contains (words text) (words result)))

(define (string-split* text separator)
  (let ((at (string-contains text separator)))
    (if at
        (cons (substring text 0 at)
          (string-split*
            (substring text (+ at (string-length separator)) (string-length text)) separator))
        (list text))))

(define (compare-endings case expected got)
  (let ((result (loop-result expected)) (found (field got "result" 'null)))
    (if (stuck? expected)
        (differ-unless (equal? (field got "reason" 'null) "ERR_NO_PROGRESS") "ending"
          "ERR_NO_PROGRESS" (field got "reason" 'null) (ending-reason case expected got))
        (differ-unless
          (and (equal? (field got "decision" 'null) "DONE")
               (equal? (trimmed result) (trimmed found)))
          "result" result (if (equal? (field got "decision" 'null) "DONE")
                              found
                              (field got "reason" (field got "error" 'null)))
          (ending-reason case expected got)))))

;;; Returns the envelopes of the prompts of a transcript, or the text of one that is none.
(define (envelopes-of transcript)
  (let loop ((rest transcript) (found '()))
    (let ((start (string-contains rest "<<<NSENV:V4:START>>>"))
          (end (string-contains rest "\n--- END PROMPT ---")))
      (if (and start end (< start end))
          (loop (substring rest (+ end 19) (string-length rest))
            (let ((text (substring rest start end)))
              (cons (attempt (lambda () (parse-envelope text)) (lambda (object) text)) found)))
          (reverse found)))))

(define (system-error? text) (string-prefix? "SYSTEM_ERROR: " text))

(define (first-line text)
  (let ((end (string-index text #\newline))) (if end (substring text 0 end) text)))

;;; Returns whether two outputs are the same; of an error only its kind is compared.
(define (same-output? expected got)
  (or (string=? (sorted-text expected) (sorted-text got))
      (and (system-error? expected) (string-contains got (first-line expected)) #t)))

(define (output-reason case got-envelope)
  (let ((output (envelope-output got-envelope)))
    (cond ((string-contains output "\\<<<NSENV:V4:") "section 5.2")
          ((and (system-error? output) (string-contains output "not permitted")) "A4")
          ((system-error? output) "A12")
          ((mentions? (string-join (list-of case "turns") "\n") unrun-words) "section 2, defects")
          (else #f))))

;;; A prompt of the reference that is no envelope, because a section of it was forged, has nothing
;;; to compare.
(define (compare-prompts case number expected got)
  (if (string? expected)
      (differ-unless #f (string-append "prompt " (number->string number)) expected
        (envelope-output got)
        (and (string-contains (envelope-output got) "\\<<<NSENV:V4:") "section 5.2"))
      (compare-envelope-parts case number expected got)))

(define (compare-envelope-parts case number expected got)
  (let* ((place (string-append "prompt " (number->string number)))
         (reason
           (and (not (same-output? (envelope-output expected) (envelope-output got)))
                (output-reason case got))))
    (define (compare what part same? reason)
      (differ-unless (same? (part expected) (part got)) (string-append place " " what)
        (part expected) (part got) reason))
    (append
      (compare "USERDATA" envelope-userdata
        (lambda (a b) (json=? (json->value a) (json->value b))) #f)
      (compare "SCRATCHPAD" envelope-scratchpad
        (lambda (a b) (or (string=? a b) (and (string=? a "{}") (string=? b ""))))
        "section 5.15")
      (compare "OUTPUT" envelope-output same-output? reason)
      (compare "ACTIONS" envelope-actions string=? reason))))

(define (compare-loops case expected got)
  (let ((endings (compare-endings case expected got))
        (prompts (envelopes-of (field expected "transcript" "")))
        (found (envelopes-of (field got "transcript" ""))))
    (append endings
      (append-map (lambda (a b number) (compare-prompts case number a b)) prompts found
        (iota (min (length prompts) (length found)) 1))
      (if (pair? endings)
          '()
          (compare-field "number of turns" "turns_used" expected got #f)))))

(define (compare-traces case expected got)
  (let ((op (field case "op" 'null)))
    (if (not (equal? (field case "name" 'null) (field expected "name" 'absent)))
        (bad-case "the case and what is expected have different names"))
    ((cond ((equal? op "envelope") compare-envelopes)
       ((equal? op "userdata") compare-userdata)
       ((equal? op "digest") compare-digests)
       ((equal? op "track") compare-tracks)
       ((equal? op "run") compare-runs)
       (else compare-loops))
     case expected got)))
