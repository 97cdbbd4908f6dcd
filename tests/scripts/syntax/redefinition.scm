;; A program may define a name that it imports; until it does, the name means what was imported.

(define old+ +)
(define before (+ 2 3))
(define + (lambda (x y) (list y x)))
before                                    ; => 5
(+ 2 3)                                   ; => (3 2)
(old+ 2 3)                                ; => 5
(set! + old+)
(+ 2 3)                                   ; => 5

(define reverse (let ((plain reverse)) (lambda (list) (cons 'reversed (plain list)))))
(reverse '(1 2))                          ; => (reversed 2 1)
