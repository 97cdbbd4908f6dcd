;; R7RS 4.3: let-syntax, letrec-syntax, syntax-rules, syntax-error.
(let-syntax ((given-that (syntax-rules () ((_ test stmt1 stmt2 ...) (if test (begin stmt1 stmt2 ...))))))
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
(define-syntax second-of (syntax-rules () ((_ _ x _) 'x)))
(second-of 1 2 3)                                    ; => 2
(define-syntax datum? (syntax-rules () ((_ 1) 'one) ((_ "a") 'string) ((_ #\a) 'char) ((_ #t) 'true) ((_ ()) 'nil) ((_ x) 'else)))
(list (datum? 1) (datum? "a") (datum? #\a) (datum? #t) (datum? ()) (datum? 2))  ; => (one string char true nil else)
(define-syntax my-for (syntax-rules (in) ((_ x in l e) (map (lambda (x) e) l)) ((_ x y l e) 'no-match)))
(my-for x in '(1 2) (* x x))                         ; => (1 4)
(my-for x of '(1 2) (* x x))                         ; => no-match
(let ((in 1)) (my-for x in '(1 2) (* x x)))          ; => no-match
(define-syntax nested (syntax-rules () ((_ ((a b ...) ...) ...) '((a ... ...) (b ... ... ...)))))
(nested ((1 2 3) (4)) ((5 6)))                       ; => ((1 4 5) (2 3 6))
(define-syntax distribute (syntax-rules () ((_ (a b ...) ...) '((a (b a) ...) ...))))
(distribute (x 1 2) (y 3))                           ; => ((x (1 x) (2 x)) (y (3 y)))
(define-syntax no-rule (syntax-rules () ((_ a) 'a)))
(no-rule)                                            ; raises: syntax
(no-rule 1 2)                                        ; raises: syntax
(define-syntax bad (syntax-rules () ((_ a ... b ...) 1)))  ; raises: syntax
(define-syntax bad (syntax-rules () ((_ a a) 1)))    ; raises: syntax
(define-syntax bad (syntax-rules () ((_ a ...) a)))  ; raises: syntax
(define-syntax bad 5)                                ; raises: syntax

;; Hygiene.
(define-syntax loop-until
  (syntax-rules ()
    ((_ id init test return body ...)
     (letrec ((loop (lambda (id) (cond (test return) (else (loop (begin body ...))))))) (loop init)))))
(loop-until x 1 (> x 100) x (* x 3))                 ; => 243
(let ((loop 5) (cond 1)) (loop-until y 1 (> y loop) y (+ y cond)))  ; => 6
(let ((if list)) (let-syntax ((pick (syntax-rules () ((_ a b c) (if a b c))))) (pick 1 2 3)))  ; => (1 2 3)
(define-syntax while
  (syntax-rules ()
    ((_ condition body ...) (let lp () (when condition body ... (lp))))))
(let ((lp 0)) (while (< lp 5) (set! lp (+ lp 1))) lp)  ; => 5
(define-syntax my-let
  (syntax-rules () ((_ ((n v) ...) . body) ((lambda (n ...) . body) v ...))))
(my-let ((lambda 1) (b 2)) (+ lambda b))             ; => 3
;; A definition made by a macro for its own use is not visible to its user.
(define-syntax define-hidden (syntax-rules () ((_ name) (begin (define hidden 42) (define (name) hidden)))))
(define-hidden get-hidden)
(get-hidden)                                         ; => 42
hidden                                               ; raises: undefined-variable
;; Two uses have two such variables.
(define-syntax counter (syntax-rules () ((_ next) (begin (define n 0) (define (next) (set! n (+ n 1)) n)))))
(counter first-next)
(counter second-next)
(list (first-next) (first-next) (second-next))       ; => (1 2 1)
(let () (counter a) (counter b) (list (a) (a) (b)))  ; => (1 2 1)
;; A macro that writes a macro that uses both worlds.
(define-syntax make-adder-macro
  (syntax-rules () ((_ name amount) (define-syntax name (syntax-rules () ((_ x) (let ((t amount)) (+ x t))))))))
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
(list (is-else else) (let ((else 1)) (is-else else)))  ; => (yes no)
;; Internal definitions may come from macros, and macros may be internal.
(let ()
  (define-syntax def (syntax-rules () ((_ n v) (define n v))))
  (def a 1)
  (def b (+ a 1))
  (list a b))                                        ; => (1 2)
(let ((x 1))
  (define-syntax get (syntax-rules () ((_) x)))
  (define x 5)
  (get))                                             ; => 5
;; let-syntax opens a scope.
(let ((x 1)) (let-syntax () (define x 2) x) x)       ; => 1
;; … unless there is nothing but definitions in it, which would be no body: then they are those of the surrounding one, as in R6RS.
(let ()
  (let-syntax ((def (syntax-rules () ((_ stuff ...) (define stuff ...)))))
    (def foo 42))
  foo)                                               ; => 42
(let ((x 1))
  (letrec-syntax ((both (syntax-rules () ((_ a b e) (begin (define a e) (one b a)))))
                  (one (syntax-rules () ((_ b e) (define (b) e)))))
    (begin (both x y 7))
    (define-values (z) 8))
  (list x (y) z))                                    ; => (7 7 8)
(let () (let-syntax ()) 5)                           ; => 5
(let-syntax ((twice (syntax-rules () ((_ x) (* 2 x)))))
  (define (doubled n) (twice n))
  (define-record-type point (make-point a) point? (a point-a)))
(list (doubled 4) (point-a (make-point 3)))          ; => (8 3)
(let-syntax ((hidden (syntax-rules () ((_) 1)))) (define (uses-hidden) (hidden)))
(uses-hidden)                                        ; => 1
(hidden)                                             ; raises: undefined-variable
(let () (let-syntax ((m (syntax-rules () ((_) (begin (define t 1) (define u t)))))) (m)) 3)  ; => 3
(let ((x 1)) (let-syntax ((foo (syntax-rules () ((_) 2)))) (define x (foo)) 3) x)  ; => 1
(list (let-syntax () (define x 1)))                  ; raises: syntax
;; A keyword is no expression.
if                                                   ; raises: syntax
(list when)                                          ; raises: syntax
(set! if 1)                                          ; raises: syntax
while                                                ; raises: syntax

;; Syntax errors of a macro's own.
(define-syntax simple-let
  (syntax-rules ()
    ((_ (head ... ((x . y) val) . tail) body1 body2 ...)
     (syntax-error "expected an identifier but got" (x . y)))
    ((_ ((name val) ...) body1 body2 ...)
     ((lambda (name ...) body1 body2 ...) val ...))))
(simple-let ((a 1) (b 2)) (+ a b))                   ; => 3
(simple-let ((a 1) ((b c) 2)) (+ a b))               ; raises: syntax
;; A tail that is a macro use keeps the loop constant in space.
(define (spin n) (my-let ((m (- n 1))) (if (= m 0) 'spun (spin m))))
(spin 300000)                                        ; => spun
;; Macros of many steps.
(define-syntax reverse-args
  (syntax-rules () ((_ () acc) 'acc) ((_ (x . rest) (acc ...)) (reverse-args rest (x acc ...)))))
(reverse-args (1 2 3 4 5 6 7 8 9 10) ())             ; => (10 9 8 7 6 5 4 3 2 1)
;; The classic test for an identifier, by hygiene alone.
(define-syntax symbol??
  (syntax-rules ()
    ((_ (x . y) kt kf) kf)
    ((_ #(x ...) kt kf) kf)
    ((_ x kt kf)
     (let-syntax ((test (syntax-rules () ((_ x t f) t) ((_ y t f) f))))
       (test s3cr3t kt kf)))))
(list (symbol?? a 'yes 'no) (symbol?? 5 'yes 'no) (symbol?? (a) 'yes 'no) (symbol?? "s" 'yes 'no))  ; => (yes no no no)
