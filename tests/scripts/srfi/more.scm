;; SRFIs of a few names, and libraries of R7RS-large that are SRFIs.
(import (scheme base) (srfi 27) (srfi 38) (srfi 60) (srfi 141) (srfi 143) (srfi 227))

;; 27: the same numbers in each run; those of the generator's authors.
(let ((s (make-random-source))) (list (random-source? s) (random-source? 1) (random-source-state-ref s)))
; => (#t #f (mrg32k3a 12345 12345 12345 12345 12345 12345))
(let* ((s (make-random-source)) (next (random-source-make-integers s)))
  (let* ((a (next 100)) (saved (random-source-state-ref s)) (b (next (expt 10 30))))
    (random-source-state-set! s saved)
    (= b (next (expt 10 30)))))                                              ; => #t
(let loop ((n 0) (seen '()))
  (if (= n 1000)
      (length seen)
      (let ((x (random-integer 6))) (loop (+ n 1) (if (memv x seen) seen (cons x seen))))))  ; => 6
(let loop ((n 0)) (cond ((= n 1000) 'all) ((< 0 (random-real) 1) (loop (+ n 1))) (else 'not))) ; => all
(let ((a (make-random-source)) (b (make-random-source)))
  (random-source-pseudo-randomize! a 1 2)
  (random-source-pseudo-randomize! b 1 3)
  (let ((x ((random-source-make-integers a) (expt 2 60))) (y ((random-source-make-integers b) (expt 2 60))))
    (random-source-pseudo-randomize! a 1 2)
    (list (= x y) (= x ((random-source-make-integers a) (expt 2 60))))))     ; => (#f #t)
(random-integer 0)                                                           ; raises: error

;; 38
(let ((x (list 1 2)))
  (call-with-port (open-output-string)
    (lambda (port) (write-with-shared-structure (list x x) port) (get-output-string port)))) ; => "(#0=(1 2) #0#)"
(let ((x (read/ss (open-input-string "(#0=(1) #0#)")))) (eq? (car x) (cadr x))) ; => #t

;; 60
(list (logand 12 10) (logior 12 10) (logxor 12 10) (lognot 5) (ash 1 10) (ash 1024 -3))  ; => (8 14 6 -6 1024 128)
(list (logtest 4 6) (logbit? 2 4) (logcount 255) (integer-length 255) (log2-binary-factors 24)) ; => (#t #t 8 8 3)
(list (integer->list 6) (integer->list 6 5) (list->integer '(#t #t #f)) (booleans->integer #t #f)) ; => ((#t #t #f) (#f #f #t #t #f) 6 2)
(list (copy-bit-field 0 -1 2 4) (rotate-bit-field 6 1 0 4) (reverse-bit-field 1 0 8))    ; => (12 12 128)

;; 61
(import (rename (srfi 61) (cond cond*)))
(list (cond* ((values 1 2) < => list) (else 'no))
      (cond* ((values 2 1) < => list) (else 'no))
      (cond* ((assv 2 '((1 . a) (2 . b))) => cdr) (else 'no))
      (cond* (#f 1) (2)))                                                    ; => ((1 2) no b 2)

;; 195
(import (rename (srfi 195) (box box*) (unbox unbox*)))
(let ((b (box* 1 2 3)))
  (set-box-value! b 1 'two)
  (list (box-arity b) (unbox-value b 1) (call-with-values (lambda () (unbox* b)) list)))  ; => (3 two (1 two 3))
(set-box! (box* 1 2) 3)                                                      ; raises: error

;; 219
(import (rename (srfi 219) (define define*)))
(define* ((adder a) . b) (cons a b))
((adder 1) 2 3)                                                              ; => (1 2 3)

;; 141: the signs of dividend and divisor in all ways.
(define (signs divide)
  (map (lambda (n d) (call-with-values (lambda () (divide n d)) list)) '(7 -7 7 -7 8) '(2 2 -2 -2 3)))
(signs floor/)                                                               ; => ((3 1) (-4 1) (-4 -1) (3 -1) (2 2))
(signs truncate/)                                                            ; => ((3 1) (-3 -1) (-3 1) (3 -1) (2 2))
(signs ceiling/)                                                             ; => ((4 -1) (-3 -1) (-3 1) (4 1) (3 -1))
(signs round/)                                                               ; => ((4 -1) (-4 1) (-4 -1) (4 1) (3 -1))
(signs euclidean/)                                                           ; => ((3 1) (-4 1) (-3 1) (4 1) (2 2))
(signs balanced/)                                                            ; => ((4 -1) (-3 -1) (-4 -1) (3 -1) (3 -1))
(list (round-quotient 5 2) (round-remainder 5 2) (euclidean-remainder -1 5) (balanced-remainder 3 5)) ; => (2 1 4 -2)

;; 143
(list (fixnum? fx-greatest) (fixnum? (+ fx-greatest 1)) (fixnum? 1.0) (= (expt 2 (- fx-width 1)) (- fx-least))) ; => (#t #f #f #t)
(list (fx+ 1 2) (fx- 1 2) (fx* 3 4) (fxneg 5) (fxabs -5) (fxquotient 7 2) (fxsquare 5))  ; => (3 -1 12 -5 5 3 25)
(fx+ fx-greatest 1)                                                          ; raises: error
(call-with-values (lambda () (fx+/carry fx-greatest 1 0)) (lambda (low carry) (list (= low fx-least) carry)))  ; => (#t 1)
(call-with-values (lambda () (fx*/carry fx-greatest 2 0)) list)              ; => (-2 1)
(list (fxarithmetic-shift 1 4) (fxarithmetic-shift-right 16 4) (fxand 6 3) (fxif 12 10 5) (fxbit-field 30 1 3)) ; => (16 1 2 9 3)

;; 227
((opt-lambda (a (b 2) (c 3)) (list a b c)) 1)                                ; => (1 2 3)
((opt-lambda (a (b 2) . rest) (list a b rest)) 1 20 30 40)                   ; => (1 20 (30 40))
((opt-lambda (a (b 2)) (list a b)) 1 2 3)                                    ; raises: error
(let ((b 10)) ((opt-lambda (a (b 2) (c b)) (list a b c)) 1 5))               ; => (1 5 10)
(let ((b 10)) ((opt*-lambda (a (b 2) (c b)) (list a b c)) 1 5))              ; => (1 5 5)
(define-optionals* (area width (height width)) (* width height))
(list (area 3) (area 3 4))                                                   ; => (9 12)
(let-optionals '(1) (a (b 2)) (list a b))                                    ; => (1 2)

;; Names that stand for the same library.
(import (only (scheme list) fold) (only (scheme vector) vector-count) (only (scheme sort) list-sort) (only (scheme box) box unbox)
        (only (scheme bitwise) bit-swap) (only (scheme hash-table) hash-table?) (only (scheme generator) make-range-generator)
        (only (scheme comparator) make-default-comparator) (only (scheme charset) char-set:digit) (only (scheme set) set-size)
        (only (scheme list-queue) list-queue) (only (scheme stream) stream-null) (only (scheme division) floor/) (only (scheme fixnum) fx+))
(list (fold + 0 '(1 2 3)) (vector-count even? #(1 2 4)) (list-sort < '(3 1 2)) (unbox (box 1)))  ; => (6 2 (1 2 3) 1)
