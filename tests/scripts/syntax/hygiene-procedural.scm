;; Hygiene of procedural macros.

;; Literals, keywords and captured names.
(define-syntax case-or-if
  (lambda (form)
    (syntax-case form (else)
      ((_ test a else b) #'(if test a b))
      ((_ test a other b) #''(no else)))))
(case-or-if #f 1 else 2)                             ; => 2
(let ((else 1)) (case-or-if #f 1 else 2))            ; => (no else)
(let ((if list)) (case-or-if #f 1 else 2))           ; => 2

;; A name that a macro captures on purpose.
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

;; A variable that is a macro.
(define pair (cons 4 5))
(define-syntax pair.car
  (make-variable-transformer
    (lambda (form)
      (syntax-case form (set!)
        ((set! _ e) #'(set-car! pair e))
        ((_ . rest) #'((car pair) . rest))
        (_ #'(car pair))))))
(set! pair.car 15)
pair.car                                             ; => 15
pair                                                 ; => (15 . 5)
(let ((pair (cons 1 2))) pair.car)                   ; => 15
(let ((pair.car 1)) (set! pair.car 2) pair.car)      ; => 2

;; Comparing identifiers.
(define-syntax unique-let
  (lambda (form)
    (define (unique? names)
      (or (null? names)
          (and (let none ((rest (cdr names)))
                 (or (null? rest)
                     (and (not (bound-identifier=? (car names) (car rest))) (none (cdr rest)))))
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

;; Temporary names.
(define-syntax define-twins
  (lambda (form)
    (syntax-case form ()
      ((_ a b)
       (with-syntax (((t) (generate-temporaries '(t))))
         #'(begin (define t 7) (define (a) t) (define (b) (set! t (+ t 1)) t)))))))
(define-twins t u)
(t)                                                  ; => 7
(u)                                                  ; => 8
(t)                                                  ; => 8
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

;; Quasi-templates with ellipses.
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
       #`(list (cons 'name (list #,@(map (lambda (v) #`(* 2 #,v)) (list #'1 #'2)) value ...))
               ...)))))
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
