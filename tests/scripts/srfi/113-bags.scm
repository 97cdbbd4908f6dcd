;; SRFI 113: bags.
(import (scheme base) (scheme char) (srfi 113) (srfi 128))
(define default (make-default-comparator))
(define ci (make-comparator string? string-ci=? string-ci<? string-ci-hash))

(define b (bag default 'a 'b 'a))
(bag-size b)              ; => 3
(bag-unique-size b)       ; => 2
(bag-element-count b 'a)  ; => 2
(bag->alist b)            ; => ((a . 2) (b . 1))
(bag->list b)             ; => (a a b)

;; The algebra of bags.
(bag->alist (bag-sum b (bag default 'b)))              ; => ((a . 2) (b . 2))
(bag->alist (bag-union b (bag default 'b 'b)))         ; => ((a . 2) (b . 2))
(bag->alist (bag-intersection b (bag default 'a 'c)))  ; => ((a . 1))
(bag->alist (bag-difference b (bag default 'a 'b)))    ; => ((a . 1))
(bag->alist (bag-product 2 b))                         ; => ((a . 4) (b . 2))

;; Comparing bags.
(bag=? b (bag default 'a 'a 'b))  ; => #t
(bag<=? (bag default 'a) b)       ; => #t

;; Bags and sets.
(bag->alist (bag-delete b 'a 'b))          ; => ((a . 1))
(set->list (bag->set b))                   ; => (a b)
(bag->alist (set->bag (set default 1 2)))  ; => ((1 . 1) (2 . 1))
(define it (bag default 'a 'b 'b))
(bag-product! 3 it)
(set->bag! it (set default 'c))
(bag-element-count it 'b)                  ; => 6
(bag-element-count it 'c)                  ; => 1
(bag-size (bag-product! 0 it))             ; => 0

;; Linear updates.
(bag->alist (bag-xor b (bag default 'a 'c)))                     ; => ((a . 1) (b . 1) (c . 1))
(bag->alist (bag-filter! symbol? (bag-copy b)))                  ; => ((a . 2) (b . 1))
(bag->alist (bag-remove! (lambda (e) (eq? e 'a)) (bag-copy b)))  ; => ((b . 1))
(bag->alist (bag-union! (bag-copy b) (bag default 'b 'b)))       ; => ((a . 2) (b . 2))
(bag->alist (bag-intersection! (bag-copy b) (bag default 'a)))   ; => ((a . 1))
(bag->alist (bag-difference! (bag-copy b) (bag default 'a)))     ; => ((a . 1) (b . 1))
(bag->alist (bag-xor! (bag-copy b) (bag default 'a 'c)))         ; => ((a . 1) (b . 1) (c . 1))
(call-with-values
  (lambda () (bag-partition! (lambda (e) (eq? e 'a)) (bag-copy b)))
  (lambda (in out) (list (bag->alist in) (bag->alist out))))     ; => (((a . 2)) ((b . 1)))

;; Elements that are equal but not the same.
(define texts (bag ci "a" "A" "b"))
(bag->list (bag-replace texts "A"))                               ; => ("b" "A" "A")
(bag->list (bag-replace! (bag ci "x") "y"))                       ; => ("x")
(bag-find (lambda (e) (string=? e "b")) texts (lambda () 'none))  ; => "b"
(bag-find symbol? texts (lambda () 'none))                        ; => none

;; A search may insert, remove or update.
(define (search element)
  (call-with-values
    (lambda ()
      (bag-search! (bag-copy b) element
        (lambda (insert ignore) (insert 'added))
        (lambda (e update remove) (if (eq? e 'a) (remove 'removed) (update 'z 'updated)))))
    (lambda (bag object) (list object (bag->alist bag)))))
(search 'a)  ; => (removed ((a . 1) (b . 1)))
(search 'b)  ; => (updated ((a . 2) (z . 1)))
(search 'c)  ; => (added ((a . 2) (b . 1) (c . 1)))

;; Proper parts.
(bag<? (bag default 'a) b)                ; => #t
(bag<? b (bag-copy b))                    ; => #f
(bag>? b (bag default 'a))                ; => #t
(bag>=? b (bag-copy b) (bag default 'b))  ; => #t
(bag>=? (bag default 'a) b)               ; => #f

;; The comparator of an unfold comes last; first is understood too.
(set->list (set-unfold (lambda (n) (= n 3)) square (lambda (n) (+ n 1)) 0 default))  ; => (0 1 4)
(bag->list (bag-unfold zero? even? (lambda (n) (- n 1)) 3 default))  ; => (#f #f #t)

;; Sets and bags of different comparators do not mix.
(set-union (set default 1) (set ci "a"))  ; raises: error
(bag<=? (bag default 1) (bag ci "a"))     ; raises: error

;; With one argument, a linear operation answers that argument and a pure one a copy.
(bag-adjoin! (bag-union b) 'z)
(bag->alist b)                               ; => ((a . 2) (b . 1))
(bag->alist (bag-union! (bag-copy b)))       ; => ((a . 2) (b . 1))
(bag->alist (bag-difference! (bag-copy b)))  ; => ((a . 2) (b . 1))
(bag->alist (bag-sum (bag-copy b)))          ; => ((a . 2) (b . 1))
