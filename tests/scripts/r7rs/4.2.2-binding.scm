;; R7RS 4.2.2: let, let*, letrec, letrec*, let-values, let*-values.
(let ((x 2) (y 3)) (* x y))                          ; => 6
(let ((x 2) (y 3)) (let ((x 7) (z (+ x y))) (* z x)))  ; => 35
(let ((x 2) (y 3)) (let* ((x 7) (z (+ x y))) (* z x)))  ; => 70
(let () 5)                                           ; => 5
(let* () 5)                                          ; => 5
(let* ((x 1) (x (+ x 1))) x)                         ; => 2
(let ((x 1) (x 2)) x)                                ; raises: syntax
(let ((x)) x)                                        ; raises: syntax
(let ((x 1)))                                        ; raises: syntax

(letrec ((even?
           (lambda (n) (if (zero? n) #t (odd? (- n 1)))))
         (odd?
           (lambda (n) (if (zero? n) #f (even? (- n 1))))))
  (even? 88))                                        ; => #t
(letrec* ((p (lambda (x) (+ 1 (q (- x 1)))))
          (q (lambda (y) (if (zero? y) 0 (+ 1 (p (- y 1))))))
          (x (p 5))
          (y x))
  y)                                                 ; => 5
(letrec ((a b) (b 1)) a)                             ; raises: undefined-variable
(letrec* ((a b) (b 1)) a)                            ; raises: undefined-variable

;; The arithmetic and the harmonic mean of one list, all from one pass of the formula.
(define means
  (lambda (ton)
    (letrec* ((mean (lambda (f g) (f (/ (sum g ton) n))))
              (sum (lambda (g ton)
                     (if (null? ton)
                         (+)
                         (if (number? ton) (g ton) (+ (sum g (car ton)) (sum g (cdr ton)))))))
              (n (sum (lambda (x) 1) ton)))
      (values (mean values values) (mean / /)))))
(let*-values (((a b) (means '(8 5 99 1 22))) ((c) (list a b))) c)  ; => (27 1800/497)

(let-values (((root rem) (exact-integer-sqrt 32))) (* root rem))  ; => 35
(let-values (((a b) (values 1 2)) ((c) (values 3)) (d (values 4 5)) ((e . f) (values 6 7 8)))
  (list a b c d e f))                                ; => (1 2 3 (4 5) 6 (7 8))
(let ((a 'a) (b 'b) (x 'x) (y 'y))
  (let*-values (((a b) (values x y)) ((x y) (values a b)))
    (list a b x y)))                                 ; => (x y x y)
(let ((a 'a) (b 'b) (x 'x) (y 'y))
  (let-values (((a b) (values x y)) ((x y) (values a b)))
    (list a b x y)))                                 ; => (x y a b)
(let-values () 1)                                    ; => 1
(let*-values () 1)                                   ; => 1
(let-values (((a b) (values 1))) a)                  ; raises: wrong-arity
(let-values (((a) (values 1))) (define b 2) (+ a b))  ; => 3
(let-values ((all (values))) all)                    ; => ()

;; Re-entering the initial value of a letrec leaves earlier results alone.
(let ((x '()) (y 0))
  (call/cc (lambda (escape)
             (let* ((yin ((lambda (foo)
                            (set! x (cons y x))
                            (if (= y 10) (escape x) (begin (set! y 0) foo)))
                          (call/cc (lambda (bar) bar))))
                    (yang ((lambda (foo) (set! y (+ y 1)) foo) (call/cc (lambda (baz) baz)))))
               (yin yang)))))                        ; => (10 9 8 7 6 5 4 3 2 1 0)
(let ((cont #f))
  (letrec ((x (call/cc (lambda (c) (set! cont c) 0)))
           (y (call/cc (lambda (c) (set! cont c) 0))))
    (if cont
        (let ((c cont))
          (set! cont #f)
          (set! x 1)
          (set! y 1)
          (c 0))
        (+ x y))))                                   ; => 0

;; All initial values of a letrec are computed before any variable has its own.
(letrec ((a (list 1)) (f (lambda () b)) (b (list 2))) (list a (f)))  ; => ((1) (2))
(letrec ((a (list 1)) (b (car a))) b)                ; raises: undefined-variable
(letrec* ((a (list 1)) (b (car a))) b)               ; => 1
