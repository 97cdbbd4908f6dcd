;; R7RS 4.3: hygiene of syntax-rules.

(define-syntax loop-until
  (syntax-rules ()
    ((_ id init test return body ...)
     (letrec ((loop (lambda (id) (cond (test return) (else (loop (begin body ...)))))))
       (loop init)))))
(loop-until x 1 (> x 100) x (* x 3))                 ; => 243
(let ((loop 5) (cond 1)) (loop-until y 1 (> y loop) y (+ y cond)))  ; => 6
(let ((if list)) (let-syntax ((pick (syntax-rules () ((_ a b c) (if a b c))))) (pick 1 2 3)))
; => (1 2 3)
(define-syntax while
  (syntax-rules ()
    ((_ condition body ...) (let lp () (when condition body ... (lp))))))
(let ((lp 0)) (while (< lp 5) (set! lp (+ lp 1))) lp)  ; => 5
(define-syntax my-let
  (syntax-rules () ((_ ((n v) ...) . body) ((lambda (n ...) . body) v ...))))
(my-let ((lambda 1) (b 2)) (+ lambda b))             ; => 3
;; A definition made by a macro for its own use is not visible to its user.
(define-syntax define-hidden
  (syntax-rules () ((_ name) (begin (define hidden 42) (define (name) hidden)))))
(define-hidden get-hidden)
(get-hidden)                                         ; => 42
hidden                                               ; raises: undefined-variable
;; Two uses have two such variables.
(define-syntax counter
  (syntax-rules () ((_ next) (begin (define n 0) (define (next) (set! n (+ n 1)) n)))))
(counter first-next)
(counter second-next)
(first-next)                                         ; => 1
(first-next)                                         ; => 2
(second-next)                                        ; => 1
(let () (counter a) (counter b) (list (a) (a) (b)))  ; => (1 2 1)
;; A macro that writes a macro that uses both worlds.
(define-syntax make-adder-macro
  (syntax-rules ()
    ((_ name amount) (define-syntax name (syntax-rules () ((_ x) (let ((t amount)) (+ x t))))))))
(define t 100)
(make-adder-macro add-t t)
(let ((t 1)) (add-t t))                              ; => 101
;; A pattern variable in quoted data is replaced; the rest is the plain symbol.
(define-syntax quoter (syntax-rules () ((_ a) '(a b "a" #(a)))))
(quoter z)                                           ; => (z b "a" #(z))
(eq? 'b (cadr (quoter z)))                           ; => #t
;; Shadowing a keyword with a variable, and a variable with a keyword.
(let ((quote -)) '5)                                 ; => -5
(let ((define 1)) (+ define 1))                      ; => 2
(let ((x 1)) (let-syntax ((x (syntax-rules () ((_ y) 'macro)))) (x 5)))  ; => macro
(define (f when) (when 1))
(f (lambda (x) (+ x 1)))                             ; => 2
;; Literals match by binding, not by name.
(define-syntax is-else (syntax-rules (else) ((_ else) 'yes) ((_ x) 'no)))
(is-else else)                                       ; => yes
(let ((else 1)) (is-else else))                      ; => no
