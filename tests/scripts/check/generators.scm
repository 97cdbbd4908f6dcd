;; Generators draw values from a seed alone, and refuse what they cannot draw.
(import (scheme base) (duet check))

(define (all? wanted? values)
  (or (null? values) (and (wanted? (car values)) (all? wanted? (cdr values)))))
(define (drawn generator) (generator-sample generator :count 300))
(define (same? generator) (equal? (drawn generator) (drawn generator)))

(generator? booleans)                                                      ; => #t
(generator? (integers))                                                    ; => #t
(generator? 1)                                                             ; => #f
(generator-sample (constant 'a) :count 3)                                ; => (a a a)
(all? boolean? (drawn booleans))                                           ; => #t
(and (memv #t (drawn booleans)) (memv #f (drawn booleans)) #t)             ; => #t
(all? exact-integer? (drawn (integers)))                                   ; => #t
(all? (lambda (n) (<= -3 n 5)) (drawn (integers -3 5)))                    ; => #t
(and (memv -3 (drawn (integers -3 5))) (memv 5 (drawn (integers -3 5))) #t) ; => #t
(length (drawn (integers 7 7)))                                            ; => 300
(all? (lambda (n) (and (real? n) (inexact? n))) (drawn reals))             ; => #t
(all? char? (drawn characters))                                            ; => #t
(all? string? (drawn (strings)))                                           ; => #t
(all? (lambda (s) (<= 2 (string-length s) 4)) (drawn (strings :min 2 :max 4))) ; => #t
(all? (lambda (s) (string=? s (make-string (string-length s) #\z)))
  (drawn (strings (constant #\z))))                                      ; => #t
(all? symbol? (drawn symbols))                                             ; => #t
(all? (lambda (x) (memq x '(a b c))) (drawn (elements '(a b c))))          ; => #t
(all? (lambda (x) (or (boolean? x) (symbol? x))) (drawn (one-of booleans symbols))) ; => #t
(all? (lambda (l) (<= 1 (length l) 3)) (drawn (lists-of booleans :min 1 :max 3))) ; => #t
(all? vector? (drawn (vectors-of booleans)))                               ; => #t
(all? (lambda (t) (and (boolean? (car t)) (exact-integer? (cadr t))))
  (drawn (tuples-of booleans (integers))))
; => #t
(all? even? (drawn (generator-map (lambda (n) (* 2 n)) (integers))))       ; => #t
(all? even? (drawn (such-that even? (integers))))                          ; => #t
(all? (lambda (l) (= (car l) (- (length l) 1)))
  (drawn
    (generator-bind (integers 0 4)
      (lambda (n)
        (generator-map (lambda (rest) (cons n rest)) (lists-of booleans :min n :max n)))))) ; => #t
(all? (lambda (n) (<= 1 n 100)) (drawn (sized constant)))                ; => #t
(same? (lists-of (one-of (integers) (strings) reals)))                     ; => #t
(equal? (generator-sample (integers) :seed 1) (generator-sample (integers) :seed 2)) ; => #f
(integers 3)                                                               ; raises: wrong-type
(integers 3 2)                                                             ; raises: wrong-type
(elements '())                                                             ; raises: wrong-type
(lists-of 3)                                                               ; raises: wrong-type
(lists-of booleans :min 3 :max 2)                                          ; raises: wrong-type
(frequency)                                                                ; raises: wrong-type
(frequency (list 0 booleans))                                              ; raises: wrong-type
(generator-map 1 booleans)                                                 ; raises: wrong-type
(generator-sample (generator-bind booleans (lambda (x) x)))                ; raises: wrong-type
(generator-sample (such-that symbol? booleans))                            ; raises: too-few
