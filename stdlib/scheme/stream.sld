;;; R7RS-large: (scheme stream), streams, which is SRFI 41.
(define-library (scheme stream)
  (export (all-from (srfi 41)))
  (on-demand)
  (import (srfi 41)))
