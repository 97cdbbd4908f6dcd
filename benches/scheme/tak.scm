;; Procedure calls with three arguments, most of them nested: Takeuchi's function.
(import (scheme base) (scheme write))

(define (tak x y z)
  (if (< y x)
      (tak (tak (- x 1) y z)
           (tak (- y 1) z x)
           (tak (- z 1) x y))
      z))

(define (main)
  (let repeat ((rounds 10) (answer 0))
    (cond ((> rounds 0) (repeat (- rounds 1) (tak 24 16 8)))
          ((= answer 9) (display "tak ok"))
          (else (error "tak is wrong" answer))))
  (newline))

(main)
