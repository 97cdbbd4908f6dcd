;;; Promises.
(define-library (duet internal lazy)
  (export delay delay-force make-promise promise? force)
  (on-demand)
  (import (only (duet internal control) delay delay-force make-promise promise? force)))
