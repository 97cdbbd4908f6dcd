;; Continuations entered again: two trees of different shapes are walked in step, one leaf at a time.
(import (scheme base) (scheme write))

;; Trees of the leaves from, …, to - 1: balanced, or a comb.
(define (balanced from to)
  (if (= (+ from 1) to)
      from
      (let ((middle (quotient (+ from to) 2)))
        (cons (balanced from middle) (balanced middle to)))))

(define (comb from to)
  (if (= (+ from 1) to)
      from
      (cons from (comb (+ from 1) to))))

(define (walk tree visit)
  (if (pair? tree)
      (begin
        (walk (car tree) visit)
        (walk (cdr tree) visit))
      (visit tree)))

;; A procedure that gives the tree's next leaf at each call, and #f after the last.
(define (make-generator tree)
  (define return #f)
  (define (start)
    (walk tree
          (lambda (leaf)
            (call-with-current-continuation
              (lambda (rest)
                (set! resume (lambda () (rest #f)))
                (return leaf)))))
    (set! resume (lambda () (return #f)))
    (return #f))
  (define resume start)
  (lambda ()
    (call-with-current-continuation
      (lambda (k)
        (set! return k)
        (resume)))))

;; How many leaves the trees have, if they have the same ones; else #f.
(define (same-fringe a b)
  (let ((next-a (make-generator a)) (next-b (make-generator b)))
    (let loop ((count 0))
      (let ((leaf-a (next-a)) (leaf-b (next-b)))
        (cond ((not (eqv? leaf-a leaf-b)) #f)
              (leaf-a (loop (+ count 1)))
              (else count))))))

(define (main)
  (let ((a (balanced 0 2000)) (b (comb 0 2000)))
    (let repeat ((rounds 120) (answer 0))
      (cond ((> rounds 0) (repeat (- rounds 1) (same-fringe a b)))
            ((and (= answer 2000) (not (same-fringe a (comb 0 1999)))) (display "generators ok"))
            (else (error "generators is wrong" answer)))))
  (newline))

(main)
