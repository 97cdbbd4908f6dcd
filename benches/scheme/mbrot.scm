;; Flonum arithmetic in a loop: how many points of a grid belong to the Mandelbrot set.
(import (scheme base) (scheme write))

;; The steps until the orbit of cr + ci i leaves the circle of radius 2, at most `limit`.
(define (steps-to-leave cr ci limit)
  (let loop ((zr 0.0) (zi 0.0) (step 0))
    (let ((rr (* zr zr)) (ii (* zi zi)))
      (if (or (= step limit) (> (+ rr ii) 4.0))
          step
          (loop (+ (- rr ii) cr) (+ (* 2.0 zr zi) ci) (+ step 1))))))

(define (members size limit)
  (let ((scale (/ 3.0 (inexact size))))
    (let rows ((row 0) (count 0))
      (if (= row size)
          count
          (let columns ((column 0) (count count))
            (if (= column size)
                (rows (+ row 1) count)
                (let ((cr (- (* (inexact column) scale) 2.0)) (ci (- (* (inexact row) scale) 1.5)))
                  (columns (+ column 1)
                           (if (= (steps-to-leave cr ci limit) limit) (+ count 1) count)))))))))

(define (main)
  (let repeat ((rounds 3) (answer 0))
    (cond ((> rounds 0) (repeat (- rounds 1) (members 200 200)))
          ((= answer 6811) (display "mbrot ok"))
          (else (error "mbrot is wrong" answer))))
  (newline))

(main)
