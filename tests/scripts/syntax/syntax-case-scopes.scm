;; Where procedural macros live: definitions for transformers, local macros, identifiers, phases.

;; Procedures for transformers are defined in `begin-for-syntax`.
(begin-for-syntax (define (add-prefix prefix name)
                    (datum->syntax name
                                   (string->symbol (string-append prefix
                                                                  (symbol->string (syntax->datum
                                                                                    name)))))))
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
cell                                   ; => 15
storage                                ; => #(15)
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
(five)                                 ; => 5
(five 1 2)                             ; => (5 1 2)

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
(define-syntax too-early (lambda (form) late))  ; raises: syntax
(let ((x 1)) (let-syntax ((m (lambda (form) x))) (m)))  ; raises: syntax
(begin-for-syntax (define early 1))
early                                  ; raises: syntax

;; A library may define procedures for macros; called by a program they raise a condition.
(define (syntax-of-this) #'a)
(syntax-of-this)                       ; raises: out-of-phase

;; A transformer receives a syntax object; a datum quoted without `#'` is none.
(import (only (duet kernel) syntax?))
(define-syntax kinds
  (lambda (x) (datum->syntax #'here (list 'quote (list (syntax? x) (syntax? 'x))))))
(kinds)                                ; => (#t #f)
