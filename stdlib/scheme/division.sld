;;; R7RS-large: (scheme division), division of integers, which is SRFI 141.
(define-library (scheme division)
  (export (all-from (srfi 141)))
  (on-demand)
  (import (srfi 141)))
