;; R7RS 6.8: vectors.
#(0 (2 2 2 2) "Anna")                                ; => #(0 (2 2 2 2) "Anna")
(vector? #(1))                                       ; => #t
(vector? '(1))                                       ; => #f
(vector? #u8(1))                                     ; => #f
(make-vector 2 'x)                                   ; => #(x x)
(make-vector 0)                                      ; => #()
(vector-length (make-vector 3))                      ; => 3
(make-vector -1)                                     ; raises: out-of-range
(make-vector 1000000000000 0)                        ; raises: out-of-memory
(vector 'a 'b 'c)                                    ; => #(a b c)
(vector)                                             ; => #()
(vector-ref '#(1 1 2 3 5 8 13 21) 5)                 ; => 8
(vector-ref '#(1 1 2 3 5 8 13 21) (exact (round (* 2 (acos -1)))))  ; => 13
(vector-ref #(1 2) 2)                                ; raises: out-of-range
(vector-ref #(1 2) 1.0)                              ; raises: wrong-type
(vector-ref '(1 2) 0)                                ; raises: wrong-type
(vector-ref #(1 2) 100000000000000000000)            ; raises: out-of-range
(let ((vec (vector 0 '(2 2 2 2) "Anna"))) (vector-set! vec 1 '("Sue" "Sue")) vec)  ; => #(0 ("Sue" "Sue") "Anna")
(vector-set! (vector 1) 1 2)                         ; raises: out-of-range
(vector->list '#(dah dah didah))                     ; => (dah dah didah)
(vector->list '#(dah dah didah) 1)                   ; => (dah didah)
(vector->list '#(dah dah didah) 1 2)                 ; => (dah)
(list->vector '(dididit dah))                        ; => #(dididit dah)
(list->vector '(1 . 2))                              ; raises: wrong-type
(string->vector "ABC")                               ; => #(#\A #\B #\C)
(string->vector "ABCDE" 1 3)                         ; => #(#\B #\C)
(vector->string #(#\1 #\2 #\3))                      ; => "123"
(vector->string #(#\1 #\2 #\3) 1)                    ; => "23"
(vector->string #(#\a 1))                            ; raises: wrong-type
(define a #(1 8 2 8))
(define b (vector-copy a))
(vector-set! b 0 3)
(list a b (vector-copy b 1 3) (vector-copy b 4))     ; => (#(1 8 2 8) #(3 8 2 8) #(8 2) #())
(vector-copy b 5)                                    ; raises: out-of-range
(let ((a #(1 2 3 4 5)) (b (vector 10 20 30 40 50))) (vector-copy! b 1 a 0 2) b)  ; => #(10 1 2 40 50)
(let ((v (vector 1 2 3 4 5))) (vector-copy! v 1 v 0 4) v)  ; => #(1 1 2 3 4)
(let ((v (vector 1 2 3 4 5))) (vector-copy! v 0 v 1) v)  ; => #(2 3 4 5 5)
(vector-copy! (vector 1) 0 #(1 2))                   ; raises: out-of-range
(vector-append #(a b c) #(d e f))                    ; => #(a b c d e f)
(vector-append)                                      ; => #()
(vector-append #(1) '(2))                            ; raises: wrong-type
(let ((a (vector 1 2 3 4 5))) (vector-fill! a 'smash 2 4) a)  ; => #(1 2 smash smash 5)
(let ((a (vector 1 2))) (vector-fill! a 0) a)        ; => #(0 0)

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
(bytevector-u8-ref '#u8(1 1 2 3 5 8 13 21) 5)        ; => 8
(bytevector-u8-ref #u8(1) 1)                         ; raises: out-of-range
(let ((bv (bytevector 1 2 3 4))) (bytevector-u8-set! bv 1 3) bv)  ; => #u8(1 3 3 4)
(bytevector-u8-set! (bytevector 1) 0 -1)             ; raises: out-of-range
(bytevector-u8-set! #u8(1) 0 1)                      ; raises: immutable
(let ((a #u8(1 2 3 4 5))) (bytevector-copy a 2 4))   ; => #u8(3 4)
(let ((a (bytevector 1 2 3 4 5)) (b (bytevector 10 20 30 40 50))) (bytevector-copy! b 1 a 0 2) b)  ; => #u8(10 1 2 40 50)
(let ((b (bytevector 1 2 3 4 5))) (bytevector-copy! b 1 b 0 4) b)  ; => #u8(1 1 2 3 4)
(bytevector-append (bytevector 0 1 2) (bytevector 3 4 5))  ; => #u8(0 1 2 3 4 5)
(utf8->string #u8(#x41))                             ; => "A"
(string->utf8 "λ")                                   ; => #u8(206 187)
(string->utf8 "aλb" 1 2)                             ; => #u8(206 187)
(utf8->string #u8(97 206 187 98) 1 3)                ; => "λ"
(utf8->string (string->utf8 "𝄞é"))                   ; => "𝄞é"
'#u8(256)                                            ; raises: syntax
