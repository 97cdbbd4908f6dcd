;; SRFI 146: mappings by the hashes of their keys, in no order that a program may rely on.
(import (scheme base) (srfi 128) (srfi 132) (srfi 146 hash))
(define default (make-default-comparator))
(define m (hashmap default 'c 3 'a 1 'b 2 'a 9))
(define (sorted alist) (list-sort (lambda (a b) (<? default (car a) (car b))) alist))
(define (show . hashmaps) (map (lambda (hashmap) (sorted (hashmap->alist hashmap))) hashmaps))
(list (show m) (hashmap? m) (hashmap? 1) (hashmap-size m) (hashmap-empty? m) (hashmap-contains? m 'b) (hashmap-contains? m 'z) (eq? (hashmap-key-comparator m) default)) ; => ((((a . 1) (b . 2) (c . 3))) #t #f 3 #f #t #f #t)
(list (hashmap-ref m 'b) (hashmap-ref m 'z (lambda () 'none)) (hashmap-ref m 'b (lambda () 'none) list) (hashmap-ref/default m 'z 0)) ; => (2 none (2) 0)
(hashmap-ref m 'z)                                                   ; raises: error
(hashmap default 1)                                                  ; raises: error
(hashmap (make-comparator number? = < #f))                           ; raises: error
(show (hashmap-adjoin m 'a 7 'd 4) (hashmap-set! m 'a 7) (hashmap-replace m 'z 7) (hashmap-replace m 'a 7) (hashmap-delete m 'a 'b 'z) (hashmap-delete-all m '(c))) ; => (((a . 1) (b . 2) (c . 3) (d . 4)) ((a . 7) (b . 2) (c . 3)) ((a . 1) (b . 2) (c . 3)) ((a . 7) (b . 2) (c . 3)) ((c . 3)) ((a . 1) (b . 2)))
(call-with-values (lambda () (hashmap-intern m 'd (lambda () 4))) (lambda (new value) (list (hashmap-size new) value (hashmap-size m)))) ; => (4 4 3)
(list (hashmap-ref (hashmap-update m 'a list) 'a) (hashmap-ref (hashmap-update m 'z list (lambda () 'new)) 'z) (hashmap-ref (hashmap-update/default m 'z list 0) 'z)) ; => ((1) (new) (0))
(hashmap-update m 'z list)                                           ; raises: error
(call-with-values (lambda () (hashmap-pop m)) (lambda (rest key value) (list (hashmap-size rest) (= (hashmap-ref m key) value) (hashmap-contains? rest key)))) ; => (2 #t #f)
(hashmap-pop (hashmap default) (lambda () 'empty))                   ; => empty
(hashmap-pop (hashmap default))                                      ; raises: error
(map (lambda (key)
       (call-with-values
         (lambda () (hashmap-search m key (lambda (insert ignore) (insert 0 'inserted)) (lambda (key value update remove) (if (= value 1) (remove 'removed) (update 'x value 'updated)))))
         (lambda (new object) (list object (car (show new))))))
     '(z a b))
; => ((inserted ((a . 1) (b . 2) (c . 3) (z . 0))) (removed ((b . 2) (c . 3))) (updated ((a . 1) (c . 3) (x . 2))))
(define (odd-value? key value) (odd? value))
(list (hashmap-count odd-value? m) (hashmap-any? odd-value? m) (hashmap-every? odd-value? m) (hashmap-find (lambda (key value) #f) m (lambda () 'none)) (call-with-values (lambda () (hashmap-find (lambda (key value) (= value 2)) m (lambda () 'none))) list)) ; => (2 #t #f none (b 2))
(list (hashmap-fold (lambda (key value sum) (+ value sum)) 0 m) (let ((n 0)) (hashmap-for-each (lambda (key value) (set! n (+ n value))) m) n) (call-with-values (lambda () (hashmap-entries m)) (lambda (keys values) (sorted (map cons keys values)))) (list-sort < (hashmap-map->list (lambda (key value) (* value 10)) m)) (length (hashmap-keys m)) (apply + (hashmap-values m))) ; => (6 6 ((a . 1) (b . 2) (c . 3)) (10 20 30) 3 6)
(show (hashmap-map (lambda (key value) (values value key)) default m) (hashmap-filter odd-value? m) (hashmap-remove odd-value? m) (alist->hashmap default '((2 . x) (1 . y) (2 . z))) (alist->hashmap! m '((a . 0) (d . 4))) (hashmap-unfold (lambda (n) (= n 3)) (lambda (n) (values n (* n n))) (lambda (n) (+ n 1)) 0 default) (hashmap-copy m)) ; => (((1 . a) (2 . b) (3 . c)) ((a . 1) (c . 3)) ((b . 2)) ((1 . y) (2 . x)) ((a . 1) (b . 2) (c . 3) (d . 4)) ((0 . 0) (1 . 1) (2 . 4)) ((a . 1) (b . 2) (c . 3)))
(call-with-values (lambda () (hashmap-partition odd-value? m)) show) ; => (((a . 1) (c . 3)) ((b . 2)))
(define n (hashmap default 'b 'y 'e 'x))
(show (hashmap-union m n) (hashmap-intersection m n) (hashmap-difference m n) (hashmap-xor m n) (hashmap-union! m n (hashmap default 'o 0))) ; => (((a . 1) (b . 2) (c . 3) (e . x)) ((b . 2)) ((a . 1) (c . 3)) ((a . 1) (c . 3) (e . x)) ((a . 1) (b . 2) (c . 3) (e . x) (o . 0)))
(list (hashmap-disjoint? m n) (hashmap-disjoint? m (hashmap default 'q 1))) ; => (#f #t)
(define fewer (hashmap-delete m 'a))
(list (hashmap=? default m (hashmap default 'a 1 'b 2 'c 3)) (hashmap=? default m fewer) (hashmap<? default fewer m) (hashmap<=? default fewer m m) (hashmap>? default m fewer m) (hashmap>=? default m m fewer)) ; => (#t #f #t #t #f #t)
(list (=? default m (hashmap default 'b 2 'a 1 'c 3)) (= (comparator-hash hashmap-comparator m) (comparator-hash (make-hashmap-comparator default) (hashmap default 'b 2 'a 1 'c 3))) (comparator-ordered? hashmap-comparator) (comparator? hashmap-comparator)) ; => (#t #t #f #t)

;; Keys of one hash are told apart.
(define same (make-comparator integer? = #f (lambda (key) 7)))
(define crowded (hashmap same 1 'a 2 'b 3 'c))
(list (show crowded (hashmap-delete crowded 2) (hashmap-set crowded 2 'x) (hashmap-delete crowded 1 2 3)) (hashmap-size (hashmap-delete crowded 9 1))) ; => ((((1 . a) (2 . b) (3 . c)) ((1 . a) (3 . c)) ((1 . a) (2 . x) (3 . c)) ()) 2)
