;; Hygiene of definitions that macros make, and of local macros.

;; Macros that define macros and variables.
(define-syntax jabberwocky
  (syntax-rules ()
    ((_ hatter)
     (begin
       (define march-hare 42)
       (define-syntax hatter (syntax-rules () ((_) march-hare)))))))
(jabberwocky mad-hatter)
(mad-hatter)                                         ; => 42
(let () (jabberwocky inner) (define march-hare 1) (list (inner) march-hare))  ; => (42 1)
(define-syntax define-pair
  (syntax-rules () ((_ a b v) (begin (define a v) (define b (+ a 1))))))
(let () (define-pair x y 1) (list x y))              ; => (1 2)

;; Macros that make macros with variables of both.
(define-syntax make-binder
  (syntax-rules ()
    ((_ name x)
     (define-syntax name (syntax-rules () ((_ y e) (let ((x 1) (y 2)) (list x y e))))))))
(define x 'top)
(make-binder binder x)
(binder x x)                                         ; => (1 2 2)
(binder y (list x y))                                ; => (1 2 (top 2))
(define-syntax with-x
  (syntax-rules ()
    ((_ f) (letrec-syntax ((f (syntax-rules () ((_) '(f called)) ((_ a) (f))))) (f 1)))))
(with-x anything)                                    ; => (anything called)

;; Scoping of local macros.
(let ((f (lambda (x) (+ x 1))))
  (let-syntax ((f (syntax-rules () ((_ x) x))) (g (syntax-rules () ((_ x) (f x)))))
    (list (f 1) (g 1))))                             ; => (1 2)
(let ((f (lambda (x) (+ x 1))))
  (letrec-syntax ((f (syntax-rules () ((_ x) x))) (g (syntax-rules () ((_ x) (f x)))))
    (list (f 1) (g 1))))                             ; => (1 1)
(let ((x 1))
  (define-syntax y (syntax-rules () ((_) x)))
  (let ((x 2)) (define z (y)) (list x z)))           ; => (2 1)
(let ()
  (define (even-by-macro n) (if (= n 0) #t (odd-by-macro (- n 1))))
  (define-syntax odd-by-macro
    (syntax-rules () ((_ n) (let ((m n)) (if (= m 0) #f (even-by-macro (- m 1)))))))
  (even-by-macro 10))                                ; => #t
