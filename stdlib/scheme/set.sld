;;; R7RS-large: (scheme set), sets and bags, which is SRFI 113.
(define-library (scheme set)
  (export (all-from (srfi 113)))
  (on-demand)
  (import (srfi 113)))
