;; R7RS 4.2.7 to 4.2.9: guard is in 6.11; quasiquotation and case-lambda.
`(list ,(+ 1 2) 4)                                   ; => (list 3 4)
(let ((name 'a)) `(list ,name ',name))               ; => (list a 'a)
`(a ,(+ 1 2) ,@(map abs '(4 -5 6)) b)                ; => (a 3 4 5 6 b)
`((foo ,(- 10 3)) ,@(cdr '(c)) . ,(car '(cons)))     ; => ((foo 7) . cons)
`#(10 5 ,(exact (sqrt 4)) ,@(map (lambda (x) (exact (sqrt x))) '(16 9)) 8)  ; => #(10 5 2 4 3 8)
(let ((foo '(foo bar)) (@baz 'baz)) `(list ,@foo , @baz))  ; => (list foo bar baz)
`(a `(b ,(c ,(+ 1 2))))                              ; => (a `(b ,(c 3)))
`(a `(b ,(foo ,(+ 1 3) d) e) f)                      ; => (a `(b ,(foo 4 d) e) f)
(let ((name1 'x) (name2 'y)) `(a `(b ,,name1 ,',name2 d) e))  ; => (a `(b ,x ,'y d) e)
(let ((xs '(1 2))) `(a `(b ,(c ,@xs))))              ; => (a `(b ,(c 1 2)))
(let ((xs '(x y))) `(a `(b ,@(c ,@xs))))             ; => (a `(b ,@(c x y)))
(let ((xs '(x y))) `(a `(b ,,@xs)))                  ; => (a `(b (unquote x y)))
`,(+ 1 2)                                            ; => 3
(quasiquote (list (unquote (+ 1 2)) 4))              ; => (list 3 4)
'(quasiquote (list (unquote (+ 1 2)) 4))             ; => `(list ,(+ 1 2) 4)
`(1 . ,(+ 1 1))                                      ; => (1 . 2)
`(1 ,@'() . 2)                                       ; => (1 . 2)
`(,@'(1 2) . 3)                                      ; => (1 2 . 3)
`(1 ,@'(2 . 3))                                      ; => (1 2 . 3)
`(,@5)                                               ; => 5
`#(,@'())                                            ; => #()
`#(1 #(,(+ 1 1)))                                    ; => #(1 #(2))
`(1 unquote (list 2 3))                              ; => (1 2 3)
`x                                                   ; => x
`()                                                  ; => ()
`"s"                                                 ; => "s"
`(#u8(1 2) #\a ,#\b)                                 ; => (#u8(1 2) #\a #\b)
(let ((a 1)) `((,a . ,(+ a 1)) (,@(list a a) . x)))  ; => ((1 . 2) (1 1 . x))
;; Several operands, or none, among the elements of a list, as in R6RS.
(let ((x 1)) `((unquote x (+ x 1) x)))               ; => (1 2 1)
(let ((xs '(1 2))) `(0 (unquote-splicing xs '() xs) . 3))  ; => (0 1 2 1 2 . 3)
`(foo (unquote (append '(2) '(3)) (- 9)))            ; => (foo (2 3) -9)
`(1 (unquote) (unquote-splicing) 2)                  ; => (1 2)
`#((unquote 1 2))                                    ; => #(1 2)
(quasiquote (unquote 1 2))                           ; raises: syntax
,x                                                   ; raises: syntax
,@x                                                  ; raises: syntax
;; A shadowed `unquote` is data.
(let ((unquote list)) `(1 ,2))                       ; => (1 ,2)

(define range
  (case-lambda
    ((e) (range 0 e))
    ((b e) (do ((r '() (cons e r)) (e (- e 1) (- e 1))) ((< e b) r)))))
(range 3)                                            ; => (0 1 2)
(range 3 5)                                          ; => (3 4)
(range 1 2 3)                                        ; raises: wrong-arity
(define shape
  (case-lambda (() 'none) ((a) 'one) ((a b . rest) (list 'many rest)) (all all)))
(shape)                                              ; => none
(shape 1)                                            ; => one
(shape 1 2)                                          ; => (many ())
(shape 1 2 3)                                        ; => (many (3))
((case-lambda ((a b) 'two) (rest rest)) 1)           ; => (1)
((case-lambda) 1)                                    ; raises: wrong-arity
