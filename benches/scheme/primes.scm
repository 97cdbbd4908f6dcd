;; Lists and higher-order procedures: primes by striking multiples from a list.
(import (scheme base) (scheme write))

(define (from-to low high)
  (if (> low high) '() (cons low (from-to (+ low 1) high))))

(define (kept keep? list)
  (cond ((null? list) '())
        ((keep? (car list)) (cons (car list) (kept keep? (cdr list))))
        (else (kept keep? (cdr list)))))

(define (primes candidates)
  (if (null? candidates)
      '()
      (let ((prime (car candidates)))
        (cons prime
              (primes (kept (lambda (n) (not (= (remainder n prime) 0))) (cdr candidates)))))))

(define (main)
  (let repeat ((rounds 3) (answer '()))
    (cond ((> rounds 0) (repeat (- rounds 1) (primes (from-to 2 10000))))
          ((= (length answer) 1229) (display "primes ok"))
          (else (error "primes is wrong" answer))))
  (newline))

(main)
