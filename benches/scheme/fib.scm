;; Procedure calls and fixnum arithmetic: the doubly recursive Fibonacci function.
(import (scheme base) (scheme write))

(define (fib n)
  (if (< n 2)
      n
      (+ (fib (- n 1)) (fib (- n 2)))))

(define (main)
  (let ((answer (fib 34)))
    (if (= answer 5702887)
        (display "fib ok")
        (error "fib is wrong" answer)))
  (newline))

(main)
