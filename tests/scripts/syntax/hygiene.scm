;; Hygiene of syntax-rules.
;; Shadowed keywords are variables, whatever a clause looks like.
(let ((if list)) (if 1 2 3))                         ; => (1 2 3)
(let ((=> #f)) (cond (#t => 'ok)))                   ; => ok
(let ((else #f)) (cond (#f 3) (else 4) (#t 5)))      ; => 5
(let ((unquote list)) `(1 ,2))                       ; => (1 ,2)
(define (g quote) '5)
(g -)                                                ; => -5
(let ((begin list)) (begin 1 2))                     ; => (1 2)
(let ((define +)) (define 1 2))                      ; => 3
(let ((... 5)) (let-syntax ((m (syntax-rules () ((_ a b) '(a b))))) (m ... 1)))  ; => (... 1)
(let ((... 5)) (let-syntax ((m (syntax-rules () ((_ a ...) '(a ...))))) (m 1 2)))  ; => (1 2)
(let ((syntax-rules list)) (syntax-rules 1))         ; => (1)
(let ((set! vector)) (set! 1 2))                     ; => #(1 2)

;; A macro's keywords are the macro's, its user's are the user's.
(define-syntax my-if (syntax-rules () ((_ c t e) (cond (c t) (else e)))))
(let ((if #f) (cond 1) (else 2)) (my-if if cond else))  ; => 2
(define-syntax my-unless (syntax-rules () ((_ test e) (if test #f e))))
(define-syntax twice-shadowed
  (syntax-rules () ((_ if e) (let ((if 1)) (my-unless #f (list if e))))))
(twice-shadowed if 2)                                ; => (1 2)
(define-syntax bind-both
  (syntax-rules () ((_ x) (let ((x 1) (y 2)) (let ((y 3) (x x)) (list x y))))))
(bind-both y)                                        ; => (1 3)
