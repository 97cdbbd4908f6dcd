;;; R7RS-small, appendix A: (scheme read).
(define-library (scheme read)
  (export
    read)
  (import (only (duet internal ports)
            read)))
