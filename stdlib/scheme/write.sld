;;; R7RS-small, appendix A: (scheme write).
(define-library (scheme write)
  (export
    display write write-shared write-simple)
  (import (only (duet internal ports)
            display write write-shared write-simple)))
