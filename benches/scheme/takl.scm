;; Procedure calls and list traversal: Takeuchi's function on numbers that are lengths of lists.
(import (scheme base) (scheme write))

(define (counted n)
  (let loop ((i 0) (list '()))
    (if (= i n) list (loop (+ i 1) (cons i list)))))

(define (shorter? a b)
  (and (pair? b)
       (or (null? a) (shorter? (cdr a) (cdr b)))))

(define (takl x y z)
  (if (shorter? y x)
      (takl (takl (cdr x) y z)
            (takl (cdr y) z x)
            (takl (cdr z) x y))
      z))

(define (main)
  (let ((x (counted 18)) (y (counted 12)) (z (counted 6)))
    (let repeat ((rounds 25) (answer '()))
      (cond ((> rounds 0) (repeat (- rounds 1) (takl x y z)))
            ((= (length answer) 7) (display "takl ok"))
            (else (error "takl is wrong" answer)))))
  (newline))

(main)
