;;; R7RS-small, appendix A: (scheme lazy).
(define-library (scheme lazy)
  (export
    delay delay-force force make-promise promise?)
  (import (only (duet internal lazy)
            delay delay-force force make-promise promise?)))
