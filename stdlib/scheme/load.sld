;;; R7RS-small, appendix A: (scheme load).
(define-library (scheme load)
  (export
    load)
  (import (only (duet internal eval)
            load)))
