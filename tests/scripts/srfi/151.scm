;; SRFI 151: bits.
(import (scheme base) (srfi 151))
(list (bitwise-and 12 10) (bitwise-ior 12 10) (bitwise-xor 12 10) (bitwise-not 10) (bitwise-and) (bitwise-ior) (bitwise-eqv 12 10) (bitwise-eqv)) ; => (8 14 6 -11 -1 0 -7 -1)
(list (bitwise-nand 11 26) (bitwise-nor 11 26) (bitwise-andc1 11 26) (bitwise-andc2 11 26) (bitwise-orc1 11 26) (bitwise-orc2 11 26)) ; => (-11 -28 16 1 -2 -17)
(list (arithmetic-shift 8 2) (arithmetic-shift -1 -5) (arithmetic-shift 1 100) (bit-count 7) (bit-count -1) (bit-count -8) (integer-length 128) (integer-length -129)) ; => (32 -1 1267650600228229401496703205376 3 0 3 8 8)
(list (bitwise-if 3 1 8) (bitwise-if 1 1 2) (bit-set? 1 2) (bit-set? 10000 -1) (copy-bit 0 0 #t) (copy-bit 2 15 #f) (bit-swap 0 2 4)) ; => (9 3 #t #t 1 11 1)
(list (any-bit-set? 3 6) (any-bit-set? 3 12) (every-bit-set? 4 6) (every-bit-set? 7 6) (first-set-bit 40) (first-set-bit -28) (first-set-bit 0)) ; => (#t #f #t #f 3 2 -1)
(list (bit-field 938 4 9) (bit-field-any? 22 3 4) (bit-field-every? 30 1 5) (bit-field-clear 42 1 4) (bit-field-set 42 1 4)) ; => (26 #f #t 32 46)
(list (bit-field-replace 42 1 1 4) (bit-field-replace-same 15 0 1 3) (bit-field-rotate 6 1 0 4) (bit-field-rotate 6 -1 0 4) (bit-field-reverse 6 0 4) (bit-field-reverse 1 0 8)) ; => (34 9 12 3 6 128)
(list (bits->list 53) (bits->list 6 5) (list->bits '(#t #f #t)) (bits #t #t) (vector->bits #(#f #t)) (bits->vector 2)) ; => ((#t #f #t #f #t #t) (#f #t #t #f #f) 5 3 2 #(#f #t))
(list (bitwise-fold cons '() 5) (bitwise-unfold (lambda (i) (= i 4)) odd? (lambda (i) (+ i 1)) 0)) ; => ((#t #f #t) 10)
(let ((next (make-bitwise-generator 6))) (list (next) (next) (next) (next)))              ; => (#f #t #t #f)
(bitwise-and 1.5 1)                                                                       ; raises: wrong-type
