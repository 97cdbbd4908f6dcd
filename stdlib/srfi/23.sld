;;; SRFI 23: error.
(define-library (srfi 23)
  (export error)
  (on-demand)
  (import (scheme base)))
