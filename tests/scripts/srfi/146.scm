;; SRFI 146: mappings in the order of their keys.
(import (scheme base) (srfi 128) (srfi 146))
(define numbers (make-comparator exact-integer? = < values))
(define default (make-default-comparator))
(define m (mapping numbers 3 'c 1 'a 2 'b 1 'z))

;; Asking.
(mapping->alist m)                           ; => ((1 . a) (2 . b) (3 . c))
(mapping? m)                                 ; => #t
(mapping? 1)                                 ; => #f
(mapping-size m)                             ; => 3
(mapping-empty? m)                           ; => #f
(mapping-contains? m 2)                      ; => #t
(mapping-contains? m 9)                      ; => #f
(eq? (mapping-key-comparator m) numbers)     ; => #t
(mapping-ref m 2)                            ; => b
(mapping-ref m 9 (lambda () 'none))          ; => none
(mapping-ref m 2 (lambda () 'none) list)     ; => (b)
(mapping-ref/default m 9 0)                  ; => 0
(mapping-ref m 9)                            ; raises: error
(mapping numbers 1)                          ; raises: error
(mapping (make-comparator number? = #f #f))  ; raises: error

;; Updates make new mappings.
(mapping->alist (mapping-adjoin m 1 'x 4 'd))               ; => ((1 . a) (2 . b) (3 . c) (4 . d))
(mapping->alist (mapping-set! m 1 'x))                      ; => ((1 . x) (2 . b) (3 . c))
(mapping->alist (mapping-replace m 9 'x))                   ; => ((1 . a) (2 . b) (3 . c))
(mapping->alist (mapping-replace m 1 'x))                   ; => ((1 . x) (2 . b) (3 . c))
(mapping->alist (mapping-delete m 1 2 9))                   ; => ((3 . c))
(mapping->alist (mapping-delete-all m '(3)))                ; => ((1 . a) (2 . b))
(call-with-values
  (lambda () (mapping-intern m 4 (lambda () 'd)))
  (lambda (new value) (list (mapping-size new) value (mapping-size m))))  ; => (4 d 3)
(mapping-ref (mapping-update m 1 list) 1)                   ; => (a)
(mapping-ref (mapping-update m 9 list (lambda () 'new)) 9)  ; => (new)
(mapping-ref (mapping-update/default m 9 list 'd) 9)        ; => (d)
(mapping-update m 9 list)                                   ; raises: error

;; Taking one association out.
(call-with-values
  (lambda () (mapping-pop m))
  (lambda (rest key value) (list (mapping->alist rest) key value)))  ; => (((2 . b) (3 . c)) 1 a)
(mapping-pop (mapping numbers) (lambda () 'empty))  ; => empty

;; A search may insert, remove or update.
(define (search key)
  (call-with-values
    (lambda ()
      (mapping-search m key
        (lambda (insert ignore) (insert 'new 'inserted))
        (lambda (key value update remove)
          (if (= key 1) (remove 'removed) (update key 'changed 'updated)))))
    (lambda (new object) (list object (mapping->alist new)))))
(search 0)  ; => (inserted ((0 . new) (1 . a) (2 . b) (3 . c)))
(search 1)  ; => (removed ((2 . b) (3 . c)))
(search 2)  ; => (updated ((1 . a) (2 . changed) (3 . c)))

;; Every association, in the order of the keys.
(define (odd-key? key value) (odd? key))
(mapping-keys m)                                                      ; => (1 2 3)
(mapping-values m)                                                    ; => (a b c)
(mapping-count odd-key? m)                                            ; => 2
(mapping-any? odd-key? m)                                             ; => #t
(mapping-every? odd-key? m)                                           ; => #f
(call-with-values (lambda () (mapping-find odd-key? m (lambda () 'none))) list)  ; => (1 a)
(mapping-find (lambda (k v) #f) m (lambda () 'none))                  ; => none
(call-with-values (lambda () (mapping-entries m)) list)               ; => ((1 2 3) (a b c))
(mapping->alist (mapping-map (lambda (key value) (values (- key) value)) numbers m))
; => ((-3 . c) (-2 . b) (-1 . a))
(mapping-map->list list m)                                            ; => ((1 a) (2 b) (3 c))
(mapping-fold (lambda (k v all) (cons k all)) '() m)                  ; => (3 2 1)
(mapping-fold/reverse (lambda (k v all) (cons k all)) '() m)          ; => (1 2 3)
(let ((n 0)) (mapping-for-each (lambda (k v) (set! n (+ n k))) m) n)  ; => 6

;; Mappings from mappings.
(mapping->alist (mapping-filter odd-key? m))                          ; => ((1 . a) (3 . c))
(mapping->alist (mapping-remove odd-key? m))                          ; => ((2 . b))
(mapping->alist (alist->mapping numbers '((2 . x) (1 . y) (2 . z))))  ; => ((1 . y) (2 . x))
(mapping->alist (mapping-unfold
                  (lambda (n) (= n 3))
                  (lambda (n) (values n (* n n)))
                  (lambda (n) (+ n 1))
                  0
                  numbers))                                           ; => ((0 . 0) (1 . 1) (2 . 4))
(mapping->alist (mapping-copy m))                                     ; => ((1 . a) (2 . b) (3 . c))

;; The algebra of mappings.
(define n (mapping numbers 2 'y 5 'e))
(mapping->alist (mapping-union m n))         ; => ((1 . a) (2 . b) (3 . c) (5 . e))
(mapping->alist (mapping-intersection m n))  ; => ((2 . b))
(mapping->alist (mapping-difference m n))    ; => ((1 . a) (3 . c))
(mapping->alist (mapping-xor m n))           ; => ((1 . a) (3 . c) (5 . e))
(mapping->alist (mapping-union m n (mapping numbers 0 'o)))
; => ((0 . o) (1 . a) (2 . b) (3 . c) (5 . e))
(mapping-disjoint? m n)                      ; => #f

;; Comparing.
(mapping=? default m (mapping-copy m) m)                ; => #t
(mapping<? default (mapping-delete m 1) m)              ; => #t
(mapping<=? default m m)                                ; => #t
(mapping>? default m m)                                 ; => #f
(mapping>=? default m (mapping-filter odd-key? m))      ; => #t
(mapping=? default m (mapping default 1 'a 2 'b 3 'c))  ; => #f

;; First and last, before and after.
(mapping-min-key m)                                        ; => 1
(mapping-max-key m)                                        ; => 3
(mapping-min-value m)                                      ; => a
(mapping-max-value m)                                      ; => c
(call-with-values (lambda () (mapping-min-entry m)) list)  ; => (1 a)
(call-with-values (lambda () (mapping-max-entry m)) list)  ; => (3 c)
(mapping-key-predecessor m 2 (lambda () 'none))            ; => 1
(mapping-key-successor m 3 (lambda () 'none))              ; => none
(mapping-min-key (mapping numbers))                        ; raises: error

;; Ranges of keys.
(call-with-values
  (lambda () (mapping-split m 2))
  (lambda (below to at from above)
    (list (mapping->alist below) (mapping->alist to) (mapping->alist at)
          (mapping->alist from) (mapping->alist above))))
; => (((1 . a)) ((1 . a) (2 . b)) ((2 . b)) ((2 . b) (3 . c)) ((3 . c)))
(mapping->alist (mapping-range<= m 0))  ; => ()
(mapping->alist (mapping-range>= m 3))  ; => ((3 . c))
(mapping->alist (mapping-catenate numbers (mapping numbers 1 'a) 2 'b (mapping numbers 3 'c)))
; => ((1 . a) (2 . b) (3 . c))

;; Mappings are ordered and hashed themselves.
(=? mapping-comparator m m)  ; => #t
(<? mapping-comparator m n)  ; => #t
(<? default n m)             ; => #f
(= (comparator-hash mapping-comparator m) (comparator-hash mapping-comparator (mapping-copy m)))
; => #t

;; Large ones stay balanced, however they were made.
(define (chain count)
  (mapping-unfold
    (lambda (n) (= n count))
    (lambda (n) (values n n))
    (lambda (n) (+ n 1))
    0
    numbers))
(define large (chain 5000))
(define odd (mapping-filter odd-key? large))
(define even (mapping-difference large odd))
(mapping-size odd)                                            ; => 2500
(mapping=? default large (mapping-union even odd))            ; => #t
(mapping-size (mapping-range< large 1234))                    ; => 1234
(mapping-ref large 4999)                                      ; => 4999
(mapping-size (mapping-delete-all large (mapping-keys odd)))  ; => 2500

;; Objects without an order are errors.
(<? default (lambda () 1) (lambda () 2))  ; raises: error

;; Errors name the procedure that was called.
(define-syntax told
  (syntax-rules () ((_ e) (guard (c (#t (error-object-message c))) e))))
(told (mapping numbers 1))          ; => "mapping: the last key has no value"
(told (mapping/ordered numbers 1))  ; => "mapping/ordered: the last key has no value"
(told (mapping-adjoin m 1))         ; => "mapping-adjoin: the last key has no value"
(told (mapping-set m 1))            ; => "mapping-set: the last key has no value"
