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
(define-syntax literal-dots (syntax-rules ... (...) ((_ x) '(x ...))))
(literal-dots 100)                                   ; => (100 ...)
(define-syntax escapes
  (syntax-rules ()
    ((_) '(... ...))
    ((_ x) '(... (x ...)))
    ((_ x y) '(... (... x y)))))
(list (escapes) (escapes 100) (escapes 100 200))     ; => (... (100 ...) (... 100 200))
(define-syntax underscore (syntax-rules () ((_ _) '_)))
(underscore foo)                                     ; => _
(define-syntax count-to-2 (syntax-rules () ((_) 0) ((_ _) 1) ((_ _ _) 2) ((_ . _) 'many)))
(list (count-to-2) (count-to-2 a) (count-to-2 a b) (count-to-2 a b c d))  ; => (0 1 2 many)
(define-syntax literal-underscore (syntax-rules (_) ((m _) 'under) ((m x) 'other)))
(list (literal-underscore _) (literal-underscore 2))  ; => (under other)
(define-syntax other-dots
  (syntax-rules ooo () ((_ (a b ooo) ooo) '((b ooo a) ooo))))
(other-dots (1 2 3) (4))                             ; => ((2 3 1) (4))
(define-syntax vector-tail (syntax-rules () ((_ #(a b ... c) ...) '((a c b ...) ...))))
(vector-tail #(1 2 3 4) #(5 6))                      ; => ((1 4 2 3) (5 6))
(define-syntax too-shallow (syntax-rules () ((_ (a ...) ...) '(a ...))))  ; raises: syntax
(define-syntax too-deep (syntax-rules () ((_ a ...) '((a ...) ...))))  ; raises: syntax
(define-syntax nothing-before (syntax-rules () ((_ a) '(... a b c ...))))  ; raises: syntax
(define-syntax uneven (syntax-rules () ((_ (a ...) (b ...)) '((a b) ...))))
(uneven (1 2) (3 4))                                 ; => ((1 3) (2 4))
(uneven (1 2) (3))                                   ; raises: syntax

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
  (let-syntax ((f (syntax-rules () ((_ x) x)) ) (g (syntax-rules () ((_ x) (f x)))))
    (list (f 1) (g 1))))                             ; => (1 2)
(let ((f (lambda (x) (+ x 1))))
  (letrec-syntax ((f (syntax-rules () ((_ x) x))) (g (syntax-rules () ((_ x) (f x)))))
    (list (f 1) (g 1))))                             ; => (1 1)
(let ((x 1))
  (define-syntax y (syntax-rules () ((_) x)))
  (let ((x 2)) (define z (y)) (list x z)))           ; => (2 1)
(let ()
  (define (even-by-macro n) (if (= n 0) #t (odd-by-macro (- n 1))))
  (define-syntax odd-by-macro (syntax-rules () ((_ n) (let ((m n)) (if (= m 0) #f (even-by-macro (- m 1)))))))
  (even-by-macro 10))                                ; => #t

;; The same with procedural macros.
(define-syntax case-or-if
  (lambda (form)
    (syntax-case form (else)
      ((_ test a else b) #'(if test a b))
      ((_ test a other b) #''(no else)))))
(case-or-if #f 1 else 2)                             ; => 2
(let ((else 1)) (case-or-if #f 1 else 2))            ; => (no else)
(let ((if list)) (case-or-if #f 1 else 2))           ; => 2
(define-syntax loop
  (lambda (form)
    (syntax-case form ()
      ((keyword e ...)
       (with-syntax ((break (datum->syntax #'keyword 'break)))
         #'(call/cc (lambda (break) (let again () e ... (again)))))))))
(let ((n 3) (result '()) (again 'mine))
  (loop
    (if (= n 0) (break result))
    (set! result (cons again result))
    (set! n (- n 1))))                               ; => (mine mine mine)
(let ((break 5)) (loop (break (+ 1 4))))             ; => 5
(define-syntax break-all (syntax-rules () ((_) (loop (break 'mine)))))
(break-all)                                          ; => mine
(define pair (cons 4 5))
(define-syntax pair.car
  (make-variable-transformer
    (lambda (form)
      (syntax-case form (set!)
        ((set! _ e) #'(set-car! pair e))
        ((_ . rest) #'((car pair) . rest))
        (_ #'(car pair))))))
(set! pair.car 15)
(list pair.car pair)                                 ; => (15 (15 . 5))
(let ((pair (cons 1 2))) pair.car)                   ; => 15
(let ((pair.car 1)) (set! pair.car 2) pair.car)      ; => 2
(define-syntax unique-let
  (lambda (form)
    (define (unique? names)
      (or (null? names)
          (and (let none ((rest (cdr names)))
                 (or (null? rest) (and (not (bound-identifier=? (car names) (car rest))) (none (cdr rest)))))
               (unique? (cdr names)))))
    (syntax-case form ()
      ((_ ((name value) ...) body1 body2 ...)
       (and (unique? (syntax->list #'(name ...))) #t)
       #'((lambda (name ...) body1 body2 ...) value ...))
      ((_ . rest) #''repeated))))
(unique-let ((a 1) (b 2)) (+ a b))                   ; => 3
(unique-let ((a 1) (a 2)) a)                         ; => repeated
(define-syntax both-named
  (syntax-rules () ((_ name) (let ((x 10)) (unique-let ((name 1) (x 2)) (list name x))))))
(both-named x)                                       ; => (1 2)
(define-syntax define-twins
  (lambda (form)
    (syntax-case form ()
      ((_ a b)
       (with-syntax (((t) (generate-temporaries '(t))))
         #'(begin (define t 7) (define (a) t) (define (b) (set! t (+ t 1)) t)))))))
(define-twins t u)
(list (t) (u) (t))                                   ; => (7 8 8)
(let () (define-twins p q) (list (q) (p)))           ; => (8 8)

;; Templates of one transformer fit together, whatever the transformer binds around them.
(define-syntax in-pieces
  (lambda (form)
    (syntax-case form ()
      ((_ e)
       (let ((use #'(list x e)))
         (with-syntax ((body use))
           (let* ((binder #'x) (value #'1))
             #`(let ((#,binder #,value)) body))))))))
(let ((x 2)) (in-pieces x))                          ; => (1 2)
(define-syntax identity-for-syntax (syntax-rules () ((_ e) e)))
(define-syntax through-a-macro
  (lambda (form)
    (with-syntax ((binder (identity-for-syntax #'x)))
      #'(let ((binder 3)) x))))
(through-a-macro)                                    ; => 3

;; Templates in templates, and ellipses in quasi-templates.
(define-syntax make-tuple-macro
  (lambda (form)
    (syntax-case form ()
      ((_ name element ...)
       #'(define-syntax name
           (lambda (form)
             (syntax-case form ()
               ((_ other (... ...)) #'(list '(other element ...) (... ...))))))))))
(make-tuple-macro one a b)
(one 1 2)                                            ; => ((1 a b) (2 a b))
(define-syntax numbered
  (lambda (form)
    (syntax-case form ()
      ((_ name ...)
       (let count ((names (syntax->list #'(name ...))) (n 0) (done '()))
         (if (null? names)
             #`(quote (#,@(reverse done) . #,n))
             (count (cdr names) (+ n 1) (cons #`(#,(car names) #(#,n #,@(list n n))) done))))))))
(numbered a b)                                       ; => ((a #(0 0 0)) (b #(1 1 1)) . 2)
(define-syntax rows
  (lambda (form)
    (syntax-case form ()
      ((_ (name value ...) ...)
       #`(list (cons 'name (list #,@(map (lambda (v) #`(* 2 #,v)) (list #'1 #'2)) value ...)) ...)))))
(rows (a 5) (b))                                     ; => ((a 2 4 5) (b 2 4))

;; A transformer may look at what it is given as data.
(define-syntax string-macro
  (lambda (form)
    (let ((parts (cdr (syntax->datum form))))
      (apply string-append (map symbol->string parts)))))
(string-macro ab cd)                                 ; => "abcd"
(define-syntax backwards
  (lambda (form)
    (syntax-case form () ((_ e ...) (cons #'list (reverse (syntax->list #'(e ...))))))))
(backwards 1 (+ 1 1))                                ; => (2 1)
(define-syntax raw (lambda (form) (list 'quote 'x)))
(raw)                                                ; raises: syntax
