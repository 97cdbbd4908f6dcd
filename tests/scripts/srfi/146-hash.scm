;; SRFI 146: mappings by the hashes of their keys, in no order that a program may rely on.
(import (scheme base) (srfi 128) (srfi 132) (srfi 146 hash))
(define default (make-default-comparator))
(define m (hashmap default 'c 3 'a 1 'b 2 'a 9))
(define (sorted alist) (list-sort (lambda (a b) (<? default (car a) (car b))) alist))
(define (show hashmap) (sorted (hashmap->alist hashmap)))

;; Asking.
(show m)                                    ; => ((a . 1) (b . 2) (c . 3))
(hashmap? m)                                ; => #t
(hashmap? 1)                                ; => #f
(hashmap-size m)                            ; => 3
(hashmap-empty? m)                          ; => #f
(hashmap-contains? m 'b)                    ; => #t
(hashmap-contains? m 'z)                    ; => #f
(eq? (hashmap-key-comparator m) default)    ; => #t
(hashmap-ref m 'b)                          ; => 2
(hashmap-ref m 'z (lambda () 'none))        ; => none
(hashmap-ref m 'b (lambda () 'none) list)   ; => (2)
(hashmap-ref/default m 'z 0)                ; => 0
(hashmap-ref m 'z)                          ; raises: error
(hashmap default 1)                         ; raises: error
(hashmap (make-comparator number? = < #f))  ; raises: error

;; Updates make new mappings.
(show (hashmap-adjoin m 'a 7 'd 4))                           ; => ((a . 1) (b . 2) (c . 3) (d . 4))
(show (hashmap-set! m 'a 7))                                  ; => ((a . 7) (b . 2) (c . 3))
(show (hashmap-replace m 'z 7))                               ; => ((a . 1) (b . 2) (c . 3))
(show (hashmap-replace m 'a 7))                               ; => ((a . 7) (b . 2) (c . 3))
(show (hashmap-delete m 'a 'b 'z))                            ; => ((c . 3))
(show (hashmap-delete-all m '(c)))                            ; => ((a . 1) (b . 2))
(call-with-values
  (lambda () (hashmap-intern m 'd (lambda () 4)))
  (lambda (new value) (list (hashmap-size new) value (hashmap-size m))))  ; => (4 4 3)
(hashmap-ref (hashmap-update m 'a list) 'a)                   ; => (1)
(hashmap-ref (hashmap-update m 'z list (lambda () 'new)) 'z)  ; => (new)
(hashmap-ref (hashmap-update/default m 'z list 0) 'z)         ; => (0)
(hashmap-update m 'z list)                                    ; raises: error

;; Taking one association out.
(call-with-values
  (lambda () (hashmap-pop m))
  (lambda (rest key value)
    (list (hashmap-size rest) (= (hashmap-ref m key) value) (hashmap-contains? rest key))))
; => (2 #t #f)
(hashmap-pop (hashmap default) (lambda () 'empty))  ; => empty
(hashmap-pop (hashmap default))                     ; raises: error

;; A search may insert, remove or update.
(define (search key)
  (call-with-values
    (lambda ()
      (hashmap-search m key
        (lambda (insert ignore) (insert 0 'inserted))
        (lambda (key value update remove)
          (if (= value 1) (remove 'removed) (update 'x value 'updated)))))
    (lambda (new object) (list object (show new)))))
(search 'z)  ; => (inserted ((a . 1) (b . 2) (c . 3) (z . 0)))
(search 'a)  ; => (removed ((b . 2) (c . 3)))
(search 'b)  ; => (updated ((a . 1) (c . 3) (x . 2)))

;; Every association.
(define (odd-value? key value) (odd? value))
(hashmap-count odd-value? m)                                           ; => 2
(hashmap-any? odd-value? m)                                            ; => #t
(hashmap-every? odd-value? m)                                          ; => #f
(hashmap-find (lambda (key value) #f) m (lambda () 'none))             ; => none
(call-with-values
  (lambda () (hashmap-find (lambda (key value) (= value 2)) m (lambda () 'none)))
  list)                                                                ; => (b 2)
(hashmap-fold (lambda (key value sum) (+ value sum)) 0 m)              ; => 6
(let ((n 0)) (hashmap-for-each (lambda (key value) (set! n (+ n value))) m) n)  ; => 6
(call-with-values
  (lambda () (hashmap-entries m))
  (lambda (keys values) (sorted (map cons keys values))))  ; => ((a . 1) (b . 2) (c . 3))
(list-sort < (hashmap-map->list (lambda (key value) (* value 10)) m))  ; => (10 20 30)
(length (hashmap-keys m))                                              ; => 3
(apply + (hashmap-values m))                                           ; => 6

;; Mappings from mappings.
(show (hashmap-map (lambda (key value) (values value key)) default m))
; => ((1 . a) (2 . b) (3 . c))
(show (hashmap-filter odd-value? m))                        ; => ((a . 1) (c . 3))
(show (hashmap-remove odd-value? m))                        ; => ((b . 2))
(show (alist->hashmap default '((2 . x) (1 . y) (2 . z))))  ; => ((1 . y) (2 . x))
(show (alist->hashmap! m '((a . 0) (d . 4))))               ; => ((a . 1) (b . 2) (c . 3) (d . 4))
(show (hashmap-unfold
        (lambda (n) (= n 3))
        (lambda (n) (values n (* n n)))
        (lambda (n) (+ n 1))
        0
        default))                                           ; => ((0 . 0) (1 . 1) (2 . 4))
(show (hashmap-copy m))                                     ; => ((a . 1) (b . 2) (c . 3))
(call-with-values
  (lambda () (hashmap-partition odd-value? m))
  (lambda (in out) (list (show in) (show out))))            ; => (((a . 1) (c . 3)) ((b . 2)))

;; The algebra of mappings.
(define n (hashmap default 'b 'y 'e 'x))
(show (hashmap-union m n))                          ; => ((a . 1) (b . 2) (c . 3) (e . x))
(show (hashmap-intersection m n))                   ; => ((b . 2))
(show (hashmap-difference m n))                     ; => ((a . 1) (c . 3))
(show (hashmap-xor m n))                            ; => ((a . 1) (c . 3) (e . x))
(show (hashmap-union! m n (hashmap default 'o 0)))  ; => ((a . 1) (b . 2) (c . 3) (e . x) (o . 0))
(hashmap-disjoint? m n)                             ; => #f
(hashmap-disjoint? m (hashmap default 'q 1))        ; => #t

;; Comparing.
(define fewer (hashmap-delete m 'a))
(hashmap=? default m (hashmap default 'a 1 'b 2 'c 3))  ; => #t
(hashmap=? default m fewer)                             ; => #f
(hashmap<? default fewer m)                             ; => #t
(hashmap<=? default fewer m m)                          ; => #t
(hashmap>? default m fewer m)                           ; => #f
(hashmap>=? default m m fewer)                          ; => #t
(=? default m (hashmap default 'b 2 'a 1 'c 3))         ; => #t
(= (comparator-hash hashmap-comparator m)
   (comparator-hash (make-hashmap-comparator default) (hashmap default 'b 2 'a 1 'c 3)))  ; => #t
(comparator-ordered? hashmap-comparator)                ; => #f
(comparator? hashmap-comparator)                        ; => #t

;; Keys with the same hash stay distinct.
(define same (make-comparator integer? = #f (lambda (key) 7)))
(define crowded (hashmap same 1 'a 2 'b 3 'c))
(show crowded)                               ; => ((1 . a) (2 . b) (3 . c))
(show (hashmap-delete crowded 2))            ; => ((1 . a) (3 . c))
(show (hashmap-set crowded 2 'x))            ; => ((1 . a) (2 . x) (3 . c))
(show (hashmap-delete crowded 1 2 3))        ; => ()
(hashmap-size (hashmap-delete crowded 9 1))  ; => 2
