;; SRFI 219: definitions of curried procedures.

(import (scheme base) (rename (srfi 219) (define define*)))
(define* ((adder a) . b) (cons a b))
((adder 1) 2 3)  ; => (1 2 3)
