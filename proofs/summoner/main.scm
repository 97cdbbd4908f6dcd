;; JSON texts, and what the command calls.

;;; Returns the data of a value of `(duet json)`.
(define (value->data value)
  (define (key-text key)
    (if (keyword? key)
        (string-append ":" (symbol->string (keyword->symbol key)))
        (symbol->string key)))
  (cond
    ((dictionary? value)
     (map (lambda (entry) (cons (key-text (car entry)) (value->data (cdr entry))))
       (dictionary->alist value)))
    ((list? value) (list->vector (map value->data value)))
    ((boolean? value) (truth value))
    (else value)))

;;; Returns the value of data for `(duet json)`.
(define (data->value data)
  (cond
    ((vector? data) (map data->value (vector->list data)))
    ((list? data)
     (alist->dictionary
       (map (lambda (entry) (cons (string->symbol (car entry)) (data->value (cdr entry)))) data)))
    ((eq? data 'true) #t)
    ((eq? data 'false) #f)
    (else data)))

(define (json data) (value->json (data->value data)))

(define (read-json-text text) (value->data (json->value text)))

(define (difference-trace it)
  (list (cons "place" (difference-place it))
        (cons "expected" (difference-expected it))
        (cons "got" (difference-got it))
        (cons "reason" (or (difference-reason it) 'null))))

(define (differences case expected)
  (if (not (equal? (field case "name" #f) (field expected "name" 'null)))
      (bad-case "the case and what is expected have different names"))
  (each difference-trace (compare-traces case expected (trace-of case (tapes-of case expected)))))

(define (read-case text)
  (let ((case (read-json-text text)))
    (if (not (and (list? case) (every? pair? case))) (bad-case "a case is an object"))
    case))

;;; Reads what is expected of a case; a mistake in it says so.
(define (read-expected text)
  (attempt (lambda () (read-json-text text))
    (lambda (object)
      (bad-case (string-append "the expected trace: " (field (problem object) "message" ""))))))

;;; Answers for the JSON text of a case and, unless it is empty, of what is expected: the text of an
;;; object with the trace, with the differences, or with the fault of the case.
(define (answer case expected)
  (json
    (attempt
      (lambda ()
        (let ((case (read-case case)))
          (list (if (string=? expected "")
                    (cons "trace" (trace-of case '()))
                    (cons "differences" (differences case (read-expected expected)))))))
      (lambda (object) (list (cons "fault" (field (problem object) "message" "")))))))
