;;; R7RS-large: (scheme list-queue), queues, which is SRFI 117.
(define-library (scheme list-queue)
  (export (all-from (srfi 117)))
  (on-demand)
  (import (srfi 117)))
