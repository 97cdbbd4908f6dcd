;; SRFI 60: integers as bits.
(import (scheme base) (srfi 60))

(logand 12 10)  ; => 8
(logior 12 10)  ; => 14
(logxor 12 10)  ; => 6
(lognot 5)      ; => -6
(ash 1 10)      ; => 1024
(ash 1024 -3)   ; => 128

;; Testing and counting.
(logtest 4 6)             ; => #t
(logbit? 2 4)             ; => #t
(logcount 255)            ; => 8
(integer-length 255)      ; => 8
(log2-binary-factors 24)  ; => 3

;; Integers and lists of booleans.
(integer->list 6)            ; => (#t #t #f)
(integer->list 6 5)          ; => (#f #f #t #t #f)
(list->integer '(#t #t #f))  ; => 6
(booleans->integer #t #f)    ; => 2

;; Fields.
(copy-bit-field 0 -1 2 4)   ; => 12
(rotate-bit-field 6 1 0 4)  ; => 12
(reverse-bit-field 1 0 8)   ; => 128
