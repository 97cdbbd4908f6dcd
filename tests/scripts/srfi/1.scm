;; SRFI 1: lists.
(import (scheme base) (srfi 1))

;; Making lists.
(xcons 1 2)                   ; => (2 . 1)
(cons* 1 2 '(3))              ; => (1 2 3)
(list-tabulate 4 -)           ; => (0 -1 -2 -3)
(iota 3 1)                    ; => (1 2 3)
(take (circular-list 1 2) 5)  ; => (1 2 1 2 1)

;; The three kinds of lists.
(define (kind x) (list (proper-list? x) (circular-list? x) (dotted-list? x)))
(kind '(1 2))                     ; => (#t #f #f)
(kind (circular-list 1))          ; => (#f #t #f)
(kind '(1 . 2))                   ; => (#f #f #t)
(kind '())                        ; => (#t #f #f)
(kind 5)                          ; => (#f #f #t)
(list= eq? '(a b) '(a b) '(a b))  ; => #t
(list= eq? '(a) '(a b))           ; => #f
(list= eq?)                       ; => #t
(null-list? 5)                    ; raises: error

;; Parts of lists.
(first '(1 2 3 4 5 6 7 8 9 10))                              ; => 1
(fifth '(1 2 3 4 5 6))                                       ; => 5
(tenth '(1 2 3 4 5 6 7 8 9 10))                              ; => 10
(take '(a b c) 2)                                            ; => (a b)
(drop '(a b c) 2)                                            ; => (c)
(take-right '(a b c . d) 2)                                  ; => (b c . d)
(drop-right '(a b c . d) 2)                                  ; => (a)
(last '(1 2 3))                                              ; => 3
(call-with-values (lambda () (split-at '(a b c d) 1)) list)  ; => ((a) (b c d))

;; Lengths, and lists of lists.
(length+ '(1 2))                                             ; => 2
(length+ (circular-list 1 2))                                ; => #f
(append-reverse '(3 2 1) '(4))                               ; => (1 2 3 4)
(concatenate '((1) (2 3)))                                   ; => (1 2 3)
(zip '(1 2) '(a b))                                          ; => ((1 a) (2 b))
(call-with-values (lambda () (unzip2 '((1 a) (2 b)))) list)  ; => ((1 2) (a b))
(count even? '(1 2 4))                                       ; => 2
(count < '(1 2 4) '(2 4 3 9))                                ; => 2

;; Folds.
(fold cons* '() '(a b c) '(1 2 3))        ; => (c 3 b 2 a 1)
(fold-right list 'z '(a b) '(1 2))        ; => (a 1 (b 2 z))
(fold + 0 '(1 2 3))                       ; => 6
(reduce max 0 '(1 5 3))                   ; => 5
(reduce + 0 '())                          ; => 0
(reduce-right append '() '((1) (2) (3)))  ; => (1 2 3)
(reduce - 0 '(1 2 4))                     ; => 3

;; Unfolds.
(unfold (lambda (x) (> x 4)) square (lambda (x) (+ x 1)) 1)  ; => (1 4 9 16)
(unfold-right zero? square (lambda (x) (- x 1)) 4)           ; => (1 4 9 16)
(unfold null? car cdr '(1 2) (lambda (x) '(tail)))           ; => (1 2 tail)

;; Procedures that see every pair, or map and join.
(pair-fold cons '() '(a b c))                                  ; => ((c) (b c) (a b c))
(pair-fold-right cons '() '(a b c))                            ; => ((a b c) (b c) (c))
(append-map (lambda (x y) (list x y)) '(1 2) '(a b))           ; => (1 a 2 b)
(filter-map (lambda (x) (and (even? x) (square x))) '(1 2 4))  ; => (4 16)
(let ((seen '())) (pair-for-each (lambda (p) (set! seen (cons p seen))) '(1 2)) seen)
; => ((2) (1 2))

;; Searching.
(call-with-values (lambda () (partition symbol? '(a 1 b))) list)  ; => ((a b) (1))
(find even? '(1 2 3))                                             ; => 2
(find-tail even? '(1 2 3))                                        ; => (2 3)
(find even? '(1))                                                 ; => #f
(any < '(1 5) '(0 9))                                             ; => #t
(every + '(1 2) '(3 4))                                           ; => 6
(list-index = '(1 2) '(3 2))                                      ; => 1
(take-while even? '(2 4 5 6))                                     ; => (2 4)
(drop-while even? '(2 4 5 6))                                     ; => (5 6)
(call-with-values (lambda () (span even? '(2 4 5 6))) list)       ; => ((2 4) (5 6))
(call-with-values (lambda () (break even? '(1 3 4 5))) list)      ; => ((1 3) (4 5))

;; Deleting.
(delete 1 '(1 2 1))               ; => (2)
(delete-duplicates '(a b a c b))  ; => (a b c)
(delete 5 '(3 7) <)               ; => (3)
(delete-duplicates '((a . 3) (b . 7) (a . 9)) (lambda (x y) (eq? (car x) (car y))))
; => ((a . 3) (b . 7))

;; Association lists.
(alist-cons 'a 1 '())                         ; => ((a . 1))
(alist-delete 'a '((a . 1) (b . 2) (a . 3)))  ; => ((b . 2))
(alist-copy '((a . 1)))                       ; => ((a . 1))

;; Lists as sets.
(lset<= eq? '(a) '(a b a) '(a b c c))    ; => #t
(lset= eq? '(b e a) '(a e b e))          ; => #t
(lset-adjoin eq? '(a b) 'c 'a)           ; => (c a b)
(lset-union eq? '(a b c) '(a e i))       ; => (i e a b c)
(lset-intersection eq? '(a b c) '(c a))  ; => (a c)
(lset-difference eq? '(a b c) '(b))      ; => (a c)
(lset-xor eq? '(a b) '(b c))             ; => (c a)
(call-with-values (lambda () (lset-diff+intersection eq? '(a b c) '(b))) list)  ; => ((a c) (b))

;; Objects other than lists are errors.
(fold + 0 5)         ; raises: wrong-type
(fold + 0 '(1 . 2))  ; raises: wrong-type
(reduce + 0 5)       ; raises: wrong-type

;; Procedures of one or more lists refuse none.
(map list)                     ; raises: wrong-arity
(for-each list)                ; raises: wrong-arity
(vector-map list)              ; raises: wrong-arity
(string-map list)              ; raises: wrong-arity
(fold list 0)                  ; raises: wrong-arity
(fold-right list 0)            ; raises: wrong-arity
(any list)                     ; raises: wrong-arity
(every list)                   ; raises: wrong-arity
(count list)                   ; raises: wrong-arity
(list-index list)              ; raises: wrong-arity
(filter-map list)              ; raises: wrong-arity
(append-map list)              ; raises: wrong-arity
(pair-fold list 0)             ; raises: wrong-arity
(pair-fold-right list 0)       ; raises: wrong-arity
(pair-for-each list)           ; raises: wrong-arity

;; Lists of several are walked together, so one of them may be circular, or all if the answer comes.
(any > (circular-list 1) (circular-list 0))            ; => #t
(every > (circular-list 1) (circular-list 1))          ; => #f
(list-index = (circular-list 1 2) (circular-list 3 2)) ; => 1
(list-index = '(1 2) (circular-list 3))                ; => #f
(every + '(1 2) '(3 4) (circular-list 0))              ; => 6
(any + '() (circular-list 1))                          ; => #f
(any (lambda (a b) (> a b)) '(1 . 2) '(2 3))           ; raises: wrong-type
(fold + 0 '(1 . 2) '(1 2))                             ; raises: wrong-type
(take (circular-list 1 2) -1)                          ; raises: out-of-range

;; A procedure that stops reading at something that is no list says so.
(length+ '(1 2 . 3))                   ; raises: wrong-type
(length+ 5)                            ; raises: wrong-type
(length+ (circular-list 1 2))          ; => #f
(length+ '(1 2))                       ; => 2
(take-while even? '(2 . 4))            ; raises: wrong-type
(drop-while even? '(2 . 4))            ; raises: wrong-type
(span even? '(2 . 4))                  ; raises: wrong-type
(break odd? '(2 . 4))                  ; raises: wrong-type
(take-while even? '(2 3 . 4))          ; => (2)
(pair-fold cons 0 '(1 . 2))            ; raises: wrong-type
(pair-fold-right list 0 '(1 . 2))      ; raises: wrong-type
(pair-for-each list '(1 . 2))          ; raises: wrong-type
(reduce-right + 0 5)                   ; raises: wrong-type
;; Numbers of elements are exact and not negative.
(take '(1 2) 1.0)                      ; raises: wrong-type
(take-right '(1 2) 1.0)                ; raises: wrong-type
(drop-right '(1 2) 1.0)                ; raises: wrong-type
(split-at '(1 2) 1.0)                  ; raises: wrong-type
(split-at '(1 2) -1)                   ; raises: out-of-range
(list-tabulate -1 list)                ; raises: out-of-range
(list-tabulate 1/2 list)               ; raises: wrong-type
