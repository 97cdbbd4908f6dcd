;;; R7RS-large: (scheme fixnum), fixnums, which is SRFI 143.
(define-library (scheme fixnum)
  (export (all-from (srfi 143)))
  (on-demand)
  (import (srfi 143)))
