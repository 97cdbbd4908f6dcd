;; Allocation: all permutations of eight numbers, made one from another so that they share their ends, while those of the round before live on.
(import (scheme base) (scheme write))

;; The first n items of a list, reversed, before the rest.
(define (flipped list n)
  (let loop ((list list) (n n) (taken '()))
    (if (> n 0)
        (loop (cdr list) (- n 1) (cons (car list) taken))
        (let join ((taken (reverse taken)) (rest list))
          (if (null? taken) rest (join (cdr taken) (cons (car taken) rest)))))))

;; Every order of the items that flips of the first few lead to, the last one first.
(define (permutations items)
  (let ((current items) (found (list items)))
    (define (visit n)
      (when (> n 1)
        (do ((left (- n 1) (- left 1)))
            ((= left 0) (visit (- n 1)))
          (visit (- n 1))
          (set! current (flipped current n))
          (set! found (cons current found)))))
    (visit (length items))
    found))

(define (sum-of-firsts lists)
  (let loop ((lists lists) (sum 0))
    (if (null? lists) sum (loop (cdr lists) (+ sum (caar lists))))))

(define (main)
  (let loop ((round 0) (before '()) (sum 0))
    (if (< round 8)
        (let ((now (permutations '(1 2 3 4 5 6 7 8))))
          (loop (+ round 1) now (+ sum (sum-of-firsts now) (length before))))
        (if (= sum 1733760)
            (display "permutations ok")
            (error "permutations is wrong" sum))))
  (newline))

(main)
