;;; R7RS-large: (scheme comparator), comparators, which is SRFI 128.
(define-library (scheme comparator)
  (export (all-from (srfi 128)))
  (on-demand)
  (import (srfi 128)))
