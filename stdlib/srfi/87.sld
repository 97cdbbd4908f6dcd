;;; SRFI 87: `=>` in case.
(define-library (srfi 87)
  (export case)
  (on-demand)
  (import (scheme base)))
