;; SRFI 26: `cut` and `cute`.
(import (scheme base) (srfi 26))

(map (cut * 2 <>) '(1 2))        ; => (2 4)
((cut list 1 <> 3 <...>) 2 4 5)  ; => (1 2 3 4 5)
((cut + 1 2))                    ; => 3
((cut <> 1 2) list)              ; => (1 2)

;; `cut` evaluates its other arguments at each call, `cute` once.
(define n 0)
(define (next) (set! n (+ n 1)) n)
(define once (cute list (next) <>))
(define each (cut list (next) <>))
(once 'a)  ; => (1 a)
(once 'b)  ; => (1 b)
(each 'c)  ; => (2 c)
(each 'd)  ; => (3 d)
