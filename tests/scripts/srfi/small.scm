;; SRFIs of one or two names.
(import (scheme base) (srfi 2) (srfi 6) (srfi 8) (srfi 9) (srfi 11) (srfi 16) (srfi 23) (srfi 26) (srfi 28) (srfi 31) (srfi 39) (srfi 45)
        (srfi 87) (srfi 111) (srfi 145) (srfi 197))
(list (and-let* () 1) (and-let* ((x 5) ((> x 3)) (y (* x 2))) (list x y)) (and-let* ((x #f) (y (car x))) y) (and-let* ((x 1))) (and-let*()))
; => (1 (5 10) #f 1 #t)
(receive (first . rest) (values 1 2 3) (list first rest))                                 ; => (1 (2 3))
(list (map (cut * 2 <>) '(1 2)) ((cut list 1 <> 3 <...>) 2 4 5) ((cut + 1 2)) ((cut <> 1 2) list)) ; => ((2 4) (1 2 3 4 5) 3 (1 2))
(let* ((n 0) (next (lambda () (set! n (+ n 1)) n)) (f (cute list (next) <>)) (g (cut list (next) <>)))
  (list (f 'a) (f 'b) (g 'c) (g 'd)))                                                     ; => ((1 a) (1 b) (2 c) (3 d))
(format "~a and ~s~% ~~" "a" "b")                                                         ; => "a and \"b\"\n ~"
(format "~a")                                                                             ; raises: error
(format "~q" 1)                                                                           ; raises: error
((rec (factorial n) (if (= n 0) 1 (* n (factorial (- n 1))))) 10)                         ; => 3628800
(define (stream-from n) (lazy (eager (cons n (stream-from (+ n 1))))))
(let loop ((stream (stream-from 0)) (n 0)) (if (= n 5000) (car (force stream)) (loop (cdr (force stream)) (+ n 1)))) ; => 5000
(promise? (force (eager (delay 1))))                                                      ; => #t
(let ((b (box 1))) (set-box! b (+ (unbox b) 1)) (list (unbox b) (box? b) (box? 1)))       ; => (2 #t #f)
(assume (= 1 1))                                                                          ; => #t
(assume (= 1 2) "they differ")                                                            ; raises: error
(chain 5 (+ _ 1) (list _ 'end))                                                           ; => (6 end)
(chain (values 1 2 3) (list _ 0 _ ...) (reverse _))                                       ; => (3 2 0 1)
(chain (values 1 2) (- _ _))                                                              ; => -1
(list (chain-and 5 (even? _) (car _)) (chain-and '((a . 1)) (assq 'a _) (cdr _))) ; => (#f 1)
(chain-when 4 ((even? _) (* _ 10)) ((odd? _) (list _)) ((+ _ 1)))                         ; => 41
(map (chain-lambda (* _ 2) (+ _ 1)) '(1 2))                                               ; => (3 5)
(list (chain 5 <> (+ <> 1) (list <> '_)) (chain (values 1 2) - --- (list 0 - ---)) (chain-and 5 <> (odd? <>) (list <> '_)) (chain-when 4 <> ((even? <>) (* <> 10))) ((chain-lambda <> (+ <> 1)) 1))
; => ((6 _) (0 1 2) (#t _) 40 2)
(list (nest (quote _) (1 2 _) (3 _ 5) (_) 4) (nest <> (list 1 <>) (+ 2 <>) 3) (nest-reverse 3 (+ 2 _) (list _ 1)) (nest-reverse 3 <> (list <>)))       ; => ((1 2 (3 (4) 5)) (1 5) (5 1) (3))
(nest (list 1 _) (list 2 _) 3)                                                            ; => (1 (2 3))
(nest-reverse 3 (list 2 _) (list 1 _))                                                    ; => (1 (2 3))
