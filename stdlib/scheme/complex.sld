;;; R7RS-small, appendix A: (scheme complex).
(define-library (scheme complex)
  (export
    angle imag-part magnitude make-polar make-rectangular real-part)
  (import (only (duet kernel)
            angle imag-part magnitude make-polar make-rectangular real-part)))
