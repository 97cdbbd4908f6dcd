;; R7RS 6.10: multiple values.

(call-with-values (lambda () (values 4 5)) (lambda (a b) b))  ; => 5
(call-with-values * -)                               ; => -1
(call-with-values (lambda () (values)) list)         ; => ()
(call-with-values (lambda () 1) list)                ; => (1)
(call-with-values (lambda () (call/cc (lambda (k) (k 1 2 3)))) list)  ; => (1 2 3)
(call-with-values (lambda () (values 1 2)) (lambda (a) a))  ; raises: wrong-arity
(call-with-values
  (lambda () (dynamic-wind (lambda () 0) (lambda () (values 1 2)) (lambda () 3)))
  list)                                              ; => (1 2)
(call-with-values (lambda () (parameterize () (values 1 2))) list)  ; => (1 2)
(call-with-values
  (lambda () (let ((p (make-parameter 1))) (parameterize ((p 2)) (values (p) 3))))
  list)                                              ; => (2 3)
(call-with-values (lambda () (guard (e (#t 0)) (values 1 2))) list)  ; => (1 2)
(call-with-values (lambda () (guard (e (#t (values e 2))) (raise 1))) list)  ; => (1 2)
(call-with-values
  (lambda () (with-exception-handler (lambda (e) (values 1 2)) (lambda () (raise-continuable 'x))))
  list)                                              ; => (1 2)
(begin (values 1 2) 3)                               ; => 3
(call-with-values (lambda () (apply values '(1 2 3))) vector)  ; => #(1 2 3)
(call-with-values (lambda () (if #t (values 1 2) 3)) cons)  ; => (1 . 2)
(+ 1 (values 2))                                     ; => 3
