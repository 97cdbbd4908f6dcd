;; Big integers and ratios: factorials, powers, their digits, greatest common divisors, a harmonic sum.
(import (scheme base) (scheme write))

(define (product low high)
  (if (= low high)
      low
      (let ((middle (quotient (+ low high) 2)))
        (* (product low middle) (product (+ middle 1) high)))))

(define (factorial n)
  (let loop ((i 1) (result 1))
    (if (> i n) result (loop (+ i 1) (* result i)))))

(define (digit-sum n)
  (let loop ((digits (string->list (number->string n))) (sum 0))
    (if (null? digits)
        sum
        (loop (cdr digits) (+ sum (- (char->integer (car digits)) (char->integer #\0)))))))

;; Whether the Mersenne number 2^p - 1 is prime, for an odd prime p.
(define (mersenne-prime? p)
  (let ((m (- (expt 2 p) 1)))
    (let loop ((i 2) (s 4))
      (if (= i p) (= s 0) (loop (+ i 1) (modulo (- (* s s) 2) m))))))

(define (harmonic n)
  (let loop ((i 1) (sum 0))
    (if (> i n) sum (loop (+ i 1) (+ sum (/ 1 i))))))

(define (round-of-work)
  (let ((f (factorial 1000)))
    (and (= f (product 1 1000))
         (= (digit-sum f) 10539)
         (mersenne-prime? 607)
         (not (mersenne-prime? 601))
         (= (gcd f (expt 6 700)) (* (expt 2 700) (expt 3 498)))
         (= (quotient f (factorial 998)) 999000)
         (= (denominator (harmonic 20)) 15519504)
         (digit-sum (numerator (harmonic 300))))))

(define (main)
  (let repeat ((rounds 20) (answer 0))
    (cond ((> rounds 0) (repeat (- rounds 1) (round-of-work)))
          ((eqv? answer 583) (display "factorial ok"))
          (else (error "factorial is wrong" answer))))
  (newline))

(main)
