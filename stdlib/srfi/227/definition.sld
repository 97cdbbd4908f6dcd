;;; SRFI 227, definitions of procedures with optional arguments.
(define-library (srfi 227 definition)
  (export define-optionals define-optionals*)
  (on-demand)
  (import (srfi 227)))
