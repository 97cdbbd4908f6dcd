;; R7RS 6.13: string and bytevector ports.

;; Ports are values.
(define in (open-input-string "hello there\nline two\r\nlast"))
(port? in)                                           ; => #t
(input-port? in)                                     ; => #t
(output-port? in)                                    ; => #f
(textual-port? in)                                   ; => #t
(binary-port? in)                                    ; => #f
(port? 1)                                            ; => #f
(input-port? "a")                                    ; => #f
(input-port-open? in)                                ; => #t
(output-port-open? in)                               ; => #f

;; Reading characters, strings and lines.
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
(let ((p (open-input-string ""))) (eof-object? (read p)))  ; => #t
(read-string 0 (open-input-string "abc"))            ; => ""
(read-line (open-input-string "\n"))                 ; => ""

;; Reading bytes.
(define bin (open-input-bytevector #u8(1 2 3 4 5 6)))
(textual-port? bin)                                  ; => #f
(binary-port? bin)                                   ; => #t
(peek-u8 bin)                                        ; => 1
(read-u8 bin)                                        ; => 1
(u8-ready? bin)                                      ; => #t
(read-bytevector 2 bin)                              ; => #u8(2 3)
(let ((target (make-bytevector 5 0))) (let ((n (read-bytevector! target bin 1 3))) (list n target)))
; => (2 #u8(0 4 5 0 0))
(let ((target (make-bytevector 4 0))) (let ((n (read-bytevector! target bin))) (list n target)))
; => (1 #u8(6 0 0 0))
(eof-object? (read-u8 bin))                          ; => #t
(eof-object? (read-bytevector 1 bin))                ; => #t
(read-char bin)                                      ; raises: wrong-type

;; Writing.
(let ((out (open-output-string)))
  (write 'a out)
  (write-char #\space out)
  (write-string "hello" out)
  (write-string "hello" out 1 3)
  (newline out)
  (display "s" out)
  (get-output-string out))                           ; => "a helloel\ns"
(let ((out (open-output-bytevector)))
  (write-u8 1 out)
  (write-bytevector #u8(2 3 4) out)
  (write-bytevector #u8(5 6 7) out 1 2)
  (flush-output-port out)
  (get-output-bytevector out))                       ; => #u8(1 2 3 4 6)
(get-output-string (open-input-string "a"))          ; raises: wrong-type
(write-u8 256 (open-output-bytevector))              ; raises: wrong-type
(write-u8 1 (open-output-string))                    ; raises: wrong-type
(let ((out (open-output-string))) (close-output-port out) (write 1 out))  ; raises: port-closed

;; Ports for the extent of a call.
(call-with-port (open-input-string "(1 2)") read)    ; => (1 2)
(let ((p (open-input-string "x"))) (call-with-port p read) (input-port-open? p))  ; => #f
(call-with-values
  (lambda () (call-with-port (open-input-string "") (lambda (p) (values 1 2))))
  list)                                              ; => (1 2)
(let ((out (open-output-string)))
  (parameterize ((current-output-port out)) (write "x") (display "y") (newline))
  (get-output-string out))                           ; => "\"x\"y\n"
(parameterize ((current-input-port (open-input-string "abc def")))
  (list (read) (read-char) (read-line)))             ; => (abc #\space "def")

;; The ports of the program.
(input-port? (current-input-port))                   ; => #t
(output-port? (current-output-port))                 ; => #t
(textual-port? (current-error-port))                 ; => #t
