;;; R7RS-small, appendix A: (scheme inexact).
(define-library (scheme inexact)
  (export
    acos asin atan cos exp finite? infinite? log nan? sin sqrt tan)
  (import (only (duet kernel)
            acos asin atan cos exp finite? infinite? log nan? sin sqrt tan)))
