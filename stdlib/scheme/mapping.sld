;;; R7RS-large: (scheme mapping), mappings with keys in order, which is SRFI 146.
(define-library (scheme mapping)
  (export (all-from (srfi 146)))
  (on-demand)
  (import (srfi 146)))
