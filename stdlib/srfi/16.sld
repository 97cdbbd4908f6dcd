;;; SRFI 16: procedures by number of arguments.
(define-library (srfi 16)
  (export case-lambda)
  (on-demand)
  (import (scheme case-lambda)))
