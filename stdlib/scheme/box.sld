;;; R7RS-large: (scheme box), boxes, which is SRFI 111.
(define-library (scheme box)
  (export (all-from (srfi 111)))
  (on-demand)
  (import (srfi 111)))
