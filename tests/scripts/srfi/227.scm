;; SRFI 227: optional arguments.
(import (scheme base) (srfi 227))

((opt-lambda (a (b 2) (c 3)) (list a b c)) 1)                    ; => (1 2 3)
((opt-lambda (a (b 2) . rest) (list a b rest)) 1 20 30 40)       ; => (1 20 (30 40))
((opt-lambda (a (b 2)) (list a b)) 1 2 3)                        ; raises: error
(let ((b 10)) ((opt-lambda (a (b 2) (c b)) (list a b c)) 1 5))   ; => (1 5 10)
(let ((b 10)) ((opt*-lambda (a (b 2) (c b)) (list a b c)) 1 5))  ; => (1 5 5)
(define-optionals* (area width (height width)) (* width height))
(area 3)                                                         ; => 9
(area 3 4)                                                       ; => 12
(let-optionals '(1) (a (b 2)) (list a b))                        ; => (1 2)
