;;; SRFI 45: iterative lazy evaluation.
(define-library (srfi 45)
  (export delay lazy force eager promise?)
  (import (scheme base) (rename (scheme lazy) (delay-force lazy)))
  (begin
    ;;;> A promise that is already kept, also if the value is a promise.
    (define (eager value) (delay value))))
