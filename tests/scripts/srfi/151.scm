;; SRFI 151: bits.
(import (scheme base) (srfi 151))

;; Operations of any number of arguments.
(bitwise-and 12 10)  ; => 8
(bitwise-ior 12 10)  ; => 14
(bitwise-xor 12 10)  ; => 6
(bitwise-not 10)     ; => -11
(bitwise-and)        ; => -1
(bitwise-ior)        ; => 0
(bitwise-eqv 12 10)  ; => -7
(bitwise-eqv)        ; => -1

;; Operations of two arguments.
(bitwise-nand 11 26)   ; => -11
(bitwise-nor 11 26)    ; => -28
(bitwise-andc1 11 26)  ; => 16
(bitwise-andc2 11 26)  ; => 1
(bitwise-orc1 11 26)   ; => -2
(bitwise-orc2 11 26)   ; => -17

;; Shifts and counts.
(arithmetic-shift 8 2)    ; => 32
(arithmetic-shift -1 -5)  ; => -1
(arithmetic-shift 1 100)  ; => 1267650600228229401496703205376
(bit-count 7)             ; => 3
(bit-count -1)            ; => 0
(bit-count -8)            ; => 3
(integer-length 128)      ; => 8
(integer-length -129)     ; => 8

;; Single bits.
(bitwise-if 3 1 8)    ; => 9
(bitwise-if 1 1 2)    ; => 3
(bit-set? 1 2)        ; => #t
(bit-set? 10000 -1)   ; => #t
(copy-bit 0 0 #t)     ; => 1
(copy-bit 2 15 #f)    ; => 11
(bit-swap 0 2 4)      ; => 1
(any-bit-set? 3 6)    ; => #t
(any-bit-set? 3 12)   ; => #f
(every-bit-set? 4 6)  ; => #t
(every-bit-set? 7 6)  ; => #f
(first-set-bit 40)    ; => 3
(first-set-bit -28)   ; => 2
(first-set-bit 0)     ; => -1

;; Fields.
(bit-field 938 4 9)                ; => 26
(bit-field-any? 22 3 4)            ; => #f
(bit-field-every? 30 1 5)          ; => #t
(bit-field-clear 42 1 4)           ; => 32
(bit-field-set 42 1 4)             ; => 46
(bit-field-replace 42 1 1 4)       ; => 34
(bit-field-replace-same 15 0 1 3)  ; => 9
(bit-field-rotate 6 1 0 4)         ; => 12
(bit-field-rotate 6 -1 0 4)        ; => 3
(bit-field-reverse 6 0 4)          ; => 6
(bit-field-reverse 1 0 8)          ; => 128

;; Integers and sequences of booleans.
(bits->list 53)                                                    ; => (#t #f #t #f #t #t)
(bits->list 6 5)                                                   ; => (#f #t #t #f #f)
(list->bits '(#t #f #t))                                           ; => 5
(bits #t #t)                                                       ; => 3
(vector->bits #(#f #t))                                            ; => 2
(bits->vector 2)                                                   ; => #(#f #t)
(bitwise-fold cons '() 5)                                          ; => (#t #f #t)
(bitwise-unfold (lambda (i) (= i 4)) odd? (lambda (i) (+ i 1)) 0)  ; => 10
(define next (make-bitwise-generator 6))
(next)                                                             ; => #f
(next)                                                             ; => #t
(next)                                                             ; => #t
(next)                                                             ; => #f
(bitwise-and 1.5 1)                                                ; raises: wrong-type

(bit-field 255 3 1)          ; raises: out-of-range
(bit-field 255 -1 2)         ; raises: out-of-range
(bit-field-any? 255 3 1)     ; raises: out-of-range

;; An index or a number of bits is not negative.
(bit-set? -1 5)                  ; raises: out-of-range
(copy-bit -1 5 #t)               ; raises: out-of-range
(bit-set? 1.0 5)                 ; raises: wrong-type
(bits->list 6 -1)                ; raises: out-of-range
(bit-field-rotate 6 1 3 2)       ; raises: out-of-range
(bit-field-rotate 6 1 2 2)       ; => 6
(bit-field-rotate 6 1 1 3)       ; => 6
(bits->list 1/2 0)               ; raises: wrong-type
