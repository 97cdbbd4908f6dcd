;; Lists and allocation: the number of ways to place nine queens, found with lists of rows.
(import (scheme base) (scheme write))

(define (one-to n)
  (let loop ((i n) (rows '()))
    (if (= i 0)
        rows
        (loop (- i 1) (cons i rows)))))

;; Whether a queen in `row` is safe from those in `placed`, the nearest of which is `distance` columns away.
(define (safe? row distance placed)
  (or (null? placed)
      (and (not (= (car placed) (+ row distance)))
           (not (= (car placed) (- row distance)))
           (safe? row (+ distance 1) (cdr placed)))))

;; Counts the solutions that extend `placed` by the rows in `candidates`; those in `tried` are for later columns.
(define (solutions candidates tried placed)
  (if (null? candidates)
      (if (null? tried) 1 0)
      (+ (if (safe? (car candidates) 1 placed)
             (solutions (append (cdr candidates) tried) '() (cons (car candidates) placed))
             0)
         (solutions (cdr candidates) (cons (car candidates) tried) placed))))

(define (main)
  (let repeat ((rounds 50) (answer 0))
    (cond ((> rounds 0) (repeat (- rounds 1) (solutions (one-to 9) '() '())))
          ((= answer 352) (display "nqueens ok"))
          (else (error "nqueens is wrong" answer))))
  (newline))

(main)
