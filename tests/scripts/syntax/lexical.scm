;; The reader accepts more than the report asks.

;; Brackets are parentheses, if they match.
(let ([x 1] [y 2]) [list x y])            ; => (1 2)
'[a [b . c] #(d [e])]                     ; => (a (b . c) #(d (e)))
(read (open-input-string "[a (b] c)"))    ; raises: read-error

;; A name may begin like a number, if it could not be meant as one.
'(1+ -1+ 2d-vector 1st 64?)               ; => (1+ -1+ 2d-vector 1st 64?)
(let ((3x (lambda (n) (* 3 n)))) (3x 4))  ; => 12
(string->number "2d-vector")              ; => #f
(read (open-input-string "1.2.3"))        ; raises: read-error
(read (open-input-string "1/0"))          ; raises: read-error

;; The exponent marks of R5RS stand for the one precision that there is.
(list 1s2 1F2 1d-2 1L2)                   ; => (100.0 100.0 0.01 100.0)
(string->number "#e1d2")                  ; => 100
#x1f2                                     ; => 498

;; A symbol that begins like an infinity or NaN is written between bars; bytevectors may be
;; written as in R6RS.
(let ((port (open-output-string)))
  (write (map string->symbol '("+nan.0abc" "-INF.0x" "+inf" "-inf.0")) port)
  (get-output-string port))               ; => "(|+nan.0abc| |-INF.0x| +inf |-inf.0|)"
#vu8(1 2 255)                             ; => #u8(1 2 255)

;; Names of characters, those of R6RS and of earlier reports too; their case does not count.
(char->integer #\Space)                   ; => 32
(char->integer #\NEWLINE)                 ; => 10
(char->integer #\nul)                     ; => 0
(char->integer #\linefeed)                ; => 10
(char->integer #\page)                    ; => 12
(char->integer #\esc)                     ; => 27
(char->integer #\rubout)                  ; => 127
(char->integer #\vtab)                    ; => 11
(char->integer #\x41)                     ; => 65
