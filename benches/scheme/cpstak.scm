;; Closures: Takeuchi's function in continuation-passing style, a new closure for every call.
(import (scheme base) (scheme write))

(define (cpstak x y z k)
  (if (< y x)
      (cpstak (- x 1) y z
              (lambda (a)
                (cpstak (- y 1) z x
                        (lambda (b)
                          (cpstak (- z 1) x y
                                  (lambda (c) (cpstak a b c k)))))))
      (k z)))

(define (main)
  (let repeat ((rounds 120) (answer 0))
    (cond ((> rounds 0) (repeat (- rounds 1) (cpstak 18 12 6 (lambda (value) value))))
          ((= answer 7) (display "cpstak ok"))
          (else (error "cpstak is wrong" answer))))
  (newline))

(main)
