;;; R7RS-large: (scheme mapping hash), mappings with hashed keys, which is (srfi 146 hash).
(define-library (scheme mapping hash)
  (export (all-from (srfi 146 hash)))
  (on-demand)
  (import (srfi 146 hash)))
