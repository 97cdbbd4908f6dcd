;;; R7RS-small, appendix A: (scheme time).
(define-library (scheme time)
  (export
    current-jiffy current-second jiffies-per-second)
  (import (only (duet kernel)
            current-jiffy current-second jiffies-per-second)))
