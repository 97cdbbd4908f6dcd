;; Continuations: Takeuchi's function, where every call captures one and returns through it.
(import (scheme base) (scheme write))

(define (ctak x y z)
  (call-with-current-continuation
    (lambda (k) (ctak-from k x y z))))

(define (ctak-from k x y z)
  (if (< y x)
      (call-with-current-continuation
        (lambda (k)
          (ctak-from
            k
            (call-with-current-continuation (lambda (k) (ctak-from k (- x 1) y z)))
            (call-with-current-continuation (lambda (k) (ctak-from k (- y 1) z x)))
            (call-with-current-continuation (lambda (k) (ctak-from k (- z 1) x y))))))
      (k z)))

(define (main)
  (let ((answer (let repeat ((rounds 16) (answer #f))
                  (if (= rounds 0) answer (repeat (- rounds 1) (ctak 18 12 6))))))
    (if (= answer 7)
        (display "ctak ok")
        (error "ctak is wrong" answer)))
  (newline))

(main)
