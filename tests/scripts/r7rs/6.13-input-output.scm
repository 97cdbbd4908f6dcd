;; R7RS 6.13: string and bytevector ports, reading and writing.
(define-syntax written
  (syntax-rules () ((_ (write-it port) ...) (let ((out (open-output-string))) (let ((port out)) (write-it port)) ... (get-output-string out)))))
(define (to-string object) (let ((out (open-output-string))) (write object out) (get-output-string out)))
(define (shared object) (let ((out (open-output-string))) (write-shared object out) (get-output-string out)))
(define (simple object) (let ((out (open-output-string))) (write-simple object out) (get-output-string out)))
(define (shown object) (let ((out (open-output-string))) (display object out) (get-output-string out)))
(define (from-string text) (read (open-input-string text)))

;; Ports are values.
(define in (open-input-string "hello there\nline two\r\nlast"))
(list (port? in) (input-port? in) (output-port? in) (textual-port? in) (binary-port? in))  ; => (#t #t #f #t #f)
(list (port? 1) (input-port? "a"))                   ; => (#f #f)
(input-port-open? in)                                ; => #t
(output-port-open? in)                               ; raises: wrong-type
(peek-char in)                                       ; => #\h
(read-char in)                                       ; => #\h
(char-ready? in)                                     ; => #t
(read-string 4 in)                                   ; => "ello"
(read-line in)                                       ; => " there"
(read-line in)                                       ; => "line two"
(read-line in)                                       ; => "last"
(eof-object? (read-line in))                         ; => #t
(eof-object? (read-char in))                         ; => #t
(eof-object? (peek-char in))                         ; => #t
(eof-object? (read-string 5 in))                     ; => #t
(eof-object? (eof-object))                           ; => #t
(read-u8 in)                                         ; raises: wrong-type
(close-input-port in)
(input-port-open? in)                                ; => #f
(read-char in)                                       ; raises: port-closed
(close-port in)
(read-char 5)                                        ; raises: wrong-type
(let ((p (open-input-string "")))  (eof-object? (read p)))  ; => #t
(read-string 0 (open-input-string "abc"))            ; => ""
(read-line (open-input-string "\n"))                 ; => ""

(define bin (open-input-bytevector #u8(1 2 3 4 5 6)))
(list (textual-port? bin) (binary-port? bin))        ; => (#f #t)
(list (peek-u8 bin) (read-u8 bin) (u8-ready? bin) (read-bytevector 2 bin))  ; => (1 1 #t #u8(2 3))
(let ((target (make-bytevector 5 0))) (let ((n (read-bytevector! target bin 1 3))) (list n target)))  ; => (2 #u8(0 4 5 0 0))
(let ((target (make-bytevector 4 0))) (let ((n (read-bytevector! target bin))) (list n target)))  ; => (1 #u8(6 0 0 0))
(list (eof-object? (read-u8 bin)) (eof-object? (read-bytevector 1 bin)))  ; => (#t #t)
(read-char bin)                                      ; raises: wrong-type

(let ((out (open-output-string)))
  (write 'a out) (write-char #\space out) (write-string "hello" out) (write-string "hello" out 1 3) (newline out) (display "s" out)
  (get-output-string out))                           ; => "a helloel\ns"
(let ((out (open-output-bytevector)))
  (write-u8 1 out) (write-bytevector #u8(2 3 4) out) (write-bytevector #u8(5 6 7) out 1 2) (flush-output-port out)
  (get-output-bytevector out))                       ; => #u8(1 2 3 4 6)
(get-output-string (open-input-string "a"))          ; raises: wrong-type
(write-u8 256 (open-output-bytevector))              ; raises: wrong-type
(write-u8 1 (open-output-string))                    ; raises: wrong-type
(let ((out (open-output-string))) (close-output-port out) (write 1 out))  ; raises: port-closed
(call-with-port (open-input-string "(1 2)") read)    ; => (1 2)
(let ((p (open-input-string "x"))) (call-with-port p read) (input-port-open? p))  ; => #f
(call-with-values (lambda () (call-with-port (open-input-string "") (lambda (p) (values 1 2)))) list)  ; => (1 2)
(let ((out (open-output-string))) (parameterize ((current-output-port out)) (write "x") (display "y") (newline)) (get-output-string out))  ; => "\"x\"y\n"
(parameterize ((current-input-port (open-input-string "abc def"))) (list (read) (read-char) (read-line)))  ; => (abc #\space "def")
(list (input-port? (current-input-port)) (output-port? (current-output-port)) (textual-port? (current-error-port)))  ; => (#t #t #t)

;; Reading.
(from-string "(a . b) rest")                         ; => (a . b)
(from-string "#;hidden shown")                       ; => shown
(from-string "#| a #| nested |# |# x")               ; => x
(from-string "; comment\n x")                        ; => x
(from-string "(1 #;2 3 #;(4))")                      ; => (1 3)
(from-string "#(1 #u8(2) #\\a \"b\\n\")")            ; => #(1 #u8(2) #\a "b\n")
(from-string "'a")                                   ; => 'a
(from-string "`(a ,b ,@c)")                          ; => `(a ,b ,@c)
(from-string "#!fold-case ABC")                      ; => abc
(from-string "#!fold-case #!no-fold-case ABC")       ; => ABC
(from-string "|A b|")                                ; => |A b|
(from-string "#true")                                ; => #t
(from-string "#\\x")                                 ; => #\x
(from-string "#\\x41")                               ; => #\A
(from-string "#\\(")                                 ; => #\(
(from-string "(#\\a)")                               ; => (#\a)
(from-string "#e1.5")                                ; => 3/2
(let ((x (from-string "#0=(a . #0#)"))) (eq? x (cdr x)))  ; => #t
(let ((x (from-string "(#1=(1) #1#)"))) (eq? (car x) (cadr x)))  ; => #t
(let ((p (open-input-string "1 2 three"))) (let* ((a (read p)) (b (read p)) (c (read p)) (d (read p))) (list a b c (eof-object? d))))  ; => (1 2 three #t)
(from-string "(1 . )")                               ; raises: read-error
(from-string "(1 2")                                 ; raises: read-error
(from-string "\"abc")                                ; raises: read-error
(from-string ")")                                    ; raises: read-error
(from-string "#<thing>")                             ; raises: read-error
(from-string "#\\nonsense")                          ; raises: read-error
(from-string "#5#")                                  ; raises: read-error
(from-string "#u8(256)")                             ; raises: read-error
(from-string "\"\\xD800;\"")                         ; raises: read-error
(from-string "#|")                                   ; raises: read-error
(length (from-string (let ((out (open-output-string))) (write (make-list 50000 'x) out) (get-output-string out))))  ; => 50000

;; Writing: labels for what is circular, for what is shared, or for nothing.
(to-string '(a "b\n\\\"" #\c #\space 1.5 |d e| #t () #(1)))  ; => "(a \"b\\n\\\\\\\"\" #\\c #\\space 1.5 |d e| #t () #(1))"
(shown '(a "b\n" #\c (#\space "x") |d e|))           ; => "(a b\n c (  x) d e)"
(to-string ''a)                                      ; => "'a"
(to-string '(quote a b))                             ; => "(quote a b)"
(to-string '(1 quote a))                             ; => "(1 quote a)"
(let ((x (list 'a 'b 'c))) (set-cdr! (cddr x) x) (list (to-string x) (shared x) (shown x)))  ; => ("#0=(a b c . #0#)" "#0=(a b c . #0#)" "#0=(a b c . #0#)")
(let* ((x (list 1)) (y (list x x))) (list (to-string y) (shared y) (simple y)))  ; => ("((1) (1))" "(#0=(1) #0#)" "((1) (1))")
(let ((v (vector 1 #f))) (vector-set! v 1 v) (to-string v))  ; => "#0=#(1 #0#)"
(let ((x (list 1 2)) (y (list 3))) (set-cdr! (cdr x) x) (set-cdr! y y) (to-string (list x y)))  ; => "(#0=(1 2 . #0#) #1=(3 . #1#))"
;; Labels are for pairs and vectors only.
(let ((s (string #\a))) (shared (list s s)))         ; => "(\"a\" \"a\")"
(let ((x (from-string (shared (let ((c (list 1))) (vector c c)))))) (eq? (vector-ref x 0) (vector-ref x 1)))  ; => #t
(to-string (string #\x7 #\x0 #\x7f #\é))             ; => "\"\\a\\x0;\\x7f;é\""
(to-string (eof-object))                             ; => "#<eof>"
;; What is read and written is the same.
(define (round-trip x) (equal? x (from-string (to-string x))))
(map round-trip (list '(a . (b . #(c "d\x3bb;" #\x3bb #\x0 #\delete))) -1/3 1e-7 "\\\"\n\t" '|x y| (string->symbol "") #u8(0 255) ''`,@a))  ; => (#t #t #t #t #t #t #t #t)
;; Depth costs no stack.
(define (nest n) (let loop ((n n) (r '())) (if (= n 0) r (loop (- n 1) (list r)))))
(string-length (to-string (nest 100000)))            ; => 200002

;; Any datum can be read, also the one that is false, and case folding lasts.
(let ((port (open-input-string "#f #false (#f)"))) (let* ((a (read port)) (b (read port)) (c (read port))) (list a b c (eof-object? (read port)))))  ; => (#f #f (#f) #t)
(let ((port (open-input-string "#!fold-case ABC DEF #!no-fold-case GHI"))) (let* ((a (read port)) (b (read port)) (c (read port))) (list a b c)))  ; => (abc def GHI)
(call-with-values (lambda () (call-with-port (open-input-string "x") (lambda (port) (values 1 2)))) list)  ; => (1 2)
