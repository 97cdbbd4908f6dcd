;;; R7RS-large: (scheme flonum), flonums, which is SRFI 144.
(define-library (scheme flonum)
  (export (all-from (srfi 144)))
  (on-demand)
  (import (srfi 144)))
