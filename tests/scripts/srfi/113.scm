;; SRFI 113: sets and bags.
(import (scheme base) (scheme char) (srfi 113) (srfi 128))
(define default (make-default-comparator))
(define (of . elements) (list->set default elements))

;; Making sets and asking about them.
(set->list (of 1 2 1))         ; => (1 2)
(set-size (of 'a 'b))          ; => 2
(set-contains? (of 1) 1)       ; => #t
(set-empty? (of))              ; => #t
(set-disjoint? (of 1) (of 2))  ; => #t
(set? (of))                    ; => #t
(set? '())                     ; => #f

;; The algebra of sets.
(set->list (set-union (of 1 2) (of 2 3)))         ; => (1 2 3)
(set->list (set-intersection (of 1 2) (of 2 3)))  ; => (2)
(set->list (set-difference (of 1 2) (of 2 3)))    ; => (1)
(set->list (set-xor (of 1 2) (of 2 3)))           ; => (1 3)

;; Comparing sets.
(set=? (of 1 2) (of 2 1))      ; => #t
(set<? (of 1) (of 1 2))        ; => #t
(set<=? (of 1) (of 1))         ; => #t
(set>? (of 1) (of 1))          ; => #f
(set>=? (of 1 2) (of 1) (of))  ; => #t

;; An update returns another set; a linear one may change its argument.
(define s (of 1 2 3))
(define larger (set-adjoin s 4))
(define smaller (set-delete s 1))
(set-adjoin! s 9)
(set->list s)        ; => (1 2 3 9)
(set->list larger)   ; => (1 2 3 4)
(set->list smaller)  ; => (2 3)

;; The comparator of a set says which elements are equal, and which objects may be elements.
(define ci (make-comparator string? string-ci=? string-ci<? string-ci-hash))
(set->list (set ci "a" "A" "b"))                ; => ("a" "b")
(set-member (set ci "Ada") "ADA" #f)            ; => "Ada"
(set->list (set-replace (set ci "Ada") "ADA"))  ; => ("ADA")
(set ci 5)                                      ; raises: error

;; Sets as wholes.
(set-count even? (of 1 2 4))              ; => 2
(set-any? even? (of 1))                   ; => #f
(set-every? odd? (of 1 3))                ; => #t
(set-fold + 0 (of 1 2 3))                 ; => 6
(set-find even? (of 1 2) (lambda () #f))  ; => 2
(set->list (set-map default - (of 1 2)))  ; => (-1 -2)
(call-with-values
  (lambda () (set-partition even? (of 1 2 3)))
  (lambda (a b) (list (set->list a) (set->list b))))  ; => ((2) (1 3))
(call-with-values
  (lambda ()
    (set-search! (of 1) 2
      (lambda (insert ignore) (insert 'added))
      (lambda (e update remove) (remove 'gone))))
  (lambda (s o) (list (set->list s) o)))  ; => ((1 2) added)
(set->list (set-unfold default (lambda (n) (= n 3)) square (lambda (n) (+ n 1)) 0))  ; => (0 1 4)

;; Sets of sets.
(set-size (list->set set-comparator (list (of 1 2) (of 2 1) (of 3))))  ; => 2
