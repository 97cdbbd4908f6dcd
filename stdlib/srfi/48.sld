;;; SRFI 48: format strings.
(define-library (srfi 48)
  (export format)
  (on-demand)
  (import (scheme base) (scheme char) (scheme complex) (scheme inexact) (scheme write))
  (include "48/number.scm" "48/format.scm"))
