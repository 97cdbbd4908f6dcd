;; Procedure calls and flonum arithmetic: Fibonacci numbers as flonums.
(import (scheme base) (scheme write))

(define (fibfp n)
  (if (< n 2.)
      n
      (+ (fibfp (- n 1.)) (fibfp (- n 2.)))))

(define (main)
  (let ((answer (fibfp 33.)))
    (if (= answer 3524578.)
        (display "fibfp ok")
        (error "fibfp is wrong" answer)))
  (newline))

(main)
