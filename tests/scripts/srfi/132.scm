;; SRFI 132: sorting.
(import (scheme base) (srfi 132))
(define (by-key a b) (< (car a) (car b)))

;; Sorting is stable.
(list-sort by-key '((3 a) (1 b) (2 c) (1 d) (3 e) (1 f)))
; => ((1 b) (1 d) (1 f) (2 c) (3 a) (3 e))
(list-sort < '())                                       ; => ()
(list-sort < '(2 1))                                    ; => (1 2)
(vector-sort > #(1 3 2))                                ; => #(3 2 1)
(vector-sort < #(9 3 2 1 0) 1 4)                        ; => #(1 2 3)
(list-sort < '(5 3 8 1 9 2 7 4 6 0 15 13 11 12 14 10))  ; => (0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)
(let ((v (vector 5 4 3 2 1))) (vector-sort! < v 1 4) v)  ; => #(5 2 3 4 1)

;; Asking.
(list-sorted? < '(1 1 2))      ; => #t
(list-sorted? < '(2 1))        ; => #f
(vector-sorted? < #(3 1 2) 1)  ; => #t

;; Merging.
(list-merge by-key '((1 a) (3 a)) '((1 b) (2 b)))                     ; => ((1 a) (1 b) (2 b) (3 a))
(vector-merge < #(1 3) #(2 4))                                        ; => #(1 2 3 4)
(vector-merge < #(9 1 3) #(2 4 0) 1 3 0 2)                            ; => #(1 2 3 4)
(let ((v (make-vector 5 'x))) (vector-merge! < v #(1 3) #(2 4) 1) v)  ; => #(x 1 2 3 4)

;; Neighbours that are equal.
(list-delete-neighbor-dups = '(1 1 2 1 1))  ; => (1 2 1)
(vector-delete-neighbor-dups = #(1 1 2 2))  ; => #(1 2)
(let ((v (vector 1 1 2 2 3))) (list (vector-delete-neighbor-dups! = v) v))  ; => (3 #(1 2 3 2 3))

;; Selecting.
(vector-find-median < #(3 1 2) 0)      ; => 2
(vector-find-median < #(4 1 2 3) 0)    ; => 5/2
(vector-find-median < #() 'none)       ; => none
(vector-select! < (vector 5 3 1 4) 1)  ; => 3

;; Errors name the procedure.
(define-syntax complaint
  (syntax-rules ()
    ((_ e) (guard (c (#t (cons (error-object-message c) (error-object-irritants c)))) e))))
(complaint (list-sort '(2 1) 5))  ; => ("list-sort: expected a proper list" 5)
(complaint (list-sort 5 '(2 1)))  ; => ("list-sort: expected a procedure that compares" 5)
(vector-sort #(2 1) <)            ; raises: wrong-type
(vector-sort '< #(2 1) 1)         ; raises: wrong-type
(list-sort < '(1 a))              ; raises: wrong-type

(vector-select! < (vector 3 1 2 5 4) 2 1 3)   ; raises: out-of-range
(vector-select! < (vector 3 1 2 5 4) 1 1 3)   ; => 2
(vector-separate! < (vector 3 1 2) 4)   ; raises: out-of-range
(vector-separate! < (vector 3 1 2) -1)  ; raises: out-of-range
(let ((v (vector 5 3 1 2))) (vector-separate! < v 2 1 4) v)  ; => #(5 1 2 3)

(vector-sorted? < #(3 1 2 2 0) 1 4)  ; => #t
(vector-sorted? < #(3 1 2 2 0) 1)    ; => #f
(vector-sorted? < #() 0)             ; => #t
(vector-sorted? < #(1) 2)            ; raises: out-of-range
