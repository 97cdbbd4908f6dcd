;; R7RS 6.9: bytevectors.
#u8(0 10 5)                                          ; => #u8(0 10 5)
(bytevector? #u8())                                  ; => #t
(bytevector? "a")                                    ; => #f
(make-bytevector 2 12)                               ; => #u8(12 12)
(bytevector-length (make-bytevector 3))              ; => 3
(make-bytevector 2 256)                              ; raises: out-of-range
(bytevector 1 3 5 1 3 5)                             ; => #u8(1 3 5 1 3 5)
(bytevector)                                         ; => #u8()
(bytevector 256)                                     ; raises: out-of-range

;; Reading and writing bytes.
(bytevector-u8-ref '#u8(1 1 2 3 5 8 13 21) 5)        ; => 8
(bytevector-u8-ref #u8(1) 1)                         ; raises: out-of-range
(let ((bv (bytevector 1 2 3 4))) (bytevector-u8-set! bv 1 3) bv)  ; => #u8(1 3 3 4)
(bytevector-u8-set! (bytevector 1) 0 -1)             ; raises: out-of-range
(bytevector-u8-set! #u8(1) 0 1)                      ; raises: immutable

;; Copying and appending; source and target may overlap.
(let ((a #u8(1 2 3 4 5))) (bytevector-copy a 2 4))   ; => #u8(3 4)
(let ((a (bytevector 1 2 3 4 5)) (b (bytevector 10 20 30 40 50))) (bytevector-copy! b 1 a 0 2) b)
; => #u8(10 1 2 40 50)
(let ((b (bytevector 1 2 3 4 5))) (bytevector-copy! b 1 b 0 4) b)  ; => #u8(1 1 2 3 4)
(bytevector-append (bytevector 0 1 2) (bytevector 3 4 5))  ; => #u8(0 1 2 3 4 5)

;; Bytes and text.
(utf8->string #u8(#x41))                             ; => "A"
(string->utf8 "λ")                                   ; => #u8(206 187)
(string->utf8 "aλb" 1 2)                             ; => #u8(206 187)
(utf8->string #u8(97 206 187 98) 1 3)                ; => "λ"
(utf8->string (string->utf8 "𝄞é"))                   ; => "𝄞é"
'#u8(256)                                            ; raises: syntax
