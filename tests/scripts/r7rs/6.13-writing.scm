;; R7RS 6.13: writing: labels for what is circular, for what is shared, or for nothing.
(define (printed print object)
  (let ((out (open-output-string))) (print object out) (get-output-string out)))
(define (to-string object) (printed write object))
(define (shared object) (printed write-shared object))
(define (simple object) (printed write-simple object))
(define (shown object) (printed display object))
(define (from-string text) (read (open-input-string text)))

(to-string '(a "b\n\\\"" #\c #\space 1.5 |d e| #t () #(1)))
; => "(a \"b\\n\\\\\\\"\" #\\c #\\space 1.5 |d e| #t () #(1))"
(shown '(a "b\n" #\c (#\space "x") |d e|))           ; => "(a b\n c (  x) d e)"
(to-string ''a)                                      ; => "'a"
(to-string '(quote a b))                             ; => "(quote a b)"
(to-string '(1 quote a))                             ; => "(1 quote a)"
(let ((x (list 'a 'b 'c))) (set-cdr! (cddr x) x) (list (to-string x) (shared x) (shown x)))
; => ("#0=(a b c . #0#)" "#0=(a b c . #0#)" "#0=(a b c . #0#)")
(let* ((x (list 1)) (y (list x x))) (list (to-string y) (shared y) (simple y)))
; => ("((1) (1))" "(#0=(1) #0#)" "((1) (1))")
(let ((v (vector 1 #f))) (vector-set! v 1 v) (to-string v))  ; => "#0=#(1 #0#)"
(let ((x (list 1 2)) (y (list 3))) (set-cdr! (cdr x) x) (set-cdr! y y) (to-string (list x y)))
; => "(#0=(1 2 . #0#) #1=(3 . #1#))"
;; Labels are for pairs and vectors only.
(let ((s (string #\a))) (shared (list s s)))         ; => "(\"a\" \"a\")"
(let ((x (from-string (shared (let ((c (list 1))) (vector c c))))))
  (eq? (vector-ref x 0) (vector-ref x 1)))           ; => #t
(to-string (string #\x7 #\x0 #\x7f #\é))             ; => "\"\\a\\x0;\\x7f;é\""
(to-string (eof-object))                             ; => "#<eof>"
;; A datum that is written and read again is equal.
(define (round-trip x) (equal? x (from-string (to-string x))))
(map round-trip
     (list '(a . (b . #(c "d\x3bb;" #\x3bb #\x0 #\delete)))
           -1/3
           1e-7
           "\\\"\n\t"
           '|x y|
           (string->symbol "")
           #u8(0 255)
           ''`,@a))                                  ; => (#t #t #t #t #t #t #t #t)
;; Depth costs no stack.
(define (nest n) (let loop ((n n) (r '())) (if (= n 0) r (loop (- n 1) (list r)))))
(string-length (to-string (nest 100000)))            ; => 200002
