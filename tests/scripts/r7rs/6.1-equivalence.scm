;; R7RS 6.1: eqv?, eq?, equal?.
(eqv? 'a 'a)                                         ; => #t
(eqv? 'a 'b)                                         ; => #f
(eqv? 2 2)                                           ; => #t
(eqv? 2 2.0)                                         ; => #f
(eqv? '() '())                                       ; => #t
(eqv? 100000000 100000000)                           ; => #t
(eqv? 100000000000000000000 100000000000000000000)   ; => #t
(eqv? 1/2 2/4)                                       ; => #t
(eqv? 0.0 +nan.0)                                    ; => #f
(eqv? +nan.0 +nan.0)                                 ; => #t
(eqv? 0.0 -0.0)                                      ; => #f
(= 0.0 -0.0)                                         ; => #t
(eqv? 1.5 1.5)                                       ; => #t

;; Objects with a location of their own.
(eqv? (cons 1 2) (cons 1 2))                         ; => #f
(eqv? (lambda () 1) (lambda () 2))                   ; => #f
(let ((p (lambda (x) x))) (eqv? p p))                ; => #t
(eqv? #f 'nil)                                       ; => #f
(eqv? #f '())                                        ; => #f
(eqv? "" #\a)                                        ; => #f
(eqv? #\a #\a)                                       ; => #t
(eqv? (string #\a) (string #\a))                     ; => #f
(define gen-counter (lambda () (let ((n 0)) (lambda () (set! n (+ n 1)) n))))
(let ((g (gen-counter))) (eqv? g g))                 ; => #t
(eqv? (gen-counter) (gen-counter))                   ; => #f
(letrec ((f (lambda () (if (eqv? f g) 'f 'both))) (g (lambda () (if (eqv? f g) 'g 'both))))
  (eqv? f g))                                        ; => #f
(let ((x '(a))) (eqv? x x))                          ; => #t
(eqv? car car)                                       ; => #t

;; `eq?` may see more differences.
(eq? 'a 'a)                                          ; => #t
(eq? (list 'a) (list 'a))                            ; => #f
(eq? '() '())                                        ; => #t
(eq? car car)                                        ; => #t
(let ((x '#())) (eq? x x))                           ; => #t
(let ((p (lambda (x) x))) (eq? p p))                 ; => #t
(eq? (string->symbol "abc") 'abc)                    ; => #t
(eq? #t #t)                                          ; => #t
(eq? (eof-object) (eof-object))                      ; => #t

;; `equal?` looks at contents, circular ones too.
(equal? 'a 'a)                                       ; => #t
(equal? '(a) '(a))                                   ; => #t
(equal? '(a (b) c) '(a (b) c))                       ; => #t
(equal? "abc" "abc")                                 ; => #t
(equal? 2 2)                                         ; => #t
(equal? 2 2.0)                                       ; => #f
(equal? (make-vector 5 'a) (make-vector 5 'a))       ; => #t
(equal? '#1=(a b . #1#) '#2=(a b a b . #2#))         ; => #t
(equal? '#1=(a b . #1#) '#2=(a b a c . #2#))         ; => #f
(equal? (lambda (x) x) (lambda (y) y))               ; => #f
(equal? #u8(1 2) (bytevector 1 2))                   ; => #t
(equal? #u8(1 2) #(1 2))                             ; => #f
(equal? "a" 'a)                                      ; => #f
(equal? '(1 . 2) '(1 2))                             ; => #f
(equal? +nan.0 +nan.0)                               ; => #t
(let ((a (vector 1 #f)) (b (vector 1 #f)))
  (vector-set! a 1 a)
  (vector-set! b 1 b)
  (equal? a b))                                      ; => #t
;; Depth costs no stack.
(define (nest n) (let loop ((n n) (r '())) (if (= n 0) r (loop (- n 1) (list r)))))
(equal? (nest 200000) (nest 200000))                 ; => #t
(equal? (make-list 100000 1) (make-list 100000 1))   ; => #t
