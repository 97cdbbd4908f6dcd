;; Flonum comparisons and vectors: which points of a grid lie inside a polygon.
(import (scheme base) (scheme write))

(define xs (vector 0. 2. 2. 1. 3. 4. 3. 1. 0. -2. -1. -3. -4. -3. -1. -1.))
(define ys (vector 4. 3. 1. 2. 3. 0. -3. -2. -4. -3. -1. -1. 0. 3. 2. 3.))

;; Whether the edge from vertex `i` to vertex `j` is crossed by the ray from (x, y) to the right.
(define (crosses? x y i j)
  (let ((yi (vector-ref ys i)) (yj (vector-ref ys j)))
    (and (or (and (<= yi y) (< y yj)) (and (<= yj y) (< y yi)))
         (< x
            (+ (vector-ref xs i)
               (/ (* (- (vector-ref xs j) (vector-ref xs i)) (- y yi))
                  (- yj yi)))))))

(define (inside? x y)
  (let ((count (vector-length xs)))
    (let loop ((i 0) (j (- count 1)) (inside #f))
      (if (= i count)
          inside
          (loop (+ i 1) i (if (crosses? x y i j) (not inside) inside))))))

(define (count-inside size)
  (let ((step (/ 10. (inexact size))))
    (let rows ((row 0) (count 0))
      (if (= row size)
          count
          (let columns ((column 0) (count count))
            (if (= column size)
                (rows (+ row 1) count)
                (columns (+ column 1)
                         (if
                           (inside? (- (* (inexact column) step) 5.) (- (* (inexact row) step) 5.))
                           (+ count 1)
                           count))))))))

(define (main)
  (let repeat ((rounds 2) (answer 0))
    (cond ((> rounds 0) (repeat (- rounds 1) (count-inside 400)))
          ((= answer 60074) (display "pnpoly ok"))
          (else (error "pnpoly is wrong" answer))))
  (newline))

(main)
