;;; R7RS-large: (scheme list), lists, which is SRFI 1.
(define-library (scheme list)
  (export (all-from (srfi 1)))
  (on-demand)
  (import (srfi 1)))
