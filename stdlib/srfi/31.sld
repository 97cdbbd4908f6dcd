;;; SRFI 31: recursive expressions.
(define-library (srfi 31)
  (export rec)
  (on-demand)
  (import (scheme base))
  (begin
    ;;;> Returns the value of an expression that may refer to itself: `(rec name expression)` or
    ;;;> `(rec (name . formals) body …)`.
    (define-syntax rec
      (syntax-rules ()
        ((_ (name . formals) . body) (letrec ((name (lambda formals . body))) name))
        ((_ name expression) (letrec ((name expression)) name))))))
