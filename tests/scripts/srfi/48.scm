;; SRFI 48: format strings.
(import (scheme base) (scheme write) (srfi 48))

;; Directives.
(format "~a ~s ~a" "a" "b" '(1 #\c))                                     ; => "a \"b\" (1 c)"
(format #f "~d ~x ~o ~b" 10 255 8 5)                                     ; => "10 ff 10 101"
(format "~c~c~t~_~~~%" #\a #\b)                                          ; => "ab\t ~\n"
(let ((loop (list 1 2))) (set-cdr! (cdr loop) loop) (format "~w" loop))  ; => "#0=(1 2 . #0#)"
(format "~? ~a" "~a+~a" '(1 2) 3)                                        ; => "1+2 3"
(format "~k" "~s" '(x))                                                  ; => "x"

;; A newline, unless the call has just written one.
(format "a~&~&b")                       ; => "a\nb"
(format "~&a")                          ; => "\na"
(format "a~%~&b")                       ; => "a\nb"
(format #f "~&1~&~&2~&~&~&3~%")         ; => "\n1\n2\n3\n"
(format "~a~a~&" (string #\newline) "")  ; => "\n"
(format "~?~&b" "a~%" '())              ; => "a\nb"

;; Width and decimals.
(format "~8,2F" 32)          ; => "   32.00"
(format "~6,3F" 1/3)         ; => " 0.333"
(format "~4F" 12)            ; => "  12"
(format "~8,3F" 12.3456)     ; => "  12.346"
(format "~,2f" 0.005)        ; => "0.00"
(format "~0,1F" -0.25)       ; => "-0.2"
(format "~8,2F" "foo")       ; => "     foo"
;; With decimals, the number is made inexact.
(format "~1,20F" 1/3)        ; => "0.33333333333333330000"
(format "~1F" 1/3)           ; => "1/3"
(format "~1,2F" (expt 10 21))  ; => "1.00e21"
(format "~1,2F" 4321)        ; => "4321.00"
(format "~12,2F" 3.5e78)     ; => "     3.50e78"
(format "~1,2F" 1.23+4.56i)  ; => "1.23+4.56i"
(format "~5,2F" 0.999)       ; => " 1.00"
(format "~1,1F" +inf.0)      ; => "+inf.0"
(format "~6,1F" -1e-30)      ; => "-1.0e-30"

;; Ports.
(let ((port (open-output-string)))
  (format port "~a" 1)
  (parameterize ((current-output-port port)) (format #t "~a~y" 2 "x"))
  (get-output-string port))  ; => "12\"x\"\n"

;; The help text, and strings that do not fit their arguments.
(string? (format "~h"))  ; => #t
(format "~a")            ; raises: error
(format "a" 1)           ; raises: error
(format "~q" 1)          ; raises: error
(format "~c" 1)          ; raises: error
(format "~")             ; raises: error
(format "~d" "x")        ; raises: error
(format "~x" #\a)        ; raises: error
(format "~?" "~a" '(1 2))  ; raises: error
(format "~?" "~a" 1)     ; raises: error
(format "~?" 'a '(1))    ; raises: error
(format 'port "")        ; raises: error
(format #t 'template)    ; raises: error
