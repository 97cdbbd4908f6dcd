;;; R7RS-small, appendix A: (scheme case-lambda).
(define-library (scheme case-lambda)
  (export
    case-lambda)
  (import (only (duet kernel)
            case-lambda)))
