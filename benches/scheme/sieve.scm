;; Bytevectors: the sieve of Eratosthenes.
(import (scheme base) (scheme write))

(define (primes-below limit)
  (let ((marks (make-bytevector limit 0)))
    (let loop ((n 2) (count 0))
      (cond ((= n limit) count)
            ((= (bytevector-u8-ref marks n) 1) (loop (+ n 1) count))
            (else
             (do ((multiple (* n n) (+ multiple n)))
                 ((>= multiple limit))
               (bytevector-u8-set! marks multiple 1))
             (loop (+ n 1) (+ count 1)))))))

(define (main)
  (let repeat ((rounds 4) (answer 0))
    (cond ((> rounds 0) (repeat (- rounds 1) (primes-below 1000000)))
          ((= answer 78498) (display "sieve ok"))
          (else (error "sieve is wrong" answer))))
  (newline))

(main)
