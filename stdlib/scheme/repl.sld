;;; R7RS-small, appendix A: (scheme repl).
(define-library (scheme repl)
  (export
    interaction-environment)
  (import (only (duet internal eval)
            interaction-environment)))
