;; SRFI 141: the ways to divide integers.
(import (scheme base) (srfi 141))

;; The signs of dividend and divisor in all ways.
(define (signs divide)
  (map (lambda (n d) (call-with-values (lambda () (divide n d)) list))
       '(7 -7 7 -7 8)
       '(2 2 -2 -2 3)))
(signs floor/)      ; => ((3 1) (-4 1) (-4 -1) (3 -1) (2 2))
(signs truncate/)   ; => ((3 1) (-3 -1) (-3 1) (3 -1) (2 2))
(signs ceiling/)    ; => ((4 -1) (-3 -1) (-3 1) (4 1) (3 -1))
(signs round/)      ; => ((4 -1) (-4 1) (-4 -1) (4 1) (3 -1))
(signs euclidean/)  ; => ((3 1) (-4 1) (-3 1) (4 1) (2 2))
(signs balanced/)   ; => ((4 -1) (-3 -1) (-4 -1) (3 -1) (3 -1))

;; Quotients and remainders alone.
(round-quotient 5 2)        ; => 2
(round-remainder 5 2)       ; => 1
(euclidean-remainder -1 5)  ; => 4
(balanced-remainder 3 5)    ; => -2
