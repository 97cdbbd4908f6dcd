;;; SRFI 219: definitions of procedures that return procedures.
(define-library (srfi 219)
  (export (rename define-curried define))
  (on-demand)
  (import (scheme base))
  (begin
    ;;;> Like `define`; `(define ((f a) b) …)` defines a procedure of `a` that returns one of `b`.
    (define-syntax define-curried
      (syntax-rules ()
        ((_ ((head . outer) . formals) body ...)
         (define-curried (head . outer) (lambda formals body ...)))
        ((_ (name . formals) body ...) (define name (lambda formals body ...)))
        ((_ name value ...) (define name value ...))))))
