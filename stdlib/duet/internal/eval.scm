;;; Evaluating data. The host compiles a datum to procedures that are to be called in order: first what libraries still have to be evaluated, then the
;;; datum itself. An environment is known by its import sets, written as text; the one that takes definitions by the empty text.

(define-record-type <environment>
  (%make-environment imports)
  environment?
  (imports %environment-imports))

(define %interaction-environment (%make-environment ""))

;;;> The environment that takes definitions. It belongs to the actor and lasts as long as the actor does.
(define (interaction-environment) %interaction-environment)

;;;> An environment in which is visible what the import sets provide. Only expressions can be evaluated in it.
(define (environment . import-sets)
  (%make-environment (%environment import-sets)))

;;; Calls each procedure, the last one as a tail call.
(define (%run procedures)
  (if (null? (cdr procedures))
      ((car procedures))
      (begin
        ((car procedures))
        (%run (cdr procedures)))))

;;;> Evaluates a datum and returns its values. Without an environment, in the one that takes definitions.
(define eval
  (case-lambda
    ((expression) (%run (%compile expression "")))
    ((expression environment) (%run (%compile expression (%environment-imports environment))))))

;;;> Reads data from a file and evaluates them one by one. Without an environment, in the one that takes definitions.
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

;;;> The environment of R5RS, the version being 5.
(define (scheme-report-environment version)
  (%check-version version)
  (environment '(scheme r5rs)))

;;;> The environment of the syntax of R5RS alone, the version being 5.
(define (null-environment version)
  (%check-version version)
  (environment
    '(only (scheme r5rs)
           and begin case cond define define-syntax delay do else if lambda let let* let-syntax letrec letrec-syntax or
           quasiquote quote set! syntax-rules unquote unquote-splicing => ... _)))

;;; Evaluates what a person has typed and shows its values, those left out that nobody has specified.
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
