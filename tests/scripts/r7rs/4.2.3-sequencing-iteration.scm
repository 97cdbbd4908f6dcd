;; R7RS 4.2.3 and 4.2.4: begin, do, named let.
(define x 0)
(and (= x 0) (begin (set! x 5) (+ x 1)))             ; => 6
(begin 1 2 3)                                        ; => 3
(begin)
(begin (define from-begin 1) (define too 2))
(+ from-begin too)                                   ; => 3
(let () (begin (define a 1)) (begin) (+ a 1))        ; => 2
(+ 1 (begin))                                        ; raises: syntax

(do ((vec (make-vector 5)) (i 0 (+ i 1)))
    ((= i 5) vec)
  (vector-set! vec i i))                             ; => #(0 1 2 3 4)
(let ((x '(1 3 5 7 9)))
  (do ((x x (cdr x)) (sum 0 (+ sum (car x))))
      ((null? x) sum)))                              ; => 25
(do ((i 0 (+ i 1)) (thunks '() (cons (lambda () i) thunks)))
    ((= i 3) (map (lambda (thunk) (thunk)) thunks)))  ; => (2 1 0)
(do ((i 0 (+ i 1))) ((= i 3)))

(let loop ((numbers '(3 -2 1 6 -5)) (nonneg '()) (neg '()))
  (cond ((null? numbers) (list nonneg neg))
        ((>= (car numbers) 0) (loop (cdr numbers) (cons (car numbers) nonneg) neg))
        ((< (car numbers) 0) (loop (cdr numbers) nonneg (cons (car numbers) neg)))))
; => ((6 1 3) (-5 -2))
(let loop () 1)                                      ; => 1
(let loop ((n 1000000)) (if (= n 0) 'end (loop (- n 1))))  ; => end

;; The name of a named let is not in scope of the initial values.
(let ((f (lambda () 'outer))) (let f ((x (f))) x))   ; => outer
;; Nor can a parameter of the same name reach the loop.
(let f ((f 1)) f)                                    ; => 1
