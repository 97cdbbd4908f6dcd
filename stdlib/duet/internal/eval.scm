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
  (let ((sandbox (apply make-sandbox import-sets)))
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
             (string->symbol (record-field failure 0)) (record-field failure 1) (record-field failure 2))))))))

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
           and begin case cond define define-syntax delay do else if lambda let let* let-syntax letrec letrec-syntax or
           quasiquote quote set! syntax-rules unquote unquote-splicing => ... _)))

;;; Evaluates the input of a person and shows its values, except unspecified ones.
(define (%interact procedures)
  (call-with-values
    (lambda () (%run procedures))
    (lambda values
      (for-each
        (lambda (value)
          (if (not (eq? value (if #f #f)))
              (begin
                (write value (%console-port 1))
                (newline (%console-port 1)))))
        values)
      (%save-files))))
