;;; R7RS-large: (scheme bitwise), bits, which is SRFI 151.
(define-library (scheme bitwise)
  (export (all-from (srfi 151)))
  (on-demand)
  (import (srfi 151)))
