;; Big integers: the digits of pi, from an unbounded spigot.
(import (scheme base) (scheme write))

;; The first `count` digits as one integer, and their sum. The state is a linear fractional transformation.
(define (digits-of-pi count)
  (let loop ((q 1) (r 0) (t 1) (k 1) (n 3) (l 3) (left count) (number 0) (sum 0))
    (cond ((= left 0) (cons number sum))
          ((< (- (+ (* 4 q) r) t) (* n t))
           (loop (* 10 q)
                 (* 10 (- r (* n t)))
                 t
                 k
                 (- (quotient (* 10 (+ (* 3 q) r)) t) (* 10 n))
                 l
                 (- left 1)
                 (+ (* 10 number) n)
                 (+ sum n)))
          (else
           (loop (* q k)
                 (* (+ (* 2 q) r) l)
                 (* t l)
                 (+ k 1)
                 (quotient (+ (* q (+ (* 7 k) 2)) (* r l)) (* t l))
                 (+ l 2)
                 left
                 number
                 sum)))))

(define (main)
  (let ((answer (digits-of-pi 1000)) (first-digits (digits-of-pi 20)))
    (if (and (= (cdr answer) 4470) (= (car first-digits) 31415926535897932384))
        (display "pi ok")
        (error "pi is wrong" (cdr answer))))
  (newline))

(main)
