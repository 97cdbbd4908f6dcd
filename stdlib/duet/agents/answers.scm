;;; Questions to a person whose answers have a shape.

;;;> Asks the person and returns an answer that has a shape, one of `shape->schema`: `(ask-person
;;;> question shape [:tag tag] [:attempts n])`. The question, a string, is shown with what is
;;;> expected. For `boolean` and `one-of` the person chooses. For `string` the typed text is the
;;;> answer; for other shapes it is read as JSON: numbers as they are, lists and objects as
;;;> `["a", "b"]` and `{"name": "Ada"}`. An answer that does not fit is refused: the question is asked
;;;> again, with the reason. After `:attempts` answers, by default without a limit, raises a condition
;;;> of kind `invalid-answer`, whose irritant is the last answer. `:tag` is as for `user-input`.
(define (ask-person question shape . options)
  (if (not (string? question)) (%wrong-type 'ask-person "a string" question))
  (%check-options 'ask-person options '(:tag :attempts))
  (let ((attempts (%option options :attempts #f))
        (tag (%option options :tag #f))
        (schema (json-schema (shape->schema shape))))
    (if (not (or (not attempts) (%count? attempts)))
        (%wrong-type 'ask-person "a number from 1, or #f, after :attempts" attempts))
    (let ask ((number 1) (reason ""))
      (let* ((prompt (%prompt-for (string-append reason question) shape))
             (answer (await (apply user-input :prompt prompt (if tag (list :tag tag) '()))))
             (read (%read-answer answer shape schema)))
        (cond ((car read) (cdr read))
              ((eqv? number attempts)
               (raise
                 (%make-condition 'invalid-answer
                   (string-append "ask-person: the answer does not fit: " (cdr read))
                   (list answer))))
              (else (ask (+ number 1) (%refusal answer (cdr read)))))))))

;;; The longest part of a refused answer that the next question repeats, in characters.
(define %answer-shown-max 60)

(define (%refusal answer reason)
  (let ((text (if (string? answer) answer (value->json answer))))
    (string-append "`"
      (if (> (string-length text) %answer-shown-max)
          (string-append (substring text 0 %answer-shown-max) "…")
          text)
      "` does not fit: " reason ". ")))

;;; Returns the prompt of a question: with choices, or with what is expected.
(define (%prompt-for question shape)
  (let ((choices (%choices shape)) (expected (%expected shape)))
    (cond (choices (record 'ask question choices))
          ((string=? expected "") question)
          (else (string-append question " (" expected ")")))))

(define (%choices shape)
  (cond ((memq shape '(boolean (boolean))) '(#t #f))
        ((and (pair? shape) (eq? (car shape) 'one-of)) (map %plain-value (cdr shape)))
        (else #f)))

;;; Says what a shape expects; nothing if any text will do.
(define (%expected shape)
  (let* ((kind (if (pair? shape) (car shape) shape)) (options (if (pair? shape) (cdr shape) '())))
    (case kind
      ((any) "")
      ((integer) (string-append "a whole number" (%between options "from" "on")))
      ((number) (string-append "a number" (%between options "from" "on")))
      ((string)
       (let ((length (%between options "of" "or more"))
             (pattern (%option options :pattern #f)))
         (string-append
           (cond ((and pattern (string=? length "")) "a text")
                 ((string=? length "") "")
                 (else (string-append "a text" length " characters")))
           (if pattern (string-append " like " pattern) ""))))
      (else (string-append "JSON of the shape " (%written shape))))))

;;; Says which numbers the options `:min` and `:max` allow.
(define (%between options from on)
  (let ((least (%option options :min #f)) (most (%option options :max #f)))
    (define (text number) (number->string number))
    (cond ((and least most) (string-append " " from " " (text least) " to " (text most)))
          (least (string-append " " from " " (text least) " " on))
          (most (string-append " up to " (text most)))
          (else ""))))

(define (%written object) (with-output-to-string (lambda () (write object))))

;;; Returns a pair: #t and the answer that a person's answer is, or #f and why it is none.
(define (%read-answer answer shape schema)
  (let ((is-text (and (string? answer) (not (%choices shape)))))
    (guard (mistake ((json-error? mistake) (cons #f (condition-message mistake))))
      (let* ((value (if (and is-text (not (%texts-only? shape))) (%json-or-text answer) answer))
             (violations (json-violations schema value)))
        (if (null? violations) (cons #t value) (cons #f (%reasons violations)))))))

(define (%texts-only? shape) (or (eq? shape 'string) (and (pair? shape) (eq? (car shape) 'string))))

;;; Lists what does not fit: of a part of the answer with its place.
(define (%reasons violations)
  (string-join
    (map (lambda (violation)
           (let ((place (dictionary-ref violation 'instance)))
             (string-append place (if (string=? place "") "" ": ")
               (dictionary-ref violation 'message))))
         violations)
    "; "))

;;; Reads a text as JSON. One that does not begin like a list or an object may stand for itself.
(define (%json-or-text text)
  (let ((trimmed (string-trim text)))
    (guard (mistake ((and (json-error? mistake)
                          (not (string=? trimmed ""))
                          (not (memv (string-ref trimmed 0) '(#\{ #\[ #\"))))
                     text))
      (json->value trimmed))))
