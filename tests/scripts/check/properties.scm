;; A property that does not hold is shown by the smallest values for which it does not, with a seed.
(import (scheme base) (srfi 64) (duet check))

(define (checked generator holds?)
  (parameterize ((property-seed 11))
    (let ((found (check-property '(x) (list generator) holds?)))
      (if (pair? found)
          (list (cadr found) (assq 'seed (cdr found)) (assq 'raised (cdr found)))
          found))))

(checked (integers) (lambda (n) (= n (- (- n)))))                       ; => holds
(checked (integers) (lambda (n) (< n 42)))                              ; => ((x 42) (seed 11) #f)
(checked (integers) (lambda (n) (> n -42)))                             ; => ((x -42) (seed 11) #f)
(checked (integers 10 90) (lambda (n) (< n 33)))                        ; => ((x 33) (seed 11) #f)
(checked (such-that even? (integers)) (lambda (n) (< n 100)))           ; => ((x 100) (seed 11) #f)
(checked (lists-of (integers)) (lambda (l) (< (length l) 3))) ; => ((x (0 0 0)) (seed 11) #f)
(checked (vectors-of booleans) (lambda (v) (not (memv #t (vector->list v)))))
; => ((x #(#t)) (seed 11) #f)
(checked (strings) (lambda (s) (< (string-length s) 2)))                ; => ((x "aa") (seed 11) #f)
(checked (one-of (constant 0) symbols) number?)                       ; => ((x a) (seed 11) #f)
(checked (tuples-of (integers 0 9) booleans) (lambda (t) (or (< (car t) 4) (not (cadr t)))))
; => ((x (4 #t)) (seed 11) #f)
(checked
  (generator-bind (integers 0 9) (lambda (n) (lists-of (constant n) :min n :max n)))
  (lambda (l) (< (length l) 4))) ; => ((x (4 4 4 4)) (seed 11) #f)
(checked (integers) (lambda (n) (if (> n 17) (error "too big" n) #t)))
; => ((x 18) (seed 11) (raised error "too big"))
(checked (integers) (lambda (n) (if (> n 17) (raise 'odd) #t))) ; => ((x 18) (seed 11) (raised odd))

;; The number of runs.
(define count 0)
(parameterize ((property-runs 7) (property-seed 1))
  (check-property '() '() (lambda () (set! count (+ count 1)) #t)))     ; => holds
count                                                                   ; => 7
(check-property '(x) '(1) (lambda (x) #t))                              ; raises: wrong-type

;; In a test it is one assertion.
(define runner (test-runner-null))
(parameterize ((property-seed 1))
  (test-with-runner runner
    (test-property "holds" ((a (integers)) (b (integers))) (= (+ a b) (+ b a)))
    (test-property "does not" ((l (lists-of (integers)))) (null? l))))
(list (test-runner-pass-count runner) (test-runner-fail-count runner))  ; => (1 1)
