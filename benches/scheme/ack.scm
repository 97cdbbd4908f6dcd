;; Deep procedure calls: Ackermann's function.
(import (scheme base) (scheme write))

(define (ack m n)
  (cond ((= m 0) (+ n 1))
        ((= n 0) (ack (- m 1) 1))
        (else (ack (- m 1) (ack m (- n 1))))))

(define (main)
  (let repeat ((rounds 3) (answer 0))
    (cond ((> rounds 0) (repeat (- rounds 1) (ack 3 9)))
          ((= answer 4093) (display "ack ok"))
          (else (error "ack is wrong" answer))))
  (newline))

(main)
