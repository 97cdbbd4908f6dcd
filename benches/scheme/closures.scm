;; Closures: numbers as procedures that repeat procedures, and chains of composed procedures.
(import (scheme base) (scheme write))

(define (zero f) (lambda (x) x))
(define (successor n) (lambda (f) (lambda (x) (f ((n f) x)))))
(define (sum m n) (lambda (f) (lambda (x) ((m f) ((n f) x)))))
(define (product m n) (lambda (f) (m (n f))))
(define (power m n) (n m))

(define (numeral n) (if (= n 0) zero (successor (numeral (- n 1)))))
(define (value numeral) ((numeral (lambda (n) (+ n 1))) 0))

(define (compose f g) (lambda (x) (f (g x))))
(define (adder n) (lambda (x) (+ x n)))

;; The composition of adders of 1, …, n.
(define (chain n)
  (if (= n 0) (lambda (x) x) (compose (adder n) (chain (- n 1)))))

(define (main)
  (let ((two (numeral 2)) (three (numeral 3)) (ten (numeral 10)))
    (let repeat ((rounds 25) (numerals 0) (chained 0))
      (cond ((> rounds 0)
             (repeat (- rounds 1)
                     (value (sum (power ten (numeral 5)) (product (power two ten) three)))
                     ((chain 10000) 0)))
            ((and (= numerals 103072) (= chained 50005000)) (display "closures ok"))
            (else (error "closures is wrong" numerals chained)))))
  (newline))

(main)
