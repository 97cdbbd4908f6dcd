;;; SRFI 145: assumptions.
(define-library (srfi 145)
  (export assume)
  (on-demand)
  (import (scheme base))
  (begin
    ;;;> Returns the value of an expression; if it is false, raises an error with the messages.
    (define-syntax assume
      (syntax-rules ()
        ((_ expression message ...)
         (or expression (error "assumption failed" 'expression message ...)))))))
