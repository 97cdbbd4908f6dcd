;;; R7RS-large: (scheme generator), generators, which is SRFI 158.
(define-library (scheme generator)
  (export (all-from (srfi 158)))
  (on-demand)
  (import (srfi 158)))
