;;; R7RS-large: (scheme charset), sets of characters, which is SRFI 14.
(define-library (scheme charset)
  (export (all-from (srfi 14)))
  (on-demand)
  (import (srfi 14)))
