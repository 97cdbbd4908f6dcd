;;; SRFI 39: parameters.
(define-library (srfi 39)
  (export make-parameter parameterize)
  (on-demand)
  (import (scheme base)))
