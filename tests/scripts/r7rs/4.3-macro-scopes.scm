;; R7RS 4.3: scopes of macros, keywords, syntax-error, macros of many steps.

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

;; … unless it holds definitions only, which would be no body: as in R6RS, they then belong to the
;; surrounding body.
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
(doubled 4)                                          ; => 8
(point-a (make-point 3))                             ; => 3
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
(define-syntax mine (syntax-rules () ((_) 1)))
mine                                                 ; raises: syntax

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
(define-syntax my-let
  (syntax-rules () ((_ ((n v) ...) . body) ((lambda (n ...) . body) v ...))))
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
(symbol?? a 'yes 'no)                                ; => yes
(symbol?? 5 'yes 'no)                                ; => no
(symbol?? (a) 'yes 'no)                              ; => no
(symbol?? "s" 'yes 'no)                              ; => no
