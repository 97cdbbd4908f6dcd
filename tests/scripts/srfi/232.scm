;; SRFI 232: currying.
(import (scheme base) (srfi 232))

(define-curried (add a b c) (list a b c))
(add 1 2 3)                                         ; => (1 2 3)
(((add 1) 2) 3)                                     ; => (1 2 3)
((add) 1 2 3)                                       ; => (1 2 3)
((curried (a . rest) (list a rest)) 1 2)            ; => (1 (2))
((curried (x y) (curried (z) (list x y z))) 1 2 3)  ; => (1 2 3)
((curried args args) 1)                             ; => (1)
(curried () 5)                                      ; => 5
