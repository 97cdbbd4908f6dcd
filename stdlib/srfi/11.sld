;;; SRFI 11: receiving several values.
(define-library (srfi 11)
  (export let-values let*-values)
  (on-demand)
  (import (scheme base)))
