;; SRFI 113: sets and bags.
(import (scheme base) (scheme char) (srfi 113) (srfi 128))
(define default (make-default-comparator))
(define (of . elements) (list->set default elements))
(list (set->list (of 1 2 1)) (set-size (of 'a 'b)) (set-contains? (of 1) 1) (set-empty? (of)) (set-disjoint? (of 1) (of 2)) (set? (of)) (set? '())) ; => ((1 2) 2 #t #t #t #t #f)
(map set->list (list (set-union (of 1 2) (of 2 3)) (set-intersection (of 1 2) (of 2 3)) (set-difference (of 1 2) (of 2 3)) (set-xor (of 1 2) (of 2 3)))) ; => ((1 2 3) (2) (1) (1 3))
(list (set=? (of 1 2) (of 2 1)) (set<? (of 1) (of 1 2)) (set<=? (of 1) (of 1)) (set>? (of 1) (of 1)) (set>=? (of 1 2) (of 1) (of))) ; => (#t #t #t #f #t)
(let* ((s (of 1 2 3)) (t (set-adjoin s 4)) (u (set-delete s 1))) (set-adjoin! s 9) (map set->list (list s t u))) ; => ((1 2 3 9) (1 2 3 4) (2 3))
(define ci (make-comparator string? string-ci=? string-ci<? string-ci-hash))
(list (set->list (set ci "a" "A" "b")) (set-member (set ci "Ada") "ADA" #f) (set->list (set-replace (set ci "Ada") "ADA"))) ; => (("a" "b") "Ada" ("ADA"))
(set ci 5)                                                                                ; raises: error
(list (set-count even? (of 1 2 4)) (set-any? even? (of 1)) (set-every? odd? (of 1 3)) (set-fold + 0 (of 1 2 3)) (set-find even? (of 1 2) (lambda () #f)) (set->list (set-map default - (of 1 2)))) ; => (2 #f #t 6 2 (-1 -2))
(call-with-values (lambda () (set-partition even? (of 1 2 3))) (lambda (a b) (list (set->list a) (set->list b)))) ; => ((2) (1 3))
(call-with-values (lambda () (set-search! (of 1) 2 (lambda (insert ignore) (insert 'added)) (lambda (e update remove) (remove 'gone)))) (lambda (s o) (list (set->list s) o))) ; => ((1 2) added)
(set->list (set-unfold default (lambda (n) (= n 3)) square (lambda (n) (+ n 1)) 0))       ; => (0 1 4)
(set-size (list->set set-comparator (list (of 1 2) (of 2 1) (of 3))))                     ; => 2
(define b (bag default 'a 'b 'a))
(list (bag-size b) (bag-unique-size b) (bag-element-count b 'a) (bag->alist b) (bag->list b)) ; => (3 2 2 ((a . 2) (b . 1)) (a a b))
(map bag->alist (list (bag-sum b (bag default 'b)) (bag-union b (bag default 'b 'b)) (bag-intersection b (bag default 'a 'c)) (bag-difference b (bag default 'a 'b)) (bag-product 2 b)))
; => (((a . 2) (b . 2)) ((a . 2) (b . 2)) ((a . 1)) ((a . 1)) ((a . 4) (b . 2)))
(list (bag=? b (bag default 'a 'a 'b)) (bag<=? (bag default 'a) b) (bag->alist (bag-delete b 'a 'b)) (set->list (bag->set b)) (bag->alist (set->bag (of 1 2)))) ; => (#t #t ((a . 1)) (a b) ((1 . 1) (2 . 1)))
(let ((it (bag default 'a 'b 'b))) (bag-product! 3 it) (set->bag! it (set default 'c)) (list (bag-element-count it 'b) (bag-element-count it 'c) (bag-size (bag-product! 0 it)))) ; => (6 1 0)
(define (counted . bags) (map bag->alist bags))
(counted (bag-xor b (bag default 'a 'c)) (bag-filter! symbol? (bag-copy b)) (bag-remove! (lambda (e) (eq? e 'a)) (bag-copy b)) (bag-union! (bag-copy b) (bag default 'b 'b)) (bag-intersection! (bag-copy b) (bag default 'a)) (bag-difference! (bag-copy b) (bag default 'a)) (bag-xor! (bag-copy b) (bag default 'a 'c))) ; => (((a . 1) (b . 1) (c . 1)) ((a . 2) (b . 1)) ((b . 1)) ((a . 2) (b . 2)) ((a . 1)) ((a . 1) (b . 1)) ((a . 1) (b . 1) (c . 1)))
(call-with-values (lambda () (bag-partition! (lambda (e) (eq? e 'a)) (bag-copy b))) counted) ; => (((a . 2)) ((b . 1)))
(define texts (bag ci "a" "A" "b"))
(list (bag->list (bag-replace texts "A")) (bag->list (bag-replace! (bag ci "x") "y")) (bag-find (lambda (e) (string=? e "b")) texts (lambda () 'none)) (bag-find symbol? texts (lambda () 'none))) ; => (("b" "A" "A") ("x") "b" none)
(map (lambda (element)
       (call-with-values
         (lambda () (bag-search! (bag-copy b) element (lambda (insert ignore) (insert 'added)) (lambda (e update remove) (if (eq? e 'a) (remove 'removed) (update 'z 'updated)))))
         (lambda (bag object) (list object (bag->alist bag)))))
     '(a b c))
; => ((removed ((a . 1) (b . 1))) (updated ((a . 2) (z . 1))) (added ((a . 2) (b . 1) (c . 1))))
(list (bag<? (bag default 'a) b) (bag<? b (bag-copy b)) (bag>? b (bag default 'a)) (bag>=? b (bag-copy b) (bag default 'b)) (bag>=? (bag default 'a) b)) ; => (#t #f #t #t #f)
;; The comparator of an unfold comes last; first is understood too.
(list (set->list (set-unfold (lambda (n) (= n 3)) square (lambda (n) (+ n 1)) 0 default)) (bag->list (bag-unfold zero? even? (lambda (n) (- n 1)) 3 default))) ; => ((0 1 4) (#f #f #t))
(set-union (set default 1) (set ci "a"))                                                  ; raises: error
(bag<=? (bag default 1) (bag ci "a"))                                                     ; raises: error
(let ((alone (bag-union b)) (mine (bag-copy b))) (bag-adjoin! alone 'z) (counted b (bag-union! mine) (bag-difference! mine) (bag-sum mine))) ; => (((a . 2) (b . 1)) ((a . 2) (b . 1)) ((a . 2) (b . 1)) ((a . 2) (b . 1)))
