;; R7RS 3.5 and 6.10: tail calls and deep recursion.

;; A million calls in every tail position.
(define million 1000000)
(define (t-cond n) (cond ((= n 0) 'cond) (else (t-cond (- n 1)))))
(define (t-arrow n) (cond ((= n 0) (quote arrow)) ((- n 1) => t-arrow)))
(define (t-and n) (and #t (if (= n 0) 'and (t-and (- n 1)))))
(define (t-or n) (or #f (if (= n 0) 'or (t-or (- n 1)))))
(define (t-when n) (when #t (if (= n 0) 'when (t-when (- n 1)))))
(define (t-unless n) (unless #f (if (= n 0) 'unless (t-unless (- n 1)))))
(define (t-case n) (case n ((0) 'case) (else (t-case (- n 1)))))
(define (t-case-arrow n) (case n ((0) 'case-arrow) (else => (lambda (m) (t-case-arrow (- m 1))))))
(define (t-apply n) (if (= n 0) 'apply (apply t-apply (list (- n 1)))))
(define (t-do n) (do () (#t (if (= n 0) 'do (t-do (- n 1))))))
(define (t-values n)
  (if (= n 0)
      'values
      (call-with-values (lambda () (values (- n 1) 0)) (lambda (a b) (t-values a)))))
(define (t-cc n) (if (= n 0) 'call/cc (call/cc (lambda (k) (t-cc (- n 1))))))
(define t-lambda
  (case-lambda ((n) (t-lambda n 0)) ((n x) (if (= n 0) 'case-lambda (t-lambda (- n 1))))))
(define (t-letrec n) (letrec ((f (lambda () (if (= n 0) 'letrec (t-letrec (- n 1)))))) (f)))
(define (t-body n) (define m (- n 1)) (if (< m 0) 'body (t-body m)))
(t-cond million)                                     ; => cond
(t-arrow million)                                    ; => arrow
(t-and million)                                      ; => and
(t-or million)                                       ; => or
(t-when million)                                     ; => when
(t-unless million)                                   ; => unless
(t-case million)                                     ; => case
(t-case-arrow million)                               ; => case-arrow
(t-apply million)                                    ; => apply
(t-do million)                                       ; => do
(t-values million)                                   ; => values
(t-cc million)                                       ; => call/cc
(t-lambda million)                                   ; => case-lambda
(t-letrec million)                                   ; => letrec
(t-body million)                                     ; => body

;; A clause of `guard` is in tail position to it.
(define (t-guard n) (guard (e (#t (if (= n 0) 'guard (t-guard (- n 1))))) (raise n)))
(t-guard 100000)                                     ; => guard

;; A recursion a million deep.
(define (deep n) (if (= n 0) 0 (+ 1 (deep (- n 1)))))
(deep million)                                       ; => 1000000
(define (build n) (if (= n 0) '() (cons n (build (- n 1)))))
(length (build 500000))                              ; => 500000
(define (forever n) (+ 1 (forever n)))
(forever 1)                                          ; raises: out-of-memory
(deep 1000)                                          ; => 1000
