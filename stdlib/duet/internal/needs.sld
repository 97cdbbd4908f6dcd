;;; The limits of modules that declare capabilities.
;;; The expander refers to %limited, and the host to %limits-key, by name.
(define-library (duet internal needs)
  (export %limited %limits-key)
  (import (duet kernel))
  (include "needs.scm"))
