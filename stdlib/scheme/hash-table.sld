;;; R7RS-large: (scheme hash-table), hash tables, which is SRFI 125.
(define-library (scheme hash-table)
  (export (all-from (srfi 125)))
  (on-demand)
  (import (srfi 125)))
