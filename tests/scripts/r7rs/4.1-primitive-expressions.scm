;; R7RS 4.1: variables, literals, calls, procedures, conditionals, assignment.
(define x 28)
x                                      ; => 28
no-such-variable                       ; raises: undefined-variable

;; Literals: quoted data and what quotes itself.
(quote a)                              ; => a
(quote #(a b c))                       ; => #(a b c)
(quote (+ 1 2))                        ; => (+ 1 2)
'a                                     ; => a
'#(a b c)                              ; => #(a b c)
'()                                    ; => ()
'(+ 1 2)                               ; => (+ 1 2)
'(quote a)                             ; => 'a
''a                                    ; => 'a
'145932                                ; => 145932
145932                                 ; => 145932
'"abc"                                 ; => "abc"
"abc"                                  ; => "abc"
'#\a                                   ; => #\a
#\a                                    ; => #\a
'#t                                    ; => #t
#t                                     ; => #t
'#(a 10)                               ; => #(a 10)
#(a 10)                                ; => #(a 10)
'#u8(64 65)                            ; => #u8(64 65)
#u8(64 65)                             ; => #u8(64 65)
#true                                  ; => #t
#false                                 ; => #f

;; Literal constants cannot be changed. Pairs carry no mark for that: changing one is an error
;; that is not reported.
(vector-set! #(1 2) 0 3)               ; raises: immutable
(string-set! "abc" 0 #\x)              ; raises: immutable
(string-set! (symbol->string 'abc) 0 #\x)  ; raises: immutable

;; Calls: operator and operands are expressions alike.
(+ 3 4)                                ; => 7
((if #f + *) 3 4)                      ; => 12
()                                     ; raises: syntax
(1 2)                                  ; raises: not-a-procedure
("text")                               ; raises: not-a-procedure
(+ 1 . (2))                            ; => 3
(+ 1 . 2)                              ; raises: syntax

;; Procedures with fixed, optional and rest parameters.
((lambda (x) (+ x x)) 4)               ; => 8
(define reverse-subtract (lambda (x y) (- y x)))
(reverse-subtract 7 10)                ; => 3
(define add4 (let ((x 4)) (lambda (y) (+ x y))))
(add4 6)                               ; => 10
((lambda x x) 3 4 5 6)                 ; => (3 4 5 6)
((lambda x x))                         ; => ()
((lambda (x y . z) z) 3 4 5 6)         ; => (5 6)
((lambda (x y . z) z) 3 4)             ; => ()
((lambda (x y . z) z) 3)               ; raises: wrong-arity
((lambda (x) x))                       ; raises: wrong-arity
((lambda (x) x) 1 2)                   ; raises: wrong-arity
(lambda (x x) x)                       ; raises: syntax
(lambda (x))                           ; raises: syntax
(lambda)                               ; raises: syntax
(lambda (1) 1)                         ; raises: syntax

;; Conditionals: only #f is false.
(if (> 3 2) 'yes 'no)                  ; => yes
(if (> 2 3) 'yes 'no)                  ; => no
(if (> 3 2) (- 3 2) (+ 3 2))           ; => 1
(if '() 'true 'false)                  ; => true
(if 0 'true 'false)                    ; => true
(if "" 'true 'false)                   ; => true
(if)                                   ; raises: syntax
(if 1 2 3 4)                           ; raises: syntax

;; Assignment needs a definition.
(set! x 4)
(+ x 1)                                ; => 5
(let ((y 2)) (set! y (+ y 3)) y)       ; => 5
(set! never-defined 1)                 ; raises: undefined-variable
(set! "x" 1)                           ; raises: syntax
