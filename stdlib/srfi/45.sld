;;; SRFI 45: iterative lazy evaluation.
(define-library (srfi 45)
  (export delay (rename delay-force lazy) force eager promise?)
  (on-demand)
  (import (scheme base) (scheme lazy))
  (begin
    ;;;> Makes a promise that already has its value, even if the value is a promise.
    (define (eager value) (delay value))))
