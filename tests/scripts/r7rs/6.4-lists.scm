;; R7RS 6.4: pairs and lists.
(define x (list 'a 'b 'c))
(define y x)
(list? y)                                            ; => #t
(set-cdr! x 4)
x                                                    ; => (a . 4)
(eqv? x y)                                           ; => #t
(list? y)                                            ; => #f
(set-cdr! x x)
(list? x)                                            ; => #f

;; Pairs.
(pair? '(a . b))                                     ; => #t
(pair? '())                                          ; => #f
(pair? '#(a b))                                      ; => #f
(cons 'a '())                                        ; => (a)
(cons '(a) '(b c d))                                 ; => ((a) b c d)
(cons "a" '(b c))                                    ; => ("a" b c)
(cons 'a 3)                                          ; => (a . 3)
(car '((a) b c d))                                   ; => (a)
(car '(1 . 2))                                       ; => 1
(car '())                                            ; raises: wrong-type
(cdr '((a) b c d))                                   ; => (b c d)
(cdr '())                                            ; raises: wrong-type
(set-car! 1 2)                                       ; raises: wrong-type
(cadr '(1))                                          ; raises: wrong-type

;; Compositions of car and cdr.
(caar '((1) 2))                                      ; => 1
(cadr '(1 2))                                        ; => 2
(cdar '((1 . 3) 2))                                  ; => 3
(cddr '(1 2 . 4))                                    ; => 4
(caddr '(1 2 3))                                     ; => 3
(cdddr '(1 2 3))                                     ; => ()
(cadddr '(1 2 3 4))                                  ; => 4
(cddddr '(1 2 3 4))                                  ; => ()
(caadar '((1 (2))))                                  ; => 2

;; Lists, their making and their length.
(null? '())                                          ; => #t
(null? '(1))                                         ; => #f
(list? '(a b c))                                     ; => #t
(list? '())                                          ; => #t
(list? '(a . b))                                     ; => #f
(make-list 2 3)                                      ; => (3 3)
(make-list 0)                                        ; => ()
(length (make-list 5))                               ; => 5
(make-list -1)                                       ; raises: out-of-range
(list 'a (+ 3 4) 'c)                                 ; => (a 7 c)
(list)                                               ; => ()
(length '(a b c))                                    ; => 3
(length '(a (b) (c d e)))                            ; => 3
(length '())                                         ; => 0
(length '(1 . 2))                                    ; raises: wrong-type
(length x)                                           ; raises: wrong-type
(length 5)                                           ; raises: wrong-type

;; Appending and reversing.
(append '(x) '(y))                                   ; => (x y)
(append '(a) '(b c d))                               ; => (a b c d)
(append '(a (b)) '((c)))                             ; => (a (b) (c))
(append '(a b) '(c . d))                             ; => (a b c . d)
(append '() 'a)                                      ; => a
(append)                                             ; => ()
(append '(1))                                        ; => (1)
(append '(1 . 2) '(3))                               ; raises: wrong-type
(let ((tail '(3))) (eq? tail (cddr (append '(1 2) tail))))  ; => #t
(reverse '(a b c))                                   ; => (c b a)
(reverse '(a (b c) d (e (f))))                       ; => ((e (f)) d (b c) a)
(reverse 'a)                                         ; raises: wrong-type

;; Elements by number.
(list-tail '(a b c d) 2)                             ; => (c d)
(list-tail '(a b) 2)                                 ; => ()
(list-tail '(a b . c) 2)                             ; => c
(list-tail '(a b) 3)                                 ; raises: out-of-range
(list-ref '(a b c d) 2)                              ; => c
(list-ref '(a b c d) (exact (round 1.8)))            ; => c
(list-ref '(a) 1)                                    ; raises: out-of-range
(list-ref '(a) -1)                                   ; raises: out-of-range
(let ((ls (list 'one 'two 'five!))) (list-set! ls 2 'three) ls)  ; => (one two three)

;; Searching.
(memq 'c '(a b c d e))                               ; => (c d e)
(memq (list 'a) '(b (a) c))                          ; => #f
(member (list 'a) '(b (a) c))                        ; => ((a) c)
(member "B" '("a" "b" "c") string-ci=?)              ; => ("b" "c")
(memv 101 '(100 101 102))                            ; => (101 102)
(memv 1.0 '(1 1.0))                                  ; => (1.0)
(member 2.0 '(1 2 3) =)                              ; => (2 3)
(member 1 '(2 . 3))                                  ; raises: wrong-type

;; Association lists.
(assq 'b '((a 1) (b 2) (c 3)))                       ; => (b 2)
(assq 'd '((a 1)))                                   ; => #f
(assq (list 'a) '(((a)) ((b)) ((c))))                ; => #f
(assoc (list 'a) '(((a)) ((b)) ((c))))               ; => ((a))
(assoc 2.0 '((1 1) (2 4) (3 9)) =)                   ; => (2 4)
(assv 5 '((2 3) (5 7) (11 13)))                      ; => (5 7)
(assq 'a '(1))                                       ; raises: wrong-type

;; Copying.
(let* ((a '(1 8 2 8)) (b (list-copy a))) (set-car! b 3) (list a b))  ; => ((1 8 2 8) (3 8 2 8))
(list-copy '(1 2 . 3))                               ; => (1 2 . 3)
(list-copy 5)                                        ; => 5

;; Long lists and deep ones.
(define (iota-list n) (let loop ((i (- n 1)) (r '())) (if (< i 0) r (loop (- i 1) (cons i r)))))
(length (iota-list 300000))                          ; => 300000
(length (map (lambda (x) (* x x)) (iota-list 300000)))  ; => 300000
;; A call has 32768 arguments at most.
(apply + (iota-list 32768))                          ; => 536854528
(apply + (iota-list 32769))                          ; raises: too-many-arguments
(length (append (iota-list 200000) (iota-list 200000)))  ; => 400000
(car (reverse (iota-list 300000)))                   ; => 299999
(vector-length (list->vector (iota-list 300000)))    ; => 300000
