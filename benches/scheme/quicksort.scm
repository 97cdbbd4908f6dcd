;; Vectors changed in place: quicksort of pseudo-random numbers.
(import (scheme base) (scheme write))

(define (random-vector size)
  (let ((vector (make-vector size 0)))
    (let fill ((i 0) (seed 12345))
      (if (= i size)
          vector
          (begin
            (vector-set! vector i (quotient seed 8))
            (fill (+ i 1) (modulo (+ (* seed 8121) 28411) 134456)))))))

(define (swap! vector i j)
  (let ((kept (vector-ref vector i)))
    (vector-set! vector i (vector-ref vector j))
    (vector-set! vector j kept)))

;; Sorts the entries low, …, high.
(define (sort-between! vector low high less?)
  (if (< low high)
      (let ((pivot (vector-ref vector (quotient (+ low high) 2))))
        (let part ((i low) (j high))
          (cond ((less? (vector-ref vector i) pivot) (part (+ i 1) j))
                ((less? pivot (vector-ref vector j)) (part i (- j 1)))
                ((< i j)
                 (swap! vector i j)
                 (part (+ i 1) (- j 1)))
                (else
                 (let ((left-end (if (= i j) (- j 1) j)) (right-start (if (= i j) (+ i 1) i)))
                   (sort-between! vector low left-end less?)
                   (sort-between! vector right-start high less?))))))))

(define (sorted? vector)
  (let loop ((i 1))
    (or (= i (vector-length vector))
        (and (<= (vector-ref vector (- i 1)) (vector-ref vector i))
             (loop (+ i 1))))))

(define (vector-sum vector)
  (let loop ((i 0) (sum 0))
    (if (= i (vector-length vector)) sum (loop (+ i 1) (+ sum (vector-ref vector i))))))

(define (main)
  (let* ((size 50000) (sum (vector-sum (random-vector size))))
    (let repeat ((rounds 5) (ok #t))
      (cond ((and ok (> rounds 0))
             (let ((vector (random-vector size)))
               (sort-between! vector 0 (- size 1) (lambda (a b) (< a b)))
               (repeat (- rounds 1) (and (sorted? vector) (= (vector-sum vector) sum)))))
            (ok (display "quicksort ok"))
            (else (error "quicksort is wrong")))))
  (newline))

(main)
