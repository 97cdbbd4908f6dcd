;; SRFI 195: boxes of several values.

(import (scheme base) (rename (srfi 195) (box box*) (unbox unbox*)))
(define b (box* 1 2 3))
(set-box-value! b 1 'two)
(box-arity b)                                   ; => 3
(unbox-value b 1)                               ; => two
(call-with-values (lambda () (unbox* b)) list)  ; => (1 two 3)
(set-box! (box* 1 2) 3)                         ; raises: error
