;; Vectors of vectors: products of integer matrices, checked against a closed form.
(import (scheme base) (scheme write))

(define (make-matrix size entry)
  (let ((matrix (make-vector size #f)))
    (do ((i 0 (+ i 1))) ((= i size) matrix)
      (let ((row (make-vector size 0)))
        (do ((j 0 (+ j 1))) ((= j size)) (vector-set! row j (entry i j)))
        (vector-set! matrix i row)))))

(define (product a b)
  (let ((size (vector-length a)))
    (make-matrix
      size
      (lambda (i j)
        (let ((row (vector-ref a i)))
          (let loop ((k 0) (sum 0))
            (if (= k size)
                sum
                (loop (+ k 1) (+ sum (* (vector-ref row k) (vector-ref (vector-ref b k) j)))))))))))

(define (matrix-sum matrix)
  (let rows ((i 0) (sum 0))
    (if (= i (vector-length matrix))
        sum
        (let ((row (vector-ref matrix i)))
          (let columns ((j 0) (sum sum))
            (if (= j (vector-length row))
                (rows (+ i 1) sum)
                (columns (+ j 1) (+ sum (vector-ref row j)))))))))

;; Entry (i, j) of the product is size·i·j + (i + j)·S + Q, where S and Q are the sums of k and of k² below the size.
(define (expected-sum size)
  (let* ((s (quotient (* size (- size 1)) 2))
         (q (quotient (* size (- size 1) (- (* 2 size) 1)) 6)))
    (+ (* size s s) (* 2 size s s) (* size size q))))

(define (main)
  (let* ((size 180) (a (make-matrix size +)))
    (let repeat ((rounds 2) (answer 0))
      (cond ((> rounds 0) (repeat (- rounds 1) (matrix-sum (product a a))))
            ((= answer (expected-sum size)) (display "matmul ok"))
            (else (error "matmul is wrong" answer)))))
  (newline))

(main)
