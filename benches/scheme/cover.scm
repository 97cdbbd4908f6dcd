;; Vectors and backtracking: in how many ways L-shaped pieces of three squares cover a board.
(import (scheme base) (scheme write))

;; The board has a border of taken squares, so that no piece needs a check of its own for leaving it.
(define (make-board height width)
  (let* ((stride (+ width 2)) (board (make-vector (* stride (+ height 2)) #t)))
    (do ((row 1 (+ row 1))) ((> row height) board)
      (do ((column 1 (+ column 1))) ((> column width))
        (vector-set! board (+ (* row stride) column) #f)))))

;; A piece covers its first free square and two others. For each piece, the distances of these two
;; from the first.
(define (pieces stride)
  (vector (cons 1 stride)
          (cons 1 (+ stride 1))
          (cons stride (+ stride 1))
          (cons (- stride 1) stride)))

(define (coverings height width)
  (let* ((board (make-board height width))
         (stride (+ width 2))
         (pieces (pieces stride))
         (end (* stride (+ height 1))))
    (define (place square first second)
      (if (or (vector-ref board first) (vector-ref board second))
          0
          (begin
            (vector-set! board square #t)
            (vector-set! board first #t)
            (vector-set! board second #t)
            (let ((count (cover (+ square 1))))
              (vector-set! board square #f)
              (vector-set! board first #f)
              (vector-set! board second #f)
              count))))
    (define (cover square)
      (cond ((= square end) 1)
            ((vector-ref board square) (cover (+ square 1)))
            (else
             (let loop ((i 0) (count 0))
               (if (= i (vector-length pieces))
                   count
                   (let ((piece (vector-ref pieces i)))
                     (loop (+ i 1)
                           (+ count
                              (place square (+ square (car piece)) (+ square (cdr piece)))))))))))
    (cover (+ stride 1))))

(define (main)
  (let repeat ((rounds 2) (answer 0))
    (cond ((> rounds 0) (repeat (- rounds 1) (coverings 6 9)))
          ((and (= answer 4312) (= (coverings 6 6) 162)) (display "cover ok"))
          (else (error "cover is wrong" answer))))
  (newline))

(main)
