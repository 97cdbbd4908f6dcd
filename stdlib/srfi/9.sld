;;; SRFI 9: record types.
(define-library (srfi 9)
  (export define-record-type)
  (on-demand)
  (import (scheme base)))
