;; R7RS 6.2: types and exactness.
(complex? 3)                                         ; => #t
(real? 3)                                            ; => #t
(real? -2.5)                                         ; => #t
(real? 1e10)                                         ; => #t
(real? +inf.0)                                       ; => #t
(real? +nan.0)                                       ; => #t
(rational? -inf.0)                                   ; => #f
(rational? +nan.0)                                   ; => #f
(rational? 3.5)                                      ; => #t
(rational? 6/10)                                     ; => #t
(rational? 6/3)                                      ; => #t
(integer? 3.0)                                       ; => #t
(integer? 8/4)                                       ; => #t
(integer? 3.5)                                       ; => #f
(integer? +inf.0)                                    ; => #f
(integer? 'a)                                        ; => #f
(number? "1")                                        ; => #f
(exact? 3.0)                                         ; => #f
(exact? #e3.0)                                       ; => #t
(inexact? 3.)                                        ; => #t
(exact? 'a)                                          ; raises: wrong-type
(exact-integer? 32)                                  ; => #t
(exact-integer? 32.0)                                ; => #f
(exact-integer? 32/5)                                ; => #f
(finite? 3)                                          ; => #t
(finite? +inf.0)                                     ; => #f
(infinite? 3)                                        ; => #f
(infinite? +inf.0)                                   ; => #t
(infinite? +nan.0)                                   ; => #f
(nan? +nan.0)                                        ; => #t
(nan? 32)                                            ; => #f
(nan? 'a)                                            ; raises: wrong-type

;; Comparison.
(= 1 1.0 2/2)                                        ; => #t
(< 1 2 3)                                            ; => #t
(< 1 3 2)                                            ; => #f
(<= 1 1 2)                                           ; => #t
(>= 3 3 2)                                           ; => #t
(> 3 2 2)                                            ; => #f
(< 1/3 0.3333333333333333)                           ; => #f
(= 9007199254740993 9007199254740992.0)              ; => #f
(< 9007199254740992.0 9007199254740993)              ; => #t
(= +nan.0 +nan.0)                                    ; => #f
(< 100000000000000000000 +inf.0)                     ; => #t
(< -inf.0 -100000000000000000000)                    ; => #t
(= 1)                                                ; => #t
(< 1 'a)                                             ; raises: wrong-type
(list (zero? 0) (zero? 0.0) (zero? -0.0) (zero? 1))  ; => (#t #t #t #f)
(list (positive? 1) (positive? -1/2) (negative? -0.0) (negative? -1e-300))  ; => (#t #f #f #t)
(list (odd? 3) (odd? -3) (even? 0) (even? 2.0) (odd? 100000000000000000001))  ; => (#t #t #t #t #t)
(odd? 1.5)                                           ; raises: wrong-type
(max 3 4)                                            ; => 4
(max 3.9 4)                                          ; => 4.0
(min 1 2.0)                                          ; => 1.0
(max 1/2 1/3)                                        ; => 1/2
(min 1)                                              ; => 1

;; Arithmetic.
(+ 3 4)                                              ; => 7
(+ 3)                                                ; => 3
(+)                                                  ; => 0
(* 4)                                                ; => 4
(*)                                                  ; => 1
(- 3 4)                                              ; => -1
(- 3 4 5)                                            ; => -6
(- 3)                                                ; => -3
(/ 3 4 5)                                            ; => 3/20
(/ 3)                                                ; => 1/3
(/ 0.5)                                              ; => 2.0
(-)                                                  ; raises: wrong-arity
(/)                                                  ; raises: wrong-arity
(/ 1 0)                                              ; raises: divide-by-zero
(/ 1.0 0)                                            ; raises: divide-by-zero
(/ 1 0.0)                                            ; => +inf.0
(/ -1 0.0)                                           ; => -inf.0
(/ 0. 0.)                                            ; => +nan.0
(/ 1 -0.0)                                           ; => -inf.0
(- 0.0)                                              ; => -0.0
(- 0 0.0)                                            ; => 0.0
(+ -0.0 0)                                           ; => 0.0
(* 0 1.5)                                            ; => 0.0
(+ 1/2 0.5)                                          ; => 1.0
(+ 1/2 1/2)                                          ; => 1
(* 2/3 3/2)                                          ; => 1
(- 4611686018427387904 1)                            ; => 4611686018427387903
(+ 4611686018427387903 1)                            ; => 4611686018427387904
(- -4611686018427387904 1)                           ; => -4611686018427387905
(- -4611686018427387904)                             ; => 4611686018427387904
(* 4611686018427387904 -2)                           ; => -9223372036854775808
(* -9223372036854775808 -1)                          ; => 9223372036854775808
(+ 9223372036854775807 9223372036854775807)          ; => 18446744073709551614
(abs -7)                                             ; => 7
(abs -7/2)                                           ; => 7/2
(abs -0.0)                                           ; => 0.0
(abs -4611686018427387904)                           ; => 4611686018427387904
(+ 'a 1)                                             ; raises: wrong-type
(define (factorial n) (if (= n 0) 1 (* n (factorial (- n 1)))))
(factorial 30)                                       ; => 265252859812191058636308480000000
(/ (factorial 30) (factorial 28))                    ; => 870

;; Division.
(define-syntax both (syntax-rules () ((_ e) (call-with-values (lambda () e) list))))
(both (floor/ 5 2))                                  ; => (2 1)
(both (floor/ -5 2))                                 ; => (-3 1)
(both (floor/ 5 -2))                                 ; => (-3 -1)
(both (floor/ -5 -2))                                ; => (2 -1)
(both (truncate/ 5 2))                               ; => (2 1)
(both (truncate/ -5 2))                              ; => (-2 -1)
(both (truncate/ 5 -2))                              ; => (-2 1)
(both (truncate/ -5 -2))                             ; => (2 -1)
(both (truncate/ -5.0 2))                            ; => (-2.0 -1.0)
(both (floor/ -100000000000000000001 10))            ; => (-10000000000000000001 9)
(list (quotient 17 -5) (remainder 17 -5) (modulo 17 -5))  ; => (-3 2 -3)
(list (floor-quotient -7 2) (floor-remainder -7 2) (truncate-quotient -7 2) (truncate-remainder -7 2))  ; => (-4 1 -3 -1)
(modulo -13 4.0)                                     ; => 3.0
(modulo 5 0)                                         ; raises: divide-by-zero
(floor/ 1 0)                                         ; raises: divide-by-zero
(quotient 1.5 1)                                     ; raises: wrong-type
(gcd 32 -36)                                         ; => 4
(gcd)                                                ; => 0
(gcd 0 5)                                            ; => 5
(lcm 32 -36)                                         ; => 288
(lcm 32.0 -36)                                       ; => 288.0
(lcm)                                                ; => 1
(lcm 0 5)                                            ; => 0
(numerator (/ 6 4))                                  ; => 3
(denominator (/ 6 4))                                ; => 2
(denominator (inexact (/ 6 4)))                      ; => 2.0
(denominator 0)                                      ; => 1
(numerator -0.5)                                     ; => -1.0

;; Rounding.
(list (floor -4.3) (ceiling -4.3) (truncate -4.3) (round -4.3))  ; => (-5.0 -4.0 -4.0 -4.0)
(list (floor 3.5) (ceiling 3.5) (truncate 3.5) (round 3.5))  ; => (3.0 4.0 3.0 4.0)
(list (round 2.5) (round -2.5) (round 0.5) (round -0.5))  ; => (2.0 -2.0 0.0 -0.0)
(list (round 7/2) (round 5/2) (round -7/2) (round 7))  ; => (4 2 -4 7)
(list (floor -7/2) (ceiling -7/2) (truncate -7/2))   ; => (-4 -3 -3)
(round +inf.0)                                       ; => +inf.0
(floor +nan.0)                                       ; => +nan.0
(rationalize (exact .3) 1/10)                        ; => 1/3
(rationalize .3 1/10)                                ; => 0.3333333333333333
(rationalize 1/3 0)                                  ; => 1/3
(rationalize 3/10 -1/10)                             ; => 1/3
(rationalize +inf.0 1)                               ; => +inf.0

;; Transcendental functions.
(exp 0)                                              ; => 1
(exp 1)                                              ; => 2.718281828459045
(log 1)                                              ; => 0
(log 8 2)                                            ; => 3.0
(log 100 10)                                         ; => 2.0
(log 0.0)                                            ; => -inf.0
(log 0)                                              ; => -inf.0
(list (sin 0) (cos 0) (tan 0) (asin 0) (atan 0))     ; => (0 1 0 0 0)
(sin 0.0)                                            ; => 0.0
(atan 1 1)                                           ; => 0.7853981633974483
(atan -1.0 -1.0)                                     ; => -2.356194490192345
(atan 1.0 0)                                         ; => 1.5707963267948966
(atan 0.0 -1)                                        ; => 3.141592653589793
(acos 1)                                             ; => 0
(square 42)                                          ; => 1764
(square 2.0)                                         ; => 4.0
(square 2/3)                                         ; => 4/9
(sqrt 9)                                             ; => 3
(sqrt 16.0)                                          ; => 4.0
(sqrt 2)                                             ; => 1.4142135623730951
(sqrt 1/4)                                           ; => 1/2
(sqrt 100000000000000000000000000000000000000)       ; => 10000000000000000000
(sqrt -1)                                            ; => +i
(both (exact-integer-sqrt 4))                        ; => (2 0)
(both (exact-integer-sqrt 5))                        ; => (2 1)
(both (exact-integer-sqrt 0))                        ; => (0 0)
(both (exact-integer-sqrt 100000000000000000000000000000000000001))  ; => (10000000000000000000 1)
(exact-integer-sqrt -1)                              ; raises: out-of-range
(expt 2 10)                                          ; => 1024
(expt 2 -2)                                          ; => 1/4
(expt 2/3 3)                                         ; => 8/27
(expt 2.0 3)                                         ; => 8.0
(expt 2 0.5)                                         ; => 1.4142135623730951
(expt 4 1/2)                                         ; => 2
(expt 0 0)                                           ; => 1
(expt 0 5)                                           ; => 0
(expt 0.0 0)                                         ; => 1.0
(expt 0 0.0)                                         ; => 1.0
(expt 0 -1)                                          ; raises: divide-by-zero
(expt -1 1001)                                       ; => -1
(expt -8 1/3)                                        ; => 1.0000000000000002+1.7320508075688772i
(exact (floor 2.5))                                  ; => 2
(exact 2.5)                                          ; => 5/2
(exact 0.1)                                          ; => 3602879701896397/36028797018963968
(exact 1e20)                                         ; => 100000000000000000000
(exact -0.0)                                         ; => 0
(exact +inf.0)                                       ; raises: arithmetic
(exact +nan.0)                                       ; raises: arithmetic
(inexact 1/3)                                        ; => 0.3333333333333333
(inexact 100000000000000000000000)                   ; => 1e23
(inexact (expt 10 400))                              ; => +inf.0
(inexact (/ (expt 10 400) (expt 10 399)))            ; => 10.0
(inexact (/ 1 (expt 10 400)))                        ; => 0.0
