;; R7RS 4.2.5: promises.
(force (delay (+ 1 2)))                              ; => 3
(let ((p (delay (+ 1 2)))) (list (force p) (force p)))  ; => (3 3)
(define integers
  (letrec ((next (lambda (n) (delay (cons n (next (+ n 1)))))))
    (next 0)))
(define (head stream) (car (force stream)))
(define (tail stream) (cdr (force stream)))
(head (tail (tail integers)))                        ; => 2
(define (stream-filter p? s)
  (delay-force
    (if (null? (force s))
        (delay '())
        (let ((h (car (force s))) (t (cdr (force s))))
          (if (p? h) (delay (cons h (stream-filter p? t))) (stream-filter p? t))))))
(head (tail (tail (stream-filter odd? integers))))   ; => 5

;; A promise is kept once, even if forcing it forces it.
(define count 0)
(define p (delay (begin (set! count (+ count 1)) (if (> count x) count (force p)))))
(define x 5)
(promise? p)                                         ; => #t
(force p)                                            ; => 6
(promise? p)                                         ; => #t
(begin (set! x 10) (force p))                        ; => 6

(define runs 0)
(define once (delay (begin (set! runs (+ runs 1)) 'value)))
(force once)                                         ; => value
(force once)                                         ; => value
runs                                                 ; => 1

(force (delay-force (delay 1)))                      ; => 1
(promise? (make-promise 1))                          ; => #t
(force (make-promise 1))                             ; => 1
(let ((p (delay 1))) (eq? p (make-promise p)))       ; => #t
(promise? 1)                                         ; => #f
(force 1)                                            ; => 1
(force (make-promise (delay 2)))                     ; => 2
(force (delay (values 1)))                           ; => 1

;; A promise whose expression raises stays to be kept.
(define tries 0)
(define shaky (delay (begin (set! tries (+ tries 1)) (if (= tries 1) (raise 'again) tries))))
(guard (e (#t e)) (force shaky))                     ; => again
(force shaky)                                        ; => 2

;; A chain of a million `delay-force` steps runs in constant space.
(define (countdown n) (if (= n 0) (delay 'done) (delay-force (countdown (- n 1)))))
(force (countdown 1000000))                          ; => done
(define (stream-from n) (delay (cons n (stream-from (+ n 1)))))
(define (stream-at s k)
  (if (= k 0) (delay (car (force s))) (delay-force (stream-at (cdr (force s)) (- k 1)))))
(force (stream-at (stream-from 0) 200000))           ; => 200000

;; Reentrant forcing: the first value to arrive stays.
(define r (delay (begin (set! count (+ count 1)) (if (< count 10) (force r) count))))
(begin (set! count 7) (force r))                     ; => 10

;; An object other than a promise is its own value, inside delay-force too.
(force (delay-force 1))                              ; => 1
(force (delay-force (delay-force (+ 1 2))))          ; => 3
