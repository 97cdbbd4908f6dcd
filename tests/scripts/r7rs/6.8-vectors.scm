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

;; Reading and writing elements.
(vector-ref '#(1 1 2 3 5 8 13 21) 5)                 ; => 8
(vector-ref '#(1 1 2 3 5 8 13 21) (exact (round (* 2 (acos -1)))))  ; => 13
(vector-ref #(1 2) 2)                                ; raises: out-of-range
(vector-ref #(1 2) 1.0)                              ; raises: wrong-type
(vector-ref '(1 2) 0)                                ; raises: wrong-type
(vector-ref #(1 2) 100000000000000000000)            ; raises: out-of-range
(let ((vec (vector 0 '(2 2 2 2) "Anna"))) (vector-set! vec 1 '("Sue" "Sue")) vec)
; => #(0 ("Sue" "Sue") "Anna")
(vector-set! (vector 1) 1 2)                         ; raises: out-of-range

;; Vectors, lists and strings.
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

;; Copying, appending and filling; source and target may overlap.
(define a #(1 8 2 8))
(define b (vector-copy a))
(vector-set! b 0 3)
a                                                    ; => #(1 8 2 8)
b                                                    ; => #(3 8 2 8)
(vector-copy b 1 3)                                  ; => #(8 2)
(vector-copy b 4)                                    ; => #()
(vector-copy b 5)                                    ; raises: out-of-range
(let ((a #(1 2 3 4 5)) (b (vector 10 20 30 40 50))) (vector-copy! b 1 a 0 2) b)
; => #(10 1 2 40 50)
(let ((v (vector 1 2 3 4 5))) (vector-copy! v 1 v 0 4) v)  ; => #(1 1 2 3 4)
(let ((v (vector 1 2 3 4 5))) (vector-copy! v 0 v 1) v)  ; => #(2 3 4 5 5)
(vector-copy! (vector 1) 0 #(1 2))                   ; raises: out-of-range
(vector-append #(a b c) #(d e f))                    ; => #(a b c d e f)
(vector-append)                                      ; => #()
(vector-append #(1) '(2))                            ; raises: wrong-type
(let ((a (vector 1 2 3 4 5))) (vector-fill! a 'smash 2 4) a)  ; => #(1 2 smash smash 5)
(let ((a (vector 1 2))) (vector-fill! a 0) a)        ; => #(0 0)
