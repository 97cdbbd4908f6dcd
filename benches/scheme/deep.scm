;; Deep recursion: lists of 100,000 elements are made, mapped and joined without tail calls.
(import (scheme base) (scheme write))

(define (counted from to)
  (if (= from to)
      '()
      (cons from (counted (+ from 1) to))))

(define (mapped procedure list)
  (if (null? list)
      '()
      (cons (procedure (car list)) (mapped procedure (cdr list)))))

(define (joined first second)
  (if (null? first)
      second
      (cons (car first) (joined (cdr first) second))))

(define (kept? item) (odd? item))

(define (filtered list)
  (cond ((null? list) '())
        ((kept? (car list)) (cons (car list) (filtered (cdr list))))
        (else (filtered (cdr list)))))

(define (folded procedure seed list)
  (if (null? list)
      seed
      (procedure (car list) (folded procedure seed (cdr list)))))

(define (main)
  (let repeat ((rounds 15) (answer 0))
    (cond ((> rounds 0)
           (let ((numbers (counted 0 100000)))
             (repeat (- rounds 1)
                     (folded - 0
                             (joined (mapped (lambda (n) (+ n 1)) numbers) (filtered numbers))))))
          ((= answer -100000) (display "deep ok"))
          (else (error "deep is wrong" answer))))
  (newline))

(main)
