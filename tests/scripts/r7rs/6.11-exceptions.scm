;; R7RS 6.11 and 4.2.7: handlers, raise, guard, error objects.
(call/cc (lambda (k)
           (with-exception-handler
             (lambda (e) (k (list 'condition e)))
             (lambda () (+ 1 (raise 'an-error))))))  ; => (condition an-error)
(with-exception-handler (lambda (e) 'ignored) (lambda () (+ 1 (raise 'an-error))))
; raises: handler-returned
(with-exception-handler
  (lambda (con) (cond ((string? con) 42) (else 0)))
  (lambda () (+ (raise-continuable "should be a number") 23)))  ; => 65
(raise 'some-symbol)                                 ; raises: some-symbol
(raise 42)                                           ; raises: 42
(raise-continuable '(1 2))                           ; raises: (1 2)
(raise #f)                                           ; raises: #f
(with-exception-handler 5 (lambda () 1))             ; raises: wrong-type
(with-exception-handler car)                         ; raises: wrong-arity

;; A handler runs with the outer handler in force.
(with-exception-handler
  (lambda (e) (list 'outer e))
  (lambda ()
    (with-exception-handler
      (lambda (e) (list 'inner (raise-continuable (list 'again e))))
      (lambda () (raise-continuable 'x)))))          ; => (inner (outer (again x)))
;; A handler that returns from `raise` raises a second exception to the outer one.
(guard (e (#t (list (error-object? e) (condition-kind e) (condition-irritants e))))
  (with-exception-handler (lambda (e) 'back) (lambda () (raise 'first))))
; => (#t handler-returned (first))
;; A handler may install handlers and catch.
(with-exception-handler
  (lambda (e) (guard (inner (#t (list e inner))) (raise 'inside)))
  (lambda () (raise-continuable 'outside)))          ; => (outside inside)

;; Error objects.
(define (null-list? l)
  (cond ((pair? l) #f) ((null? l) #t) (else (error "null-list?: argument out of domain" l))))
(null-list? 5)                                       ; raises: error
(guard (e ((error-object? e) (list (error-object-message e) (error-object-irritants e))))
  (null-list? 5))                                    ; => ("null-list?: argument out of domain" (5))
(guard (e (#t (error-object-irritants e))) (error "no irritants"))  ; => ()
(guard (e (#t (error-object-irritants e))) (error "many" 1 "two" '(3)))  ; => (1 "two" (3))
(guard (e (#t (list (error-object-message e) (error-object-irritants e)))) (error 'not-a-string 1))
; => (not-a-string (1))
(error-object? 'x)                                   ; => #f
(error-object-message 'x)                            ; raises: wrong-type
(guard (e ((symbol? e) (list 'symbol e)) ((error-object? e) 'error)) (raise 'boom))
; => (symbol boom)
(guard (e ((symbol? e) (list 'symbol e)) ((error-object? e) 'error)) (error "boom"))  ; => error

;; The system raises error objects with kinds of their own.
(define-syntax kind-of
  (syntax-rules ()
    ((_ expression)
     (guard (e ((error-object? e) (condition-kind e)) (#t (list 'raised e))) expression))))
(kind-of (car 1))                                    ; => wrong-type
(kind-of (vector-ref #(1) 1))                        ; => out-of-range
(kind-of (/ 1 0))                                    ; => divide-by-zero
(kind-of (5 5))                                      ; => not-a-procedure
(kind-of ((lambda (x) x)))                           ; => wrong-arity
(kind-of (string-set! "literal" 0 #\a))              ; => immutable
(kind-of (error "mine"))                             ; => error
(kind-of (assert (= 1 2)))                           ; => assertion-failed
(kind-of (read (open-input-string "(1")))            ; => read-error
(kind-of (letrec ((a (lambda () b)) (b (a))) b))     ; => undefined-variable
(kind-of (raise 'not-a-condition))                   ; => (raised not-a-condition)
(guard (e (#t (string? (error-object-message e)))) (car 1))  ; => #t
(guard (e (#t (error-object-irritants e))) (car 1))  ; => (1)
(guard (e (#t (error-object-irritants e))) (vector-ref #(1 2) 7))  ; => (7)
(read-error? 'x)                                     ; => #f
(file-error? 'x)                                     ; => #f
(guard (e ((read-error? e) 'read)) (read (open-input-string ")")))  ; => read
(guard (e ((read-error? e) 'read) (else 'other)) (error "no"))  ; => other
;; A primitive's failure may not be continued.
(with-exception-handler (lambda (e) 0) (lambda () (+ 1 (car 5))))  ; raises: handler-returned

;; guard: clauses, `=>`, `else`, values.
(guard (condition ((assq 'a condition) => cdr) ((assq 'b condition))) (raise (list (cons 'a 42))))
; => 42
(guard (condition ((assq 'a condition) => cdr) ((assq 'b condition))) (raise (list (cons 'b 23))))
; => (b . 23)
(guard (condition ((assq 'a condition) => cdr) ((assq 'b condition))) (raise '((c . 1))))
; raises: ((c . 1))
(guard (e (else (list 'caught e))) (raise 1))        ; => (caught 1)
(guard (e (#f 'never) (else 1 2 'last)) (raise 1))   ; => last
(guard (e) 5)                                        ; => 5
(guard (e) (raise 'through))                         ; raises: through
(guard (e ((eq? e 'a) 1)) (guard (e ((eq? e 'b) 2)) (raise 'a)))  ; => 1
(guard (e ((number? e) (* e 2))) (+ 1 (guard (e ((string? e) 0)) (raise 10))))  ; => 20
(let ((e 'outer)) (guard (e (#t e)) (raise 'inner)))  ; => inner
(guard (e (#t (list 'second e))) (guard (e (#t (raise (list 'first e)))) (raise 'x)))
; => (second (first x))
(guard (e (#t 'caught)) (define a 1) (raise a))      ; => caught
;; A reraise happens where the object was raised: the extent is entered again.
(let ((trace '()))
  (define (note x) (set! trace (cons x trace)))
  (guard (e (#t (note (list 'outer e))))
    (guard (e ((begin (note 'tried) #f) 'never))
      (dynamic-wind (lambda () (note 'in)) (lambda () (raise 'x)) (lambda () (note 'out)))))
  (reverse trace))                                   ; => (in out tried in out (outer x))

;; A clause's body runs outside the extent, but an outer handler of a continuable raise can
;; resume it.
(let ((trace '()))
  (define (note x) (set! trace (cons x trace)))
  (let ((result (with-exception-handler
                  (lambda (e) (note 'handler) (* e 10))
                  (lambda ()
                    (guard (e ((string? e) 'no))
                      (dynamic-wind
                        (lambda () (note 'in))
                        (lambda () (+ 1 (raise-continuable 4)))
                        (lambda () (note 'out))))))))
    (list result (reverse trace))))                  ; => (41 (in out in handler out))
;; An object that no guard wants reaches the handlers outside of them all.
(with-exception-handler
  (lambda (e) (list 'resumed e))
  (lambda () (guard (a ((number? a) a)) (guard (b ((string? b) b)) (raise-continuable 'sym)))))
; => (resumed sym)
;; The parameters of the guard's extent are back in a clause.
(let ((p (make-parameter 1)))
  (guard (e ((= (p) 1) (list e (p)))) (parameterize ((p 2)) (raise (p)))))  ; => (2 1)
;; Loops with exceptions need no stack.
(let loop ((n 100000) (caught 0))
  (if (= n 0) caught (loop (- n 1) (+ caught (guard (e (#t 1)) (raise 'x))))))  ; => 100000
;; A deep computation is unwound at once.
(guard (e (#t e)) (let deep ((n 100000)) (if (= n 0) (raise 'bottom) (+ 1 (deep (- n 1))))))
; => bottom
