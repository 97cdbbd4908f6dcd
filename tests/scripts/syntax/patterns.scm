;; Patterns and templates of syntax-rules.

;; Ellipses and underscores in every place the report allows.
(define-syntax part-2
  (syntax-rules ()
    ((_ a b (m n) ... x y) (vector (list a b) (list m ...) (list n ...) (list x y)))
    ((_ . rest) 'error)))
(part-2 1 2 (3 4) (5 6) 7 8)                         ; => #((1 2) (3 5) (4 6) (7 8))
(part-2 1 2 3)                                       ; => error
(define-syntax tail-literal
  (syntax-rules (end)
    ((_ a ... end) '(closed a ...))
    ((_ a ... . end) '(dotted a ...))
    ((_ a ...) '(open a ...))))
(tail-literal 1 2 end)                               ; => (closed 1 2)
(tail-literal 1 2 . end)                             ; => (dotted 1 2)
(tail-literal 1 2)                                   ; => (open 1 2)

;; Ellipses that stand for themselves.
(define-syntax literal-dots (syntax-rules ... (...) ((_ x) '(x ...))))
(literal-dots 100)                                   ; => (100 ...)
(define-syntax escapes
  (syntax-rules ()
    ((_) '(... ...))
    ((_ x) '(... (x ...)))
    ((_ x y) '(... (... x y)))))
(escapes)                                            ; => ...
(escapes 100)                                        ; => (100 ...)
(escapes 100 200)                                    ; => (... 100 200)

;; Underscores.
(define-syntax underscore (syntax-rules () ((_ _) '_)))
(underscore foo)                                     ; => _
(define-syntax count-to-2 (syntax-rules () ((_) 0) ((_ _) 1) ((_ _ _) 2) ((_ . _) 'many)))
(count-to-2)                                         ; => 0
(count-to-2 a)                                       ; => 1
(count-to-2 a b)                                     ; => 2
(count-to-2 a b c d)                                 ; => many
(define-syntax literal-underscore (syntax-rules (_) ((m _) 'under) ((m x) 'other)))
(literal-underscore _)                               ; => under
(literal-underscore 2)                               ; => other

;; An ellipsis of another name, and in vectors.
(define-syntax other-dots
  (syntax-rules ooo () ((_ (a b ooo) ooo) '((b ooo a) ooo))))
(other-dots (1 2 3) (4))                             ; => ((2 3 1) (4))
(define-syntax vector-tail (syntax-rules () ((_ #(a b ... c) ...) '((a c b ...) ...))))
(vector-tail #(1 2 3 4) #(5 6))                      ; => ((1 4 2 3) (5 6))

;; Wrong depths.
(define-syntax too-shallow (syntax-rules () ((_ (a ...) ...) '(a ...))))  ; raises: syntax
(define-syntax too-deep (syntax-rules () ((_ a ...) '((a ...) ...))))  ; raises: syntax
(define-syntax nothing-before (syntax-rules () ((_ a) '(... a b c ...))))  ; raises: syntax
(define-syntax uneven (syntax-rules () ((_ (a ...) (b ...)) '((a b) ...))))
(uneven (1 2) (3 4))                                 ; => ((1 3) (2 4))
(uneven (1 2) (3))                                   ; raises: syntax
