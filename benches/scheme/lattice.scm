;; Lists and closures: how many monotone maps lead from one lattice to another.
(import (scheme base) (scheme write))

;; A lattice is a pair of its elements, the lower ones first, and its order.
(define (elements lattice) (car lattice))
(define (below? lattice a b) ((cdr lattice) a b))

(define chain-of-two (cons '(low high) (lambda (a b) (or (eq? a b) (eq? a 'low)))))

;; Pairs of elements, ordered in both places.
(define (squared lattice)
  (cons
    (apply append
           (map (lambda (a) (map (lambda (b) (cons a b)) (elements lattice))) (elements lattice)))
    (lambda (a b)
      (and (below? lattice (car a) (car b))
           (below? lattice (cdr a) (cdr b))))))

;; Whether `value` for `element` respects all choices made, an association list.
(define (monotone? element value choices from to)
  (or (null? choices)
      (let ((choice (car choices)))
        (and (or (not (below? from (car choice) element)) (below? to (cdr choice) value))
             (or (not (below? from element (car choice))) (below? to value (cdr choice)))
             (monotone? element value (cdr choices) from to)))))

(define (count-maps from to)
  (let choose ((rest (elements from)) (choices '()))
    (if (null? rest)
        1
        (let try ((values (elements to)) (count 0))
          (cond ((null? values) count)
                ((monotone? (car rest) (car values) choices from to)
                 (try (cdr values)
                      (+ count (choose (cdr rest) (cons (cons (car rest) (car values)) choices)))))
                (else (try (cdr values) count)))))))

(define (main)
  (let* ((four (squared chain-of-two)) (sixteen (squared four)))
    (let repeat ((rounds 50) (answer 0))
      (cond ((> rounds 0) (repeat (- rounds 1) (count-maps sixteen chain-of-two)))
            ((and (= answer 168) (= (count-maps four sixteen) 1296)) (display "lattice ok"))
            (else (error "lattice is wrong" answer)))))
  (newline))

(main)
