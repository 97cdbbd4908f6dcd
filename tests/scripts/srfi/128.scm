;; SRFI 128: comparators.
(import (scheme base) (scheme char) (srfi 125) (srfi 128))
(define default (make-default-comparator))

;; The default order: within a type as one expects, between types as the SRFI says.
(<? default 1 2)                         ; => #t
(<? default 2 1)                         ; => #f
(<? default '() '(1))                    ; => #t
(<? default '(1 2) '(1 3))               ; => #t
(<? default "a" 'b)                      ; => #t
(<? default #f #t)                       ; => #t
(<? default #\a "a")                     ; => #t
(<? default '#(1) '#(0 0))               ; => #t
(<? default 1.5 3/2)                     ; => #f
(=? default 1 1.0 1)                     ; => #t
(=? default '(1 "a") '(1 "a"))           ; => #t
(>? default 3 2 1)                       ; => #t
(<=? default 1 1 2)                      ; => #t
(>=? default 1 2)                        ; => #f
(= (default-hash 1) (default-hash 1.0))  ; => #t

;; A comparator of one's own.
(define ci (make-comparator string? string-ci=? string-ci<? string-ci-hash))
(comparator-if<=> ci "a" "B" 'less 'equal 'greater)  ; => less
(=? ci "a" "A")                                      ; => #t
(comparator-test-type ci 5)                          ; => #f
(comparator-ordered? ci)                             ; => #t
(comparator-check-type ci 5)                         ; raises: error

;; Comparators of compound objects.
(define pairs (make-pair-comparator ci default))
(define lists (make-list-comparator default))
(define vectors (make-vector-comparator default))
(<? pairs '("a" . 1) '("A" . 2))                                   ; => #t
(<? lists '(1) '(1 2))                                             ; => #t
(<? vectors '#(9) '#(1 2))                                         ; => #t
(= (comparator-hash lists '(1 2)) (comparator-hash lists '(1 2)))  ; => #t

;; A table by a comparator keeps the first of equal keys.
(let ((table (make-hash-table ci)))
  (hash-table-set! table "One" 1 "ONE" 2 "two" 3)
  (hash-table->alist table))  ; => (("One" . 2) ("two" . 3))

;; Numbers that are `=` have the same hash, complex ones too.
(= (number-hash 1+2i) (number-hash 1.0+2i) (number-hash 1+2.0i))  ; => #t
