;; `csv->rows` reads tables as RFC 4180 describes them, and `csv-error-line` says where one is none.
(import (scheme base) (scheme write) (duet csv))

(define crlf "\r\n")
(csv->rows "")                                        ; => ()
(csv->rows "a,b\r\nc,d\r\n")                          ; => (("a" "b") ("c" "d"))
(csv->rows "a,b\nc,d")                                ; => (("a" "b") ("c" "d"))
(csv->rows "\"a\",\"b, c\"\r\n\"d\"\"e\",\"f\r\ng\"") ; => (("a" "b, c") ("d\"e" "f\r\ng"))
(csv->rows ",\r\n")                                   ; => (("" ""))
(csv->rows " a , b ")                                 ; => ((" a " " b "))
(csv->rows "\n")                                      ; => ((""))
(csv->rows "\xfeff;a,b")                              ; => (("a" "b"))
(csv->rows "a;b,c" :separator #\;)                    ; => (("a" "b,c"))
(csv->rows "a,b\nc" :ragged #t)                       ; => (("a" "b") ("c"))
(read-csv (open-input-string "a,\"b\"\n"))            ; => (("a" "b"))

(define (place text)
  (guard (e ((csv-error? e) (csv-error-line e)))
    (csv->rows text)))

(place "a\n\"b\nc")                                   ; => 2
(place "a\nb\"c\n")                                   ; => 2
(place "\"a\nb\"c")                                   ; => 2
(place "a\rb")                                        ; => 1
(place "a,b\nc,d\n\"e\ne\"\n")                        ; => 3
(csv->rows "a\n\"b")                                  ; raises: csv-error
(csv->rows 1)                                         ; raises: wrong-type
(csv->rows "a" :separator #\")                        ; raises: wrong-type
(csv-error-line 1)                                    ; raises: wrong-type

;; A long text takes time in proportion.
(define (repeated text count)
  (let ((port (open-output-string)))
    (do ((i 0 (+ i 1)))
        ((= i count) (get-output-string port))
      (write-string text port))))
(length (csv->rows (repeated "a,\"b\"\n" 5000)))      ; => 5000
(string-length (caar (csv->rows (string-append "\"" (repeated "x\n" 5000) "\"")))) ; => 10000
