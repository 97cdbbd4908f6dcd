;;; Evaluating the code of others, with the names that it is given.
(define-library (duet sandbox)
  (export
    make-sandbox eval eval-text environment?)
  (import (only (duet internal eval)
            make-sandbox eval eval-text environment?)))
