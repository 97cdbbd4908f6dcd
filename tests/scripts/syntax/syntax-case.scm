;; A transformer is a procedure from syntax to syntax.
(define-syntax swap!
  (lambda (form)
    (syntax-case form ()
      ((_ a b) #'(let ((tmp a)) (set! a b) (set! b tmp))))))
(let ((tmp 1) (other 2)) (swap! tmp other) (list tmp other))  ; => (2 1)

;; Clauses are tried in order; a fender may refuse one.
(define-syntax kind
  (lambda (form)
    (syntax-case form ()
      ((_ x) (identifier? #'x) #''identifier)
      ((_ (x . rest)) #''pair)
      ((_ #(x ...)) #'(list 'vector 'x ...))
      ((_ x) (string? (syntax->datum #'x)) #''string)
      ((_ _) #''other))))
(kind a)                               ; => identifier
(kind (a b))                           ; => pair
(kind #(a b c))                        ; => (vector a b c)
(kind "text")                          ; => string
(kind 5)                               ; => other

;; `with-syntax` binds further pattern variables.
(define-syntax letrec-like
  (lambda (form)
    (syntax-case form ()
      ((_ ((variable value) ...) body ...)
       (with-syntax (((temporary ...) (generate-temporaries #'(variable ...))))
         #'(let ((variable #f) ...)
             (let ((temporary value) ...) (set! variable temporary) ... (let () body ...))))))))
(letrec-like ((even? (lambda (n) (or (= n 0) (odd? (- n 1)))))
              (odd? (lambda (n) (and (> n 0) (even? (- n 1))))))
  (even? 11))                          ; => #f

;; Quasi-templates hold expressions.
(define-syntax sum-of-squares
  (lambda (form)
    (syntax-case form ()
      ((_ n ...)
       (let ((squares (map (lambda (n) (* n n)) (syntax->datum #'(n ...)))))
         #`(list '#,squares #,(apply + squares) #,@squares))))))
(sum-of-squares 1 2 3)                 ; => ((1 4 9) 14 1 4 9)

;; `datum->syntax` makes identifiers that mean what they mean at the use.
(define-syntax anaphoric-if
  (lambda (form)
    (syntax-case form ()
      ((keyword test then else)
       (with-syntax ((it (datum->syntax #'keyword 'it)))
         #'(let ((it test)) (if it then else)))))))
(let ((it 'outer)) (anaphoric-if (assq 'b '((a 1) (b 2))) (cadr it) it))  ; => 2

;; Other identifiers of a template do not capture.
(define-syntax my-or2
  (lambda (form)
    (syntax-case form ()
      ((_ a b) #'(let ((t a)) (if t t b))))))
(let ((t 5) (if list)) (my-or2 #f t))  ; => 5

;; Transformers use procedures of libraries.
(define-syntax reversed
  (lambda (form)
    (syntax-case form ()
      ((_ part ...) (reverse (syntax->list #'(part ...)))))))
(reversed 1 2 -)                       ; => 1

;; A variable may have more ellipses in a template than in the pattern.
(define-syntax kons
  (lambda (form)
    (syntax-case form ()
      ((_ (a ...) (b ...)) #''((a b ...) ...)))))
(kons (1 2) (3 4))                     ; => ((1 3 4) (2 3 4))
(define-syntax kons-again
  (lambda (form)
    (syntax-case form ()
      ((_ (a ...) b ...)
       (with-syntax (((c ...) '(5 6))) #''((a (b c ...) ...) ...))))))
(kons-again (1 2) 3 4)                 ; => ((1 (3 5 6) (4 5 6)) (2 (3 5 6) (4 5 6)))
