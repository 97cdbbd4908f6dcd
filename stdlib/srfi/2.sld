;;; SRFI 2: and-let*.
(define-library (srfi 2)
  (export and-let*)
  (on-demand)
  (import (scheme base))
  (begin
    ;;;> Evaluates clauses in sequence — `(variable expression)`, which binds, `(expression)` or a
    ;;;> variable — until one is false; then evaluates the body.
    (define-syntax and-let*
      (syntax-rules ()
        ((_ ()) #t)
        ((_ () body ...) (let () body ...))
        ((_ ((variable expression))) (let ((variable expression)) variable))
        ((_ ((expression))) expression)
        ((_ (variable)) variable)
        ((_ ((variable expression) . clauses) . body)
         (let ((variable expression)) (if variable (and-let* clauses . body) #f)))
        ((_ ((expression) . clauses) . body)
         (if expression (and-let* clauses . body) #f))
        ((_ (variable . clauses) . body)
         (if variable (and-let* clauses . body) #f))))))
