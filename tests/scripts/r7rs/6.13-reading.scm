;; R7RS 6.13: reading.
(define (from-string text) (read (open-input-string text)))

;; Comments, abbreviations and directives.
(from-string "(a . b) rest")                         ; => (a . b)
(from-string "#;hidden shown")                       ; => shown
(from-string "#| a #| nested |# |# x")               ; => x
(from-string "; comment\n x")                        ; => x
(from-string "(1 #;2 3 #;(4))")                      ; => (1 3)
(from-string "#(1 #u8(2) #\\a \"b\\n\")")            ; => #(1 #u8(2) #\a "b\n")
(from-string "'a")                                   ; => 'a
(from-string "`(a ,b ,@c)")                          ; => `(a ,b ,@c)
(from-string "#!fold-case ABC")                      ; => abc
(from-string "#!fold-case STRAẞE")                   ; => strasse
(from-string "#!fold-case ΑΣ")                       ; => ασ
(from-string "#!fold-case #!no-fold-case ABC")       ; => ABC

;; Symbols, booleans, characters, numbers.
(from-string "|A b|")                                ; => |A b|
(from-string "#true")                                ; => #t
(from-string "#\\x")                                 ; => #\x
(from-string "#\\x41")                               ; => #\A
(from-string "#\\(")                                 ; => #\(
(from-string "(#\\a)")                               ; => (#\a)
(from-string "#e1.5")                                ; => 3/2

;; Labels, and several data in a row.
(let ((x (from-string "#0=(a . #0#)"))) (eq? x (cdr x)))  ; => #t
(let ((x (from-string "(#1=(1) #1#)"))) (eq? (car x) (cadr x)))  ; => #t
(let ((p (open-input-string "1 2 three")))
  (let* ((a (read p)) (b (read p)) (c (read p)) (d (read p))) (list a b c (eof-object? d))))
; => (1 2 three #t)

;; Text that is no datum.
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

;; Length costs no stack.
(length (from-string (let ((out (open-output-string)))
                       (write (make-list 50000 'x) out)
                       (get-output-string out))))    ; => 50000
;; A datum comment is a blank, also for the labels in it.
(from-string "(#0=(42 . #0#) #;#0=())")                      ; => (#0=(42 . #0#))
(from-string "(#;#0=(a) #0=(b) #0#)")                        ; => ((b) (b))
