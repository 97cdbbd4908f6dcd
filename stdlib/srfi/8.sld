;;; SRFI 8: receive.
(define-library (srfi 8)
  (export receive)
  (on-demand)
  (import (only (duet base) receive)))
