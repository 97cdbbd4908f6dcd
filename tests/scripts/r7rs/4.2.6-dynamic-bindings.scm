;; R7RS 4.2.6: parameters.
(define radix
  (make-parameter 10
                  (lambda (x) (if (and (exact-integer? x) (<= 2 x 16)) x (error "invalid radix")))))
(define (f n) (number->string n (radix)))
(f 12)                                               ; => "12"
(parameterize ((radix 2)) (f 12))                    ; => "1100"
(f 12)                                               ; => "12"
(parameterize ((radix 0)) (f 12))                    ; raises: error
;; Called with an argument, a parameter takes it where it is bound, as in SRFI 39.
(radix 0)                                            ; raises: error
(radix 16)
(f 12)                                               ; => "c"
(parameterize ((radix 2)) (radix 8) (f 12))          ; => "14"
(f 12)                                               ; => "c"
(radix 10)
(make-parameter 99 (lambda (x) (error "never" x)))   ; raises: error

;; The converter runs on the first value and on each new one, but not when the old one comes back.
(define conversions 0)
(define counted (make-parameter 1 (lambda (x) (set! conversions (+ conversions 1)) (* x 10))))
(counted)                                            ; => 10
(parameterize ((counted 2)) (counted))               ; => 20
(counted)                                            ; => 10
conversions                                          ; => 2

;; Values are evaluated outside, and all at once.
(define a (make-parameter 1))
(define b (make-parameter 2))
(parameterize ((a (b)) (b (a))) (list (a) (b)))      ; => (2 1)
(parameterize () 5)                                  ; => 5
(parameterize ((a 5)) (define x (a)) (+ x 1))        ; => 6

;; The binding is dynamic: it follows the extent, not the text.
(define (show) (a))
(parameterize ((a 'inner)) (show))                   ; => inner
(let ((k (parameterize ((a 'captured)) (lambda () (a))))) (k))  ; => 1

;; Leaving and re-entering an extent switches the value.
(let ((again #f) (seen '()))
  (parameterize ((a 'in))
    (call/cc (lambda (k) (set! again k)))
    (set! seen (cons (a) seen)))
  (set! seen (cons (a) seen))
  (if (< (length seen) 4) (again #f) (reverse seen)))  ; => (in 1 in 1)

;; An escape restores the outer value, and so does a caught exception.
(call/cc (lambda (k) (parameterize ((a 2)) (k (a)))))  ; => 2
(a)                                                  ; => 1
(guard (e (#t (list e (a)))) (parameterize ((a 3)) (raise (a))))  ; => (3 1)
;; A handler runs in the extent of the raise.
(with-exception-handler
  (lambda (e) (list e (a)))
  (lambda () (parameterize ((a 3)) (raise-continuable 'x))))  ; => (x 3)
(parameterize ((5 1)) 1)                             ; raises: wrong-type
(parameterize ((car 1)) 1)                           ; raises: wrong-type
