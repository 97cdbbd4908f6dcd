;;; R7RS-large: (scheme vector), vectors, which is SRFI 133.
(define-library (scheme vector)
  (export (all-from (srfi 133)))
  (on-demand)
  (import (srfi 133)))
