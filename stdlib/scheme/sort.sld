;;; R7RS-large: (scheme sort), sorting, which is SRFI 132.
(define-library (scheme sort)
  (export (all-from (srfi 132)))
  (on-demand)
  (import (srfi 132)))
