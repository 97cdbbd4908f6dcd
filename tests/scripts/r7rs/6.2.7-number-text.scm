;; R7RS 6.2.5 and 6.2.7: how numbers are written and read.
(number->string 10)                                  ; => "10"
(number->string 255 16)                              ; => "ff"
(number->string -255 2)                              ; => "-11111111"
(number->string 7/8 8)                               ; => "7/10"
(number->string (expt 2 100) 16)                     ; => "10000000000000000000000000"
(number->string 1.5)                                 ; => "1.5"
(number->string 10 1)                                ; raises: out-of-range

;; A flonum is written with the fewest digits that read back as the same flonum.
(number->string 0.1)                                 ; => "0.1"
(number->string 100.0)                               ; => "100.0"
(number->string 1e21)                                ; => "1e21"
(number->string 1e22)                                ; => "1e22"
(number->string 1e100)                               ; => "1e100"
(number->string 1.5e-5)                              ; => "0.000015"
(number->string 123456789012345680000.0)             ; => "123456789012345680000.0"
(number->string -0.0)                                ; => "-0.0"
(number->string 5e-324)                              ; => "5e-324"
(number->string 1.7976931348623157e308)              ; => "1.7976931348623157e308"
(map number->string '(+inf.0 -inf.0 +nan.0))         ; => ("+inf.0" "-inf.0" "+nan.0")

;; Reading, with radix and prefixes; whatever is no number gives `#f`.
(string->number "100")                               ; => 100
(string->number "100" 16)                            ; => 256
(string->number "1e2")                               ; => 100.0
(string->number "15##")                              ; => #f
(string->number "#xff")                              ; => 255
(string->number "#xff" 10)                           ; => 255
(string->number "ff" 16)                             ; => 255
(string->number "FF" 16)                             ; => 255
(string->number "fg" 16)                             ; => #f

;; Fractions, signs and points.
(string->number "1/2")                               ; => 1/2
(string->number "-6/4")                              ; => -3/2
(string->number "1/0")                               ; => #f
(string->number "")                                  ; => #f
(string->number "+")                                 ; => #f
(string->number "-")                                 ; => #f
(string->number ".")                                 ; => #f
(string->number "..")                                ; => #f
(string->number "1.2.3")                             ; => #f
(string->number "+5")                                ; => 5
(string->number ".5")                                ; => 0.5
(string->number "-.5e1")                             ; => -5.0
(string->number "5.")                                ; => 5.0
(string->number "1e")                                ; => #f
(string->number "e1")                                ; => #f

;; Exponents, infinities and exactness.
(string->number "1E3")                               ; => 1000.0
(string->number "+inf.0")                            ; => +inf.0
(string->number "-INF.0")                            ; => -inf.0
(string->number "inf.0")                             ; => #f
(string->number "+nan.0")                            ; => +nan.0
(string->number "#e1.5")                             ; => 3/2
(string->number "#i1/4")                             ; => 0.25
(string->number "#e1e3")                             ; => 1000
(string->number "#x#e10")                            ; => 16
(string->number "#e#x10")                            ; => 16
(string->number "#b102")                             ; => #f
(string->number "#o777")                             ; => 511
(string->number "#d10")                              ; => 10
(string->number " 1")                                ; => #f
(string->number "1 ")                                ; => #f
(string->number "abc")                               ; => #f
(string->number "1" 37)                              ; raises: out-of-range
(string->number "1e400")                             ; => +inf.0
(string->number "1e-400")                            ; => 0.0
(string->number "123456789012345678901234567890")    ; => 123456789012345678901234567890

;; Literals.
#xFF                                                 ; => 255
#b-101                                               ; => -5
#o17                                                 ; => 15
#e1.25                                               ; => 5/4
#i3/4                                                ; => 0.75
#x-ff/2                                              ; => -255/2
1e3                                                  ; => 1000.0
.5                                                   ; => 0.5
-.5                                                  ; => -0.5
+.5                                                  ; => 0.5
1.                                                   ; => 1.0
6/4                                                  ; => 3/2
-0                                                   ; => 0
00012                                                ; => 12
+inf.0                                               ; => +inf.0
'(+ - ... 1+ -a +a .a ->b +.a)                       ; => (+ - ... 1+ -a +a .a ->b +.a)

;; A number that is written reads back as the same number.
(define (same? n) (eqv? n (string->number (number->string n))))
(same? 0.1)                                          ; => #t
(same? 1/3)                                          ; => #t
(same? (/ 22. 7))                                    ; => #t
(same? 1e-320)                                       ; => #t
(same? (sqrt 2))                                     ; => #t
(same? (expt 3 200))                                 ; => #t
(same? -0.0)                                         ; => #t
(same? +nan.0)                                       ; => #t
(same? 123456.789e10)                                ; => #t
(string->number (number->string (expt 7 50) 2) 2)  ; => 1798465042647412146620280340569649349251249
