;;; Evaluating data. The host compiles a datum to procedures that must be called in order: first
;;; those of the libraries that are not evaluated yet, then the datum itself. An environment is
;;; identified by its import sets, written as text; the mutable one by the empty text.

(define-record-type <environment>
  (%make-environment imports)
  environment?
  (imports %environment-imports))

(define %interaction-environment (%make-environment ""))

;;;> Returns the mutable environment. It belongs to the actor and lasts as long as the actor does.
(define (interaction-environment) %interaction-environment)

;;;> Makes an immutable environment with the names of the import sets. Only expressions can be
;;;> evaluated in it.
(define (environment . import-sets)
  (%make-environment (%environment import-sets)))

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
    ((expression) (%run (%compile expression "")))
    ((expression environment) (%run (%compile expression (%environment-imports environment))))))

;;;> Reads data from a file and evaluates them one by one. The default environment is the mutable
;;;> one.
(define load
  (case-lambda
    ((path) (load path %interaction-environment))
    ((path environment)
     (call-with-input-file path
       (lambda (port)
         (let next ()
           (let ((datum (read port)))
             (if (not (eof-object? datum))
                 (begin
                   (eval datum environment)
                   (next))))))))))

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
