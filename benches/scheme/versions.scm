;; Allocation of what lives long: versions of a balanced search tree; the last hundred stay.
(import (scheme base) (scheme write))

;; A node is a vector of key, height, left and right part; the empty tree is #f.
(define (height tree) (if tree (vector-ref tree 1) 0))

(define (node key left right)
  (vector key (+ 1 (max (height left) (height right))) left right))

(define (left tree) (vector-ref tree 2))
(define (right tree) (vector-ref tree 3))

;; Joins two parts whose heights differ by two at most.
(define (balanced key smaller greater)
  (let ((difference (- (height smaller) (height greater))))
    (cond ((> difference 1)
           (if (< (height (left smaller)) (height (right smaller)))
               (let ((middle (right smaller)))
                 (node (vector-ref middle 0)
                       (node (vector-ref smaller 0) (left smaller) (left middle))
                       (node key (right middle) greater)))
               (node (vector-ref smaller 0) (left smaller) (node key (right smaller) greater))))
          ((< difference -1)
           (if (< (height (right greater)) (height (left greater)))
               (let ((middle (left greater)))
                 (node (vector-ref middle 0)
                       (node key smaller (left middle))
                       (node (vector-ref greater 0) (right middle) (right greater))))
               (node (vector-ref greater 0) (node key smaller (left greater)) (right greater))))
          (else (node key smaller greater)))))

(define (insert tree key)
  (cond ((not tree) (node key #f #f))
        ((< key (vector-ref tree 0))
         (balanced (vector-ref tree 0) (insert (left tree) key) (right tree)))
        ((> key (vector-ref tree 0))
         (balanced (vector-ref tree 0) (left tree) (insert (right tree) key)))
        (else tree)))

(define (count tree)
  (if tree (+ 1 (count (left tree)) (count (right tree))) 0))

;; The keys are distinct, because the modulus is a prime number.
(define (key-of number) (modulo (* number 40503) 65537))

(define (run keys kept)
  (let ((versions (make-vector kept #f)))
    (let loop ((i 0) (tree #f))
      (if (< i keys)
          (let ((grown (insert tree (key-of i))))
            (vector-set! versions (modulo i kept) grown)
            (loop (+ i 1) grown))
          (let ((oldest (vector-ref versions (modulo i kept))))
            (list (count tree) (- (count tree) (count oldest)) (< (height tree) 20)))))))

(define (main)
  (do ((round 0 (+ round 1)) (answer #f (run 30000 100)))
      ((= round 12)
       (if (equal? answer '(30000 99 #t))
           (display "versions ok")
           (error "versions is wrong" answer))))
  (newline))

(main)
