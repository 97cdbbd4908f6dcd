;; SRFI 146: mappings in the order of their keys.
(import (scheme base) (srfi 128) (srfi 146))
(define numbers (make-comparator exact-integer? = < values))
(define default (make-default-comparator))
(define m (mapping numbers 3 'c 1 'a 2 'b 1 'z))
(define (show . mappings) (map mapping->alist mappings))
(list (mapping->alist m) (mapping? m) (mapping? 1) (mapping-size m) (mapping-empty? m) (mapping-contains? m 2) (mapping-contains? m 9) (eq? (mapping-key-comparator m) numbers)) ; => (((1 . a) (2 . b) (3 . c)) #t #f 3 #f #t #f #t)
(list (mapping-ref m 2) (mapping-ref m 9 (lambda () 'none)) (mapping-ref m 2 (lambda () 'none) list) (mapping-ref/default m 9 0)) ; => (b none (b) 0)
(mapping-ref m 9)                                                             ; raises: error
(mapping numbers 1)                                                           ; raises: error
(mapping (make-comparator number? = #f #f))                                   ; raises: error
(show (mapping-adjoin m 1 'x 4 'd) (mapping-set! m 1 'x) (mapping-replace m 9 'x) (mapping-replace m 1 'x) (mapping-delete m 1 2 9) (mapping-delete-all m '(3))) ; => (((1 . a) (2 . b) (3 . c) (4 . d)) ((1 . x) (2 . b) (3 . c)) ((1 . a) (2 . b) (3 . c)) ((1 . x) (2 . b) (3 . c)) ((3 . c)) ((1 . a) (2 . b)))
(call-with-values (lambda () (mapping-intern m 4 (lambda () 'd))) (lambda (new value) (list (mapping-size new) value (mapping-size m)))) ; => (4 d 3)
(list (mapping-ref (mapping-update m 1 list) 1) (mapping-ref (mapping-update m 9 list (lambda () 'new)) 9) (mapping-ref (mapping-update/default m 9 list 'd) 9)) ; => ((a) (new) (d))
(mapping-update m 9 list)                                                     ; raises: error
(call-with-values (lambda () (mapping-pop m)) (lambda (rest key value) (list (mapping->alist rest) key value)))  ; => (((2 . b) (3 . c)) 1 a)
(list (mapping-pop (mapping numbers) (lambda () 'empty)))                     ; => (empty)
(map (lambda (key)
       (call-with-values
         (lambda () (mapping-search m key (lambda (insert ignore) (insert 'new 'inserted)) (lambda (key value update remove) (if (= key 1) (remove 'removed) (update key 'changed 'updated)))))
         (lambda (new object) (list object (mapping->alist new)))))
     '(0 1 2))
; => ((inserted ((0 . new) (1 . a) (2 . b) (3 . c))) (removed ((2 . b) (3 . c))) (updated ((1 . a) (2 . changed) (3 . c))))
(define (odd-key? key value) (odd? key))
(list (mapping-keys m) (mapping-values m) (mapping-count odd-key? m) (mapping-any? odd-key? m) (mapping-every? odd-key? m) (call-with-values (lambda () (mapping-find odd-key? m (lambda () 'none))) list) (mapping-find (lambda (k v) #f) m (lambda () 'none)) (call-with-values (lambda () (mapping-entries m)) list))
; => ((1 2 3) (a b c) 2 #t #f (1 a) none ((1 2 3) (a b c)))
(list (mapping->alist (mapping-map (lambda (key value) (values (- key) value)) numbers m)) (mapping-map->list list m) (mapping-fold (lambda (k v all) (cons k all)) '() m) (mapping-fold/reverse (lambda (k v all) (cons k all)) '() m) (let ((n 0)) (mapping-for-each (lambda (k v) (set! n (+ n k))) m) n)) ; => (((-3 . c) (-2 . b) (-1 . a)) ((1 a) (2 b) (3 c)) (3 2 1) (1 2 3) 6)
(show (mapping-filter odd-key? m) (mapping-remove odd-key? m) (alist->mapping numbers '((2 . x) (1 . y) (2 . z))) (mapping-unfold (lambda (n) (= n 3)) (lambda (n) (values n (* n n))) (lambda (n) (+ n 1)) 0 numbers) (mapping-copy m)) ; => (((1 . a) (3 . c)) ((2 . b)) ((1 . y) (2 . x)) ((0 . 0) (1 . 1) (2 . 4)) ((1 . a) (2 . b) (3 . c)))
(define n (mapping numbers 2 'y 5 'e))
(show (mapping-union m n) (mapping-intersection m n) (mapping-difference m n) (mapping-xor m n) (mapping-union m n (mapping numbers 0 'o))) ; => (((1 . a) (2 . b) (3 . c) (5 . e)) ((2 . b)) ((1 . a) (3 . c)) ((1 . a) (3 . c) (5 . e)) ((0 . o) (1 . a) (2 . b) (3 . c) (5 . e)))
(list (mapping-disjoint? m n) (mapping=? default m (mapping-copy m) m) (mapping<? default (mapping-delete m 1) m) (mapping<=? default m m) (mapping>? default m m) (mapping>=? default m (mapping-filter odd-key? m)) (mapping=? default m (mapping default 1 'a 2 'b 3 'c))) ; => (#f #t #t #t #f #t #f)
(list (mapping-min-key m) (mapping-max-key m) (mapping-min-value m) (mapping-max-value m) (call-with-values (lambda () (mapping-min-entry m)) list) (call-with-values (lambda () (mapping-max-entry m)) list) (mapping-key-predecessor m 2 (lambda () 'none)) (mapping-key-successor m 3 (lambda () 'none))) ; => (1 3 a c (1 a) (3 c) 1 none)
(mapping-min-key (mapping numbers))                                           ; raises: error
(call-with-values (lambda () (mapping-split m 2)) show)                        ; => (((1 . a)) ((1 . a) (2 . b)) ((2 . b)) ((2 . b) (3 . c)) ((3 . c)))
(show (mapping-range<= m 0) (mapping-range>= m 3) (mapping-catenate numbers (mapping numbers 1 'a) 2 'b (mapping numbers 3 'c))) ; => (() ((3 . c)) ((1 . a) (2 . b) (3 . c)))
(list (=? mapping-comparator m m) (<? mapping-comparator m n) (<? default n m) (= (comparator-hash mapping-comparator m) (comparator-hash mapping-comparator (mapping-copy m)))) ; => (#t #t #f #t)
;; Large ones stay balanced, however they were made.
(define (chain count) (mapping-unfold (lambda (n) (= n count)) (lambda (n) (values n n)) (lambda (n) (+ n 1)) 0 numbers))
(let* ((large (chain 5000)) (odd (mapping-filter odd-key? large)) (even (mapping-difference large odd)))
  (list (mapping-size odd) (mapping=? default large (mapping-union even odd)) (mapping-size (mapping-range< large 1234)) (mapping-ref large 4999) (mapping-size (mapping-delete-all large (mapping-keys odd)))))   ; => (2500 #t 1234 4999 2500)
;; What has no order is an error.
(<? default (lambda () 1) (lambda () 2))                                      ; raises: error
