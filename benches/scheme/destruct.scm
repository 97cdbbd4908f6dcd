;; Lists changed in place: reversing, appending and splicing with set-cdr! and set-car!.
(import (scheme base) (scheme write))

(define (counted n)
  (let loop ((i n) (list '()))
    (if (= i 0) list (loop (- i 1) (cons i list)))))

(define (turn! list)
  (let loop ((rest list) (done '()))
    (if (null? rest)
        done
        (let ((next (cdr rest)))
          (set-cdr! rest done)
          (loop next rest)))))

(define (last-of list)
  (if (null? (cdr list)) list (last-of (cdr list))))

;; Moves every second pair of `list`, which has an even length, to the end, keeping their order.
(define (unzip! list)
  (let ((seconds (cdr list)))
    (let loop ((first list) (second seconds))
      (let ((next (cdr second)))
        (if (null? next)
            (begin (set-cdr! first seconds) list)
            (begin
              (set-cdr! first next)
              (set-cdr! second (cdr next))
              (loop next (cdr next))))))))

(define (add-all! list amount)
  (let loop ((rest list))
    (if (pair? rest)
        (begin
          (set-car! rest (modulo (+ (car rest) amount) 1009))
          (loop (cdr rest))))))

(define (rotate! list)
  (let ((second (cdr list)))
    (set-cdr! list '())
    (set-cdr! (last-of second) list)
    second))

(define (weighted-sum list)
  (let loop ((rest list) (weight 1) (sum 0))
    (if (null? rest)
        sum
        (loop (cdr rest) (+ weight 1) (+ sum (* weight (car rest)))))))

(define (main)
  (let loop ((i 0) (list (counted 200)))
    (if (< i 18000)
        (begin
          (add-all! list i)
          (loop (+ i 1) (rotate! (unzip! (turn! list)))))
        (let ((answer (weighted-sum list)))
          (if (= answer 3775515)
              (display "destruct ok")
              (error "destruct is wrong" answer)))))
  (newline))

(main)
