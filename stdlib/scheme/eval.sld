;;; R7RS-small, appendix A: (scheme eval).
(define-library (scheme eval)
  (export
    environment eval)
  (import (only (duet internal eval)
            environment eval)))
