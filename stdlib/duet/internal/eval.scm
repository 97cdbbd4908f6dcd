;;; Evaluating data. The host compiles a datum to procedures that must be called in order: first
;;; those of the libraries that are not evaluated yet, then the datum itself. An environment is
;;; identified by its import sets, written as text; the mutable one by the empty text.

(define-record-type <environment>
  (%make-environment imports)
  ;;;> Returns whether an object is an environment.
  environment?
  (imports %environment-imports))

(define %mutable-environment (%make-environment ""))

;;; The import sets that environments of this actor can have; `#f` if they can have any.
(define %import-sets-allowed #f)

;;; Bounds what this actor can evaluate from now on by what import sets provide: its mutable
;;; environment is a sandbox made of them, and other environments have a part of it.
(define (%bound-evaluation! import-sets)
  ;; The runtime lets the names of values, such as `$1`, be used in the sandbox with the number 0.
  (let ((sandbox (%make-environment (%sandbox 0 (%allowed import-sets)))))
    (set! %import-sets-allowed import-sets)
    (set! %mutable-environment sandbox)
    sandbox))

(define (%allowed? import-set)
  (or (member import-set %import-sets-allowed)
      (and (pair? import-set)
           (memq (car import-set) '(only except prefix rename))
           (pair? (cdr import-set))
           (pair? (cadr import-set))
           (%allowed? (cadr import-set)))))

;;; Returns import sets that this actor may evaluate with.
(define (%allowed import-sets)
  (if %import-sets-allowed
      (for-each
        (lambda (import-set)
          (if (not (%allowed? import-set))
              (raise
                (%make-condition 'syntax-error
                  "evaluation is bounded here, and an environment has a part of these imports:"
                  %import-sets-allowed))))
        import-sets))
  import-sets)

;;;> Returns the mutable environment. It belongs to the actor and lasts as long as the actor does. In a
;;;> session that is limited to certain imports, it is the session's sandbox.
(define (interaction-environment) %mutable-environment)

;;;> Makes an immutable environment with the names of the import sets. Only expressions can be
;;;> evaluated in it. In a session that is limited to certain imports, the import sets are these, or
;;;> parts of them, such as `(only (scheme base) car)`; others raise `syntax-error`.
(define (environment . import-sets)
  (%make-environment (%environment (%allowed import-sets))))

;;; The number of sandboxes that this actor has made.
(define %sandboxes 0)

;;;> Makes a sandbox, a mutable environment for code of others: `(make-sandbox import-set …)`. Code in
;;;> it can use what the import sets provide, and define procedures, variables, records and
;;;> `syntax-rules` macros, which no other environment sees. It cannot import, define libraries,
;;;> include files or write procedural macros: these raise `syntax-error`. A sandbox decides what its
;;;> code can name; the actor's grants decide what its code can do.
(define (make-sandbox . import-sets)
  (set! %sandboxes (+ %sandboxes 1))
  (%make-environment (%sandbox %sandboxes (%allowed import-sets))))

;;; Calls each procedure, the last one as a tail call.
(define (%run procedures)
  (if (null? (cdr procedures))
      ((car procedures))
      (begin
        ((car procedures))
        (%run (cdr procedures)))))

;;;> Evaluates a datum and returns its values. The default environment is the mutable one.
(define eval
  (case-lambda
    ((expression) (eval expression %mutable-environment))
    ((expression environment) (%run (%compile expression (%environment-imports environment))))))

;;;> Evaluates the forms of a text, a string, and returns the values of the last. The default
;;;> environment is the mutable one. Raises `syntax-error` if the text cannot be read or expanded;
;;;> then nothing of it is evaluated.
(define eval-text
  (case-lambda
    ((text) (eval-text text %mutable-environment))
    ((text environment)
     (if (not (string? text)) (%wrong-type 'eval-text "a string" text))
     (if (not (environment? environment)) (%wrong-type 'eval-text "an environment" environment))
     (%evaluate-text text environment
       (lambda (failure)
         (raise
           (%make-condition
             (string->symbol (record-field failure 0)) (record-field failure 1)
             (record-field failure 2))))))))

;;; Does the same, but calls a procedure with the failure if the text cannot be read or expanded: a
;;; record with the kind, the message, irritants, and the place in the text.
(define (%evaluate-text text environment failed)
  (let ((compiled (%compile-text text (%environment-imports environment))))
    (if (record? compiled)
        (failed compiled)
        (%run compiled))))

;;;> Reads data from a file and evaluates them one by one. The default environment is the mutable
;;;> one.
(define load
  (case-lambda
    ((path) (load path %mutable-environment))
    ((path environment)
     (for-each
       (lambda (form)
         (if (string? form)
             (raise (%make-condition 'read-error form '()))
             (%run-form (car form) (cdr form) environment)))
       (%forms (call-with-input-file path (lambda (port) (%rest-of port))) path)))))

(define (%rest-of port)
  (let ((text (read-string 4194304 port)))
    (if (eof-object? text) "" (string-append text (%rest-of port)))))

;;; Evaluates a form of a file, in a text with a name that tells its place.
(define (%run-form name text environment)
  (let ((compiled (%compile-text text (%environment-imports environment) name)))
    (if (record? compiled)
        (raise
          (%make-condition (string->symbol (record-field compiled 0))
            (string-append name ": " (record-field compiled 1)) (record-field compiled 2)))
        (%run compiled))))

(define (%check-version version)
  (if (not (eqv? version 5))
      (raise (%make-condition 'wrong-type "the version of the report must be 5" (list version)))))

;;;> Returns the environment of R5RS; the version must be 5.
(define (scheme-report-environment version)
  (%check-version version)
  (environment '(scheme r5rs)))

;;;> Returns the environment of only the syntax of R5RS; the version must be 5.
(define (null-environment version)
  (%check-version version)
  (environment
    '(only (scheme r5rs)
      and begin case cond define define-syntax delay do else if lambda let let* let-syntax letrec
      letrec-syntax or
      quasiquote quote set! syntax-rules unquote unquote-splicing => ... _)))

;;; The number of values that stay named.
(define %values-max 100)

;;; The number of values that were named, and the newest of them: number n has place n modulo the
;;; maximum. `#f` before the first.
(define %values-count 0)
(define %values-kept #f)

;;; Names a value that a person has asked for; returns the name, a string. `$7` in the mutable
;;; environment is the seventh value, until a hundred more have followed.
(define (%keep-value! value)
  (if (not %values-kept) (set! %values-kept (make-vector %values-max #f)))
  (set! %values-count (+ %values-count 1))
  (vector-set! %values-kept (remainder %values-count %values-max) value)
  (%value-name %values-count))

(define (%value-name number) (string-append "$" (number->string number)))

;;; Returns the value with a number. The host calls this for a name such as `$7` that nothing binds.
(define (%kept-value number)
  (cond ((> number %values-count)
         (%no-value number
           (if (= %values-count 0)
               "no value was shown at the prompt yet"
               (string-append "the newest value is " (%value-name %values-count)))))
        ((<= number (- %values-count %values-max))
         (%no-value number
           (string-append "of the values shown at the prompt, the newest "
             (number->string %values-max) " keep their names; `define` keeps one for good")))
        (else (vector-ref %values-kept (remainder number %values-max)))))

(define (%no-value number why)
  (raise
    (%make-condition 'undefined-variable
      (string-append (%value-name number) " is not defined: " why) '())))

;;; Whether values are shown with their names, and the number of characters of a value that are
;;; shown; `#f` shows all.
(define %shows-names #f)
(define %characters-max #f)

;;; The number of characters of a value that a person sees at first, a few screens.
(define %characters-for-a-person 8000)

;;; Has values shown to a person at a terminal.
(define (%face-a-person!)
  (set! %shows-names #t)
  (set! %characters-max %characters-for-a-person))

;;; Has only so many characters of each value shown, or all for `#f`.
(define (%limit-shown! characters-max) (set! %characters-max characters-max))

;;; Evaluates the input of a person, and shows and names its values, except unspecified ones.
(define (%interact procedures)
  (call-with-values
    (lambda () (%run procedures))
    (lambda values
      (for-each
        (lambda (value)
          (if (not (eq? value (if #f #f)))
              (%show-value value (%keep-value! value) (%console-port 1))))
        values)
      (%save-files))))

(define (%show-value value name port)
  (if %shows-names (write-string (string-append name " = ") port))
  (if %characters-max
      (%show-beginning (%written value) name port)
      (write value port))
  (newline port))

(define (%written value)
  (let ((port (open-output-string)))
    (write value port)
    (get-output-string port)))

(define (%show-beginning text name port)
  (let ((surplus (- (string-length text) %characters-max)))
    (if (<= surplus 0)
        (write-string text port)
        (write-string
          (string-append
            (substring text 0 %characters-max)
            "…\nand " (number->string surplus)
            (if (= surplus 1) " more character" " more characters")
            "; `(write " name ")` shows all of it, `,print` shows all of each value")
          port))))
