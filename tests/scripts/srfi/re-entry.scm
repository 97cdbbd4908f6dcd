;; Procedures that return something new are safe against a continuation that is called again: each
;; return has a whole result, and no later one changes an earlier one.
(import (scheme base) (only (duet base) sort) (srfi 132) (srfi 133) (srfi 235))

;; Calls `procedure` with a procedure that returns twice: first one value, then another. Returns
;; both results.
(define (twice first second procedure)
  (let* ((again #f)
         (results '())
         (result (procedure
                   (lambda ()
                     (call/cc
                       (lambda (k)
                         (if (not again) (set! again k))
                         first))))))
    (set! results (cons result results))
    (if (= (length results) 1) (again second) (reverse results))))

;; The comparison with a number returns twice, with the true answer.
(define (honest-twice sort count)
  (twice #f #f
    (lambda (pause)
      (sort
        (lambda (a b)
          (set! count (- count 1))
          (if (= count 0) (pause))
          (< a b))))))
(define (always-whole? sort)
  (let loop ((count 16))
    (or (= count 0)
        (and (equal? (honest-twice sort count) '((1 2 3 4 5 6 7 8) (1 2 3 4 5 6 7 8)))
             (loop (- count 1))))))

(define mixed '(5 3 8 1 7 2 6 4))
(always-whole? (lambda (less?) (list-sort less? mixed)))                                 ; => #t
(always-whole? (lambda (less?) (list-stable-sort less? mixed)))                          ; => #t
(always-whole? (lambda (less?) (vector->list (vector-sort less? (list->vector mixed)))))  ; => #t
(always-whole? (lambda (less?) (sort mixed less?)))                                      ; => #t
(always-whole?
  (lambda (less?)
    (let ((numbers (list->vector mixed))) (vector-sort! less? numbers) (vector->list numbers))))
; => #t

;; The second answer is the opposite of the first.
(define (sorted-twice sort)
  (twice #f #t
    (lambda (answer)
      (let ((is-asked #f))
        (sort
          (lambda (a b)
            (if is-asked
                (< a b)
                (begin (set! is-asked #t) (answer)))))))))

(sorted-twice (lambda (less?) (list-sort less? '(1 2 4 3))))
; => ((1 2 3 4) (2 1 3 4))
(sorted-twice (lambda (less?) (vector-sort less? #(1 2 4 3))))
; => (#(1 2 3 4) #(2 1 3 4))

(define (element-twice make)
  (twice 'a 'b (lambda (answer) (make (lambda (index) (if (= index 1) (answer) index))))))
(element-twice (lambda (element) (vector-unfold element 3)))        ; => (#(0 a 2) #(0 b 2))
(element-twice (lambda (element) (vector-unfold-right element 3)))  ; => (#(0 a 2) #(0 b 2))
(element-twice (lambda (element) (vector-map element #(0 1 2))))    ; => (#(0 a 2) #(0 b 2))
(element-twice (lambda (element) (vector-cumulate (lambda (sum x) (element x)) 0 #(0 1 2))))
; => (#(0 a 2) #(0 b 2))
(element-twice (lambda (element) ((group-by element) '(0 1 0 2))))
; => (((0 0) (1) (2)) ((0 0) (1) (2)))
