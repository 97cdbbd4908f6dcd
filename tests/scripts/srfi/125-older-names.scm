;; SRFI 125: the older names that it still has.
(import (scheme base) (srfi 125) (srfi 128))
(define default (make-default-comparator))

(define by-number (hash-table default 1 'a 2 'b))
(hash-table-fold (lambda (key value sum) (+ key sum)) 0 by-number)  ; => 3
(hash-table-fold by-number (lambda (key value sum) (+ key sum)) 0)  ; => 3
(procedure? (hash-table-equivalence-function by-number))            ; => #t
(= ((hash-table-hash-function by-number) 7) ((hash-table-hash-function by-number) 7))  ; => #t
(hash-table->alist (hash-table-merge! by-number (hash-table default 2 'z 3 'c)))
; => ((1 . a) (2 . b) (3 . c))
