;;; R7RS-large: (scheme regex), regular expressions, which is SRFI 115.
(define-library (scheme regex)
  (export (all-from (srfi 115)))
  (on-demand)
  (import (srfi 115)))
