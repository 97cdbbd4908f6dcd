;; Continuations: Fibonacci numbers whose every result goes through a captured continuation.
(import (scheme base) (scheme write))

(define (plus-one n k) (k (+ n 1)))
(define (minus-one n k) (k (- n 1)))

;; Adds by counting, each step of which captures a continuation and leaves through it.
(define (plus a b k)
  (if (= b 0)
      (k a)
      (plus (call-with-current-continuation (lambda (k) (plus-one a k)))
            (call-with-current-continuation (lambda (k) (minus-one b k)))
            k)))

(define (fibc n k)
  (if (< n 2)
      (k n)
      (plus (call-with-current-continuation (lambda (k) (fibc (- n 1) k)))
            (call-with-current-continuation (lambda (k) (fibc (- n 2) k)))
            k)))

(define (main)
  (let ((answer (call-with-current-continuation (lambda (k) (fibc 25 k)))))
    (if (= answer 75025)
        (display "fibc ok")
        (error "fibc is wrong" answer)))
  (newline))

(main)
