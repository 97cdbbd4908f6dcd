;; Lists, made and thrown away: halving a list by taking every second item, in a loop and by recursion.
(import (scheme base) (scheme write))

(define (items n)
  (do ((i 0 (+ i 1)) (list '() (cons i list))) ((= i n) list)))

(define (halved-by-loop list)
  (do ((rest list (cddr rest)) (half '() (cons (car rest) half)))
      ((null? rest) half)))

(define (halved-by-recursion list)
  (if (null? list)
      '()
      (cons (car list) (halved-by-recursion (cddr list)))))

(define (main)
  (let ((list (items 200)))
    (let repeat ((rounds 40000) (looped '()) (recursed '()))
      (cond ((> rounds 0) (repeat (- rounds 1) (halved-by-loop list) (halved-by-recursion list)))
            ((and (= (length looped) 100) (equal? (reverse looped) recursed))
             (display "diviter ok"))
            (else (error "diviter is wrong" looped recursed)))))
  (newline))

(main)
