;;; SRFI 61: a more general cond clause.
(define-library (srfi 61)
  (export (rename general-cond cond))
  (on-demand)
  (import (scheme base))
  (begin
    ;;;> Like `cond`, with additional clauses `(generator guard => receiver)`: the generator's
    ;;;> values go to the receiver if the guard accepts them.
    (define-syntax general-cond
      (syntax-rules (=> else)
        ((_) (if #f #f))
        ((_ (else => receiver)) (error "cond: else has no value to receive"))
        ((_ (else expression ...)) (begin expression ...))
        ((_ (test => receiver) clause ...)
         (let ((value test)) (if value (receiver value) (general-cond clause ...))))
        ((_ (generator guard => receiver) clause ...)
         (call-with-values (lambda () generator)
           (lambda values
             (if (apply guard values) (apply receiver values) (general-cond clause ...)))))
        ((_ (test)) test)
        ((_ (test) clause ...) (or test (general-cond clause ...)))
        ((_ (test expression ...) clause ...)
         (if test (begin expression ...) (general-cond clause ...)))))))
