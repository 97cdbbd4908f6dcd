;; R7RS 5: definitions, multiple values, syntax, records, imports.
(define add3 (lambda (x) (+ x 3)))
(add3 3)                                             ; => 6
(define first car)
(first '(1 2))                                       ; => 1
(define (rest-only . all) all)
(rest-only 1 2)                                      ; => (1 2)
(define (with-rest a . more) (list a more))
(with-rest 1 2 3)                                    ; => (1 (2 3))
(define add3 (lambda (x) (+ x 30)))
(add3 3)                                             ; => 33

;; Internal definitions are one letrec*.
(let ((x 5))
  (define foo (lambda (y) (bar x y)))
  (define bar (lambda (a b) (+ (* a b) a)))
  (foo (+ x 3)))                                     ; => 45
(let () (define a 1) (set! a 2) (define b (+ a 1)) b)  ; => 3
(let ()
  (define (even? n) (or (= n 0) (odd? (- n 1))))
  (define (odd? n) (and (> n 0) (even? (- n 1))))
  (even? 100))                                       ; => #t
(let () (define a b) (define b 1) a)                 ; raises: undefined-variable
(let () (define a 1) (define a 2) a)                 ; raises: syntax
(let () (define a 1))                                ; raises: syntax
(define)                                             ; raises: syntax
(define 5 1)                                         ; raises: syntax

;; Multiple values.
(define-values (x y) (exact-integer-sqrt 17))
x                                                    ; => 4
y                                                    ; => 1
(define-values (h . t) (values 1 2 3))
h                                                    ; => 1
t                                                    ; => (2 3)
(define-values all (values 1 2))
all                                                  ; => (1 2)
(define-values () (values))
(let () (define-values (x y) (values 1 2)) (+ x y))  ; => 3
(let () (define-values (x . y) (values 1 2 3)) (define z (list x y)) z)  ; => (1 (2 3))
(define-values (p q) (values 1))                     ; raises: wrong-arity
(let ()
  (define-syntax two (syntax-rules () ((_ a b) (define-values (a b) (values 'a 'b)))))
  (two m n)
  (list m n))                                        ; => (m n)

;; Syntax definitions among definitions.
(let ((x 1) (y 2))
  (define-syntax swap! (syntax-rules () ((swap! a b) (let ((tmp a)) (set! a b) (set! b tmp)))))
  (swap! x y)
  (list x y))                                        ; => (2 1)

;; Records.
(define-record-type <pare> (kons x y) pare? (x kar set-kar!) (y kdr))
(pare? (kons 1 2))                                   ; => #t
(pare? (cons 1 2))                                   ; => #f
(pare? 5)                                            ; => #f
(kar (kons 1 2))                                     ; => 1
(kdr (kons 1 2))                                     ; => 2
(let ((k (kons 1 2))) (set-kar! k 3) (kar k))        ; => 3
(kar 5)                                              ; raises: wrong-type
(kar (cons 1 2))                                     ; raises: wrong-type
(set-kar! '(1) 2)                                    ; raises: wrong-type
(kons 1)                                             ; raises: wrong-arity
;; Field order in the constructor is its own; a field without an argument starts unspecified.
(define-record-type point
  (make-point y x)
  point?
  (x point-x)
  (y point-y)
  (label point-label set-point-label!))
(let ((p (make-point 1 2))) (set-point-label! p 'a) (list (point-x p) (point-y p) (point-label p)))
; => (2 1 a)
;; Each definition makes a type of its own, whatever its name and fields.
(define-record-type a-type (make-a v) a? (v a-v))
(define-record-type a-type (make-b v) b? (v b-v) (w b-w))
(a? (make-a 1))                                      ; => #t
(b? (make-a 1))                                      ; => #f
(a? (make-b 1))                                      ; => #f
(a-v (make-a 1))                                     ; => 1
(vector? (make-a 1))                                 ; => #f
(pair? (make-a 1))                                   ; => #f
(procedure? (make-a 1))                              ; => #f
(let ((r (make-a 1))) (list (eqv? r r) (equal? r r) (eqv? r (make-a 1))))  ; => (#t #t #f)
(let ()
  (define-record-type thing (make-thing a) thing? (a thing-a))
  (thing-a (make-thing 5)))                          ; => 5
(define-record-type opaque #f opaque?)
(opaque? 1)                                          ; => #f
(define-record-type bare (make-bare) bare?)
(bare? (make-bare))                                  ; => #t
(define-record-type wrong (make-wrong z) wrong? (x wrong-x))  ; raises: syntax

;; Import sets.
(import (prefix (only (scheme base) car cdr) list-))
(list-car '(1 2))                                    ; => 1
(import (rename (scheme base) (vector-map vmap)))
(vmap + #(1 2))                                      ; => #(1 2)
(import (only (scheme base) no-such-name))           ; raises: syntax
(import (no such library))                           ; raises: syntax

;; A library, its private names and its imports.
(define-library (stack)
  (export make push! pop! (rename size depth))
  (import (scheme base))
  (begin
    (define (make) (list '()))
    (define (push! s v) (set-car! s (cons v (car s))))
    (define (pop! s) (let ((v (caar s))) (set-car! s (cdar s)) v))
    (define (size s) (length (car s)))
    (define secret 1)))
(import (prefix (stack) stack-))
(define s (stack-make))
(stack-push! s 1)
(stack-push! s 2)
(stack-pop! s)                                       ; => 2
(stack-depth s)                                      ; => 1
stack-size                                           ; raises: undefined-variable
stack-secret                                         ; raises: undefined-variable
;; A name that a library mentions and nothing defines is missing at its use.
(define-library (careless)
  (export square-or-so)
  (import (scheme base))
  (begin (define (square-or-so x) (if (number? x) (* x x) (no-such-name x)))))
(import (careless))
(square-or-so 5)                                     ; => 25
(square-or-so 'five)                                 ; raises: undefined-variable
(define-library (broken) (export nothing) (import (scheme base)))  ; raises: syntax
