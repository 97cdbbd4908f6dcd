;; Lists: a merge sort that makes new lists and takes the order as an argument.
(import (scheme base) (scheme write))

(define (random-list size)
  (let loop ((i 0) (seed 4321) (list '()))
    (if (= i size)
        list
        (loop (+ i 1) (modulo (+ (* seed 1366) 150889) 714025) (cons seed list)))))

(define (merged a b less?)
  (let loop ((a a) (b b) (backwards '()))
    (cond ((null? a) (onto backwards b))
          ((null? b) (onto backwards a))
          ((less? (car b) (car a)) (loop a (cdr b) (cons (car b) backwards)))
          (else (loop (cdr a) b (cons (car a) backwards))))))

(define (onto backwards tail)
  (if (null? backwards)
      tail
      (onto (cdr backwards) (cons (car backwards) tail))))

;; Sorts the first `size` items of a list.
(define (sorted list size less?)
  (if (= size 1)
      (cons (car list) '())
      (let ((half (quotient size 2)))
        (merged (sorted list half less?)
                (sorted (list-tail list half) (- size half) less?)
                less?))))

(define (ordered? list)
  (or (null? (cdr list))
      (and (<= (car list) (cadr list)) (ordered? (cdr list)))))

(define (sum list)
  (let loop ((rest list) (total 0))
    (if (null? rest) total (loop (cdr rest) (+ total (car rest))))))

(define (main)
  (let* ((size 30000) (list (random-list size)))
    (let repeat ((rounds 6) (answer '()))
      (cond ((> rounds 0) (repeat (- rounds 1) (sorted list size (lambda (a b) (< a b)))))
            ((and (= (length answer) size) (ordered? answer) (= (sum answer) (sum list)))
             (display "mergesort ok"))
            (else (error "mergesort is wrong")))))
  (newline))

(main)
