;; `rows->csv` quotes a field only if it has to, and `csv->rows` reads back what it writes.
(import (scheme base) (scheme write) (duet csv))

(rows->csv '())                                       ; => ""
(rows->csv '(("a" "b") ("c" 1/2)))                    ; => "a,b\r\nc,1/2\r\n"
(rows->csv '(("a,b" "c\"d" "e\nf")))                  ; => "\"a,b\",\"c\"\"d\",\"e\nf\"\r\n"
(rows->csv '(("a,b" "c;d")) :separator #\;)           ; => "a,b;\"c;d\"\r\n"
(let ((port (open-output-string)))
  (write-csv '(("a") ("")) port)
  (get-output-string port))                           ; => "a\r\n\r\n"

(define rows '(("" "a b" "\"") ("\r\n" "\r" ",") ("\xfeff;" " " "x\"\"y") ("é" "𝄞" "'")))
(equal? rows (csv->rows (rows->csv rows)))            ; => #t
(equal? '(("\xfeff;")) (csv->rows (rows->csv '(("\xfeff;"))))) ; => #t
(equal? '(("")) (csv->rows (rows->csv '(("")))))      ; => #t

(rows->csv '(()))                                     ; raises: wrong-type
(rows->csv '((a)))                                    ; raises: wrong-type
(rows->csv "a")                                       ; raises: wrong-type
(write-csv '() 1)                                     ; raises: wrong-type
