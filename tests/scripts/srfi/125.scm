;; SRFI 125 and 128: hash tables by comparators.
(import (scheme base) (scheme char) (srfi 125) (srfi 128))
(define default (make-default-comparator))
(define table (hash-table default 'a 1 "b" 2 '(c) 3))
(list (hash-table-size table) (hash-table-ref/default table '(c) #f) (hash-table-contains? table "b") (hash-table-empty? table)) ; => (3 3 #t #f)
(list (hash-table-ref table 'a (lambda () 0) list) (hash-table-ref table 'z (lambda () 'none)))   ; => ((1) none)
(hash-table-ref table 'z)                                                                 ; raises: error
(list (hash-table-delete! table 'a 'z) (hash-table-intern! table 'd (lambda () 4)) (hash-table-intern! table 'd (lambda () 5))) ; => (1 4 4)
(hash-table-update! table 'd - (lambda () 0))
(hash-table-update!/default table 'e (lambda (n) (+ n 1)) 10)
(hash-table-map->list cons table)                                                         ; => (("b" . 2) ((c) . 3) (d . -4) (e . 11))
(hash-table-fold (lambda (key value sum) (+ value sum)) 0 table)                          ; => 12
(list (hash-table-count (lambda (k v) (> v 0)) table) (hash-table-find (lambda (k v) (and (< v 0) k)) table (lambda () #f))) ; => (3 d)
(hash-table-prune! (lambda (key value) (< value 0)) table)
(call-with-values (lambda () (hash-table-entries table)) list)                            ; => (("b" (c) e) (2 3 11))
(define (of . keys) (apply hash-table default (append-each keys)))
(define (append-each keys) (if (null? keys) '() (cons (car keys) (cons (car keys) (append-each (cdr keys))))))
(map hash-table-keys (list (hash-table-union! (of 1 2) (of 2 3)) (hash-table-intersection! (of 1 2) (of 2 3)) (hash-table-difference! (of 1 2) (of 2 3)) (hash-table-xor! (of 1 2) (of 2 3))))
; => ((1 2 3) (2) (1) (1 3))
(hash-table=? default (of 1 2) (of 2 1))                                                  ; => #t
(hash-table->alist (hash-table-unfold (lambda (n) (= n 3)) (lambda (n) (values n (* n n))) (lambda (n) (+ n 1)) 0 default)) ; => ((0 . 0) (1 . 1) (2 . 4))
(call-with-values (lambda () (hash-table-pop! (of 1))) list)                              ; => (1 1)
(hash-table-pop! (of))                                                                    ; raises: error
(map (lambda (pair) (<? default (car pair) (cdr pair)))
     '((1 . 2) (2 . 1) (() . (1)) ((1 2) . (1 3)) ("a" . b) (#f . #t) (#\a . "a") (#(1) . #(0 0)) (1.5 . 3/2)))
; => (#t #f #t #t #t #t #t #t #f)
(list (=? default 1 1.0 1) (=? default '(1 "a") '(1 "a")) (>? default 3 2 1) (<=? default 1 1 2) (>=? default 1 2)) ; => (#t #t #t #t #f)
(= (default-hash 1) (default-hash 1.0))                                                   ; => #t
(define ci (make-comparator string? string-ci=? string-ci<? string-ci-hash))
(list (comparator-if<=> ci "a" "B" 'less 'equal 'greater) (=? ci "a" "A") (comparator-test-type ci 5) (comparator-ordered? ci)) ; => (less #t #f #t)
(comparator-check-type ci 5)                                                              ; raises: error
(let ((pairs (make-pair-comparator ci default)) (lists (make-list-comparator default)) (vectors (make-vector-comparator default)))
  (list (<? pairs '("a" . 1) '("A" . 2)) (<? lists '(1) '(1 2)) (<? vectors '#(9) '#(1 2)) (= (comparator-hash lists '(1 2)) (comparator-hash lists '(1 2)))))
; => (#t #t #t #t)
(let ((table (make-hash-table ci))) (hash-table-set! table "One" 1 "ONE" 2 "two" 3) (hash-table->alist table)) ; => (("One" . 2) ("two" . 3))

;; The older names that SRFI 125 still has.
(define by-number (hash-table default 1 'a 2 'b))
(list (hash-table-fold (lambda (key value sum) (+ key sum)) 0 by-number) (hash-table-fold by-number (lambda (key value sum) (+ key sum)) 0) (procedure? (hash-table-equivalence-function by-number)) (= ((hash-table-hash-function by-number) 7) ((hash-table-hash-function by-number) 7))) ; => (3 3 #t #t)
(hash-table->alist (hash-table-merge! by-number (hash-table default 2 'z 3 'c)))            ; => ((1 . a) (2 . b) (3 . c))
