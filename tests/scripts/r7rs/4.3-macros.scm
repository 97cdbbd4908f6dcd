;; R7RS 4.3: let-syntax, letrec-syntax, patterns and templates of syntax-rules.
(let-syntax ((given-that (syntax-rules ()
                           ((_ test stmt1 stmt2 ...) (if test (begin stmt1 stmt2 ...))))))
  (let ((if #t)) (given-that if (set! if 'now)) if))  ; => now
(let ((x 'outer))
  (let-syntax ((m (syntax-rules () ((m) x))))
    (let ((x 'inner)) (m))))                         ; => outer
(letrec-syntax
    ((my-or (syntax-rules ()
              ((my-or) #f)
              ((my-or e) e)
              ((my-or e1 e2 ...) (let ((temp e1)) (if temp temp (my-or e2 ...)))))))
  (let ((x #f) (y 7) (temp 8) (let odd?) (if even?))
    (my-or x (let temp) (if y) y)))                  ; => 7

;; Another ellipsis, and an ellipsis that stands for itself.
(define-syntax be-like-begin
  (syntax-rules ()
    ((be-like-begin name)
     (define-syntax name (syntax-rules () ((name expr (... ...)) (begin expr (... ...))))))))
(be-like-begin sequence)
(sequence 1 2 3 4)                                   ; => 4
(define-syntax my-list (syntax-rules ::: () ((_ x :::) (list x ::: '...))))
(my-list 1 2)                                        ; => (1 2 ...)
(let ((=> #f)) (cond (#t => 'ok)))                   ; => ok
(define-syntax ellipsis-literal (syntax-rules (...) ((_ ...) 'dots) ((_ x) 'other)))
(ellipsis-literal ...)                               ; => dots
(ellipsis-literal 5)                                 ; => other
(define-syntax keep (syntax-rules () ((_ x) '(x (... ...)))))
(keep 1)                                             ; => (1 ...)

;; Patterns: dotted tails, vectors, elements after an ellipsis, the underscore, literals, data.
(define-syntax tail (syntax-rules () ((_ a ... b c) '((a ...) b c))))
(tail 1 2)                                           ; => (() 1 2)
(tail 1 2 3 4)                                       ; => ((1 2) 3 4)
(tail 1)                                             ; raises: syntax
(define-syntax dotted (syntax-rules () ((_ a . b) '(a b))))
(dotted 1 2 3)                                       ; => (1 (2 3))
(dotted 1)                                           ; => (1 ())
(dotted 1 . 2)                                       ; => (1 2)
(define-syntax mixed (syntax-rules () ((_ a ... b . c) '((a ...) b c))))
(mixed 1 2 3)                                        ; => ((1 2) 3 ())
(mixed 1 2 . 3)                                      ; => ((1) 2 3)
(define-syntax vectors (syntax-rules () ((_ #(a b ...)) '(a (b ...)))))
(vectors #(1 2 3))                                   ; => (1 (2 3))
(define-syntax to-vector (syntax-rules () ((_ (a b) ...) #((b a) ...))))
(to-vector (1 2) (3 4))                              ; => #((2 1) (4 3))

;; The underscore, data and literals.
(define-syntax second-of (syntax-rules () ((_ _ x _) 'x)))
(second-of 1 2 3)                                    ; => 2
(define-syntax datum?
  (syntax-rules ()
    ((_ 1) 'one)
    ((_ "a") 'string)
    ((_ #\a) 'char)
    ((_ #t) 'true)
    ((_ ()) 'nil)
    ((_ x) 'else)))
(datum? 1)                                           ; => one
(datum? "a")                                         ; => string
(datum? #\a)                                         ; => char
(datum? #t)                                          ; => true
(datum? ())                                          ; => nil
(datum? 2)                                           ; => else
(define-syntax my-for
  (syntax-rules (in) ((_ x in l e) (map (lambda (x) e) l)) ((_ x y l e) 'no-match)))
(my-for x in '(1 2) (* x x))                         ; => (1 4)
(my-for x of '(1 2) (* x x))                         ; => no-match
(let ((in 1)) (my-for x in '(1 2) (* x x)))          ; => no-match

;; Ellipses behind ellipses.
(define-syntax nested (syntax-rules () ((_ ((a b ...) ...) ...) '((a ... ...) (b ... ... ...)))))
(nested ((1 2 3) (4)) ((5 6)))                       ; => ((1 4 5) (2 3 6))
(define-syntax distribute (syntax-rules () ((_ (a b ...) ...) '((a (b a) ...) ...))))
(distribute (x 1 2) (y 3))                           ; => ((x (1 x) (2 x)) (y (3 y)))

;; Uses without a rule, and rules that make no sense.
(define-syntax no-rule (syntax-rules () ((_ a) 'a)))
(no-rule)                                            ; raises: syntax
(no-rule 1 2)                                        ; raises: syntax
(define-syntax bad (syntax-rules () ((_ a ... b ...) 1)))  ; raises: syntax
(define-syntax bad (syntax-rules () ((_ a a) 1)))    ; raises: syntax
(define-syntax bad (syntax-rules () ((_ a ...) a)))  ; raises: syntax
(define-syntax bad 5)                                ; raises: syntax
