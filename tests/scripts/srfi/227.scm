;; SRFI 227: optional arguments.
(import (scheme base) (srfi 227) (prefix (srfi 227 definition) d:))

((opt-lambda (a (b 2) (c 3)) (list a b c)) 1)                    ; => (1 2 3)
((opt-lambda (a (b 2) . rest) (list a b rest)) 1 20 30 40)       ; => (1 20 (30 40))
((opt-lambda (a (b 2)) (list a b)) 1 2 3)                        ; raises: wrong-arity
(let ((b 10)) ((opt-lambda (a (b 2) (c b)) (list a b c)) 1 5))   ; => (1 5 10)
(let ((b 10)) ((opt*-lambda (a (b 2) (c b)) (list a b c)) 1 5))  ; => (1 5 5)
(define-optionals* (area width (height width)) (* width height))
(area 3)                                                         ; => 9
(area 3 4)                                                       ; => 12
(let-optionals '(1) (a (b 2)) (list a b))                        ; => (1 2)
;; A default of `opt-lambda` sees no parameter, not even a required one.
(define n 5)
((opt-lambda (n (m (* n 2)) (k (+ n 1))) (list n m k)) 1)        ; => (1 10 6)
((opt*-lambda (n (m (* n 2)) (k (+ m 1))) (list n m k)) 1)       ; => (1 2 3)
((opt-lambda args args) 1 2)                                     ; => (1 2)
((opt-lambda () 'none))                                          ; => none
((opt-lambda ((a 1) (b 2) . c) (list a b c)) 7 8 9)              ; => (7 8 (9))
(let-optionals '(1 2) (x . y) (list x y))                        ; => (1 (2))
(let-optionals* '(1 3) (x (y 2) (z (+ x y))) (list x y z))       ; => (1 3 4)
(let-optionals '() (x) x)                                        ; raises: wrong-arity
;; Defaults are evaluated in each call, and only if they are needed.
(define made 0)
(define (make) (set! made (+ made 1)) made)
(define-optionals (next (a (make)) (b (make))) (list a b))
(next)                                                           ; => (1 2)
(next 'x)                                                        ; => (x 3)
(next 'x 'y)                                                     ; => (x y)
made                                                             ; => 3
;; The rest is a fresh list.
(define given (list 1 2 3))
(eq? (cdr given) (let-optionals given (a . rest) rest))          ; => #f
(d:define-optionals (old a (b 2)) (list a b))
(old 1)                                                          ; => (1 2)
;; No name twice, and no required parameter behind an optional one.
(opt-lambda (a (a 1)) a)                                         ; raises: syntax
(opt*-lambda (a (a 1)) a)                                        ; raises: syntax
(opt-lambda (a (b 1) c) a)                                       ; raises: syntax
;; An error names the procedure as its definition does.
(define-syntax told
  (syntax-rules () ((_ e) (guard (c (#t (error-object-message c))) e))))
(define-optionals (named a (b 1)) (list a b))
(define-optionals* (named* a (b a)) (list a b))
(told (named))
; => "named does not take 0 arguments"
(told (named*))
; => "named* does not take 0 arguments"
;; The name inside is the defined one.
(define-optionals (changed (n 0)) (set! changed 5) n)
(changed)                                                        ; => 0
changed                                                          ; => 5
(define-optionals (car (n 1)) (list n car))
(procedure? (cadr (car)))                                        ; => #t
(define (local) (define-optionals* (f a (b (* a 0 2))) b) 1)
(local)                                                          ; => 1
