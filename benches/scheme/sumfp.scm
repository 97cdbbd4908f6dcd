;; A tight loop over flonums: the sum of the numbers from one to a million.
(import (scheme base) (scheme write))

(define (sum-to n)
  (let loop ((i n) (sum 0.))
    (if (< i 0.)
        sum
        (loop (- i 1.) (+ sum i)))))

(define (main)
  (let repeat ((rounds 20) (answer 0.))
    (cond ((> rounds 0) (repeat (- rounds 1) (sum-to 1e6)))
          ((= answer 500000500000.) (display "sumfp ok"))
          (else (error "sumfp is wrong" answer))))
  (newline))

(main)
