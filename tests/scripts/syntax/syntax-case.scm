;; A transformer is a procedure from syntax to syntax.
(define-syntax swap!
  (lambda (form)
    (syntax-case form ()
      ((_ a b) #'(let ((tmp a)) (set! a b) (set! b tmp))))))
(let ((tmp 1) (other 2)) (swap! tmp other) (list tmp other)) ; => (2 1)

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
(let ((it 'outer)) (anaphoric-if (assq 'b '((a 1) (b 2))) (cadr it) it)) ; => 2

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

;; Procedures for transformers are defined in `begin-for-syntax`.
(begin-for-syntax
  (define (add-prefix prefix name)
    (datum->syntax name (string->symbol (string-append prefix (symbol->string (syntax->datum name)))))))
(define-syntax define-getter
  (lambda (form)
    (syntax-case form ()
      ((_ name value)
       (with-syntax ((getter (add-prefix "get-" #'name)))
         #'(define (getter) value))))))
(define-getter colour 'red)
(get-colour)                           ; => red
(define-for-syntax answer 42)
(define-syntax the-answer (lambda (form) (datum->syntax #'here answer)))
(the-answer)                           ; => 42

;; An identifier may be a macro, and its assignment, too.
(define-syntax always-one (identifier-syntax 1))
(+ always-one always-one)              ; => 2
(define storage (vector 10))
(define-syntax cell
  (identifier-syntax
    (_ (vector-ref storage 0))
    ((set! _ value) (vector-set! storage 0 value))))
(set! cell (+ cell 5))
(list cell storage)                    ; => (15 #(15))
(set! always-one 2)                    ; raises: syntax

;; Macros make macros.
(define-syntax define-constant-macro
  (lambda (form)
    (syntax-case form ()
      ((_ name value)
       #'(define-syntax name
           (lambda (form)
             (syntax-case form ()
               ((_) #'value)
               ((_ more (... ...)) #'(list value more (... ...))))))))))
(define-constant-macro five 5)
(list (five) (five 1 2))               ; => (5 (5 1 2))

;; Macros are local where they are defined.
(define (local x)
  (define-syntax double (lambda (form) (syntax-case form () ((_ e) #'(* 2 e)))))
  (let-syntax ((add (lambda (form) (syntax-case form () ((_ e) #'(+ x e))))))
    (add (double x))))
(local 10)                             ; => 30

;; A transformer may be the value of any expression.
(define-syntax constant
  (let ((counter 0))
    (lambda (form)
      (set! counter (+ counter 1))
      (datum->syntax #'here counter))))
(list (constant) (constant))           ; => (1 2)
(define-syntax chosen (if (> 1 2) car (syntax-rules () ((_ x) (list 'chosen x)))))
(chosen 1)                             ; => (chosen 1)

;; Bound and free identifiers compare as the report says.
(define-syntax compare
  (lambda (form)
    (syntax-case form ()
      ((_ a b) #`(list #,(bound-identifier=? #'a #'b) #,(free-identifier=? #'a #'b)
                       #,(free-identifier=? #'a #'car) #,(bound-identifier=? #'a #'car))))))
(compare car car)                      ; => (#t #t #t #f)
(compare car cdr)                      ; => (#f #f #t #f)
(let ((car cdr)) (compare car car))    ; => (#t #t #f #f)

;; Literals match what means the same.
(define-syntax arrow?
  (lambda (form)
    (syntax-case form (=>)
      ((_ =>) #'#t)
      ((_ _) #'#f))))
(arrow? =>)                            ; => #t
(let ((=> 1)) (arrow? =>))             ; => #f

;; Errors of a macro are errors of the program.
(define-syntax only-names
  (lambda (form)
    (syntax-case form ()
      ((_ name ...)
       (for-each
         (lambda (name)
           (unless (identifier? name) (syntax-violation 'only-names "not a name" form name)))
         (syntax->list #'(name ...)))
       #''(name ...)))))
(only-names a b)                       ; => (a b)
(only-names a 5)                       ; raises: syntax

;; Run-time variables do not exist yet when a transformer runs, and its own are gone later.
(define late 1)
(define-syntax too-early (lambda (form) late)) ; raises: syntax
(let ((x 1)) (let-syntax ((m (lambda (form) x))) (m))) ; raises: syntax
(begin-for-syntax (define early 1))
early                                  ; raises: syntax

;; A library may define procedures for macros; called by a program they raise a condition.
(define (syntax-of-this) #'a)
(syntax-of-this)                       ; raises: out-of-phase

;; What a transformer gets is a syntax object; what it quotes without `#'` is none.
(import (only (duet kernel) syntax?))
(define-syntax kinds (lambda (x) (datum->syntax #'here (list 'quote (list (syntax? x) (syntax? 'x))))))
(kinds)                                   ; => (#t #f)
