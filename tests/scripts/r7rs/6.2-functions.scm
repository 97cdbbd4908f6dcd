;; R7RS 6.2: transcendental functions, roots and powers, exactness.
(define-syntax both (syntax-rules () ((_ e) (call-with-values (lambda () e) list))))

;; Exponentials, logarithms, angles.
(exp 0)                                              ; => 1
(exp 1)                                              ; => 2.718281828459045
(log 1)                                              ; => 0
(log 8 2)                                            ; => 3.0
(log 100 10)                                         ; => 2.0
(log 0.0)                                            ; => -inf.0
(log 0)                                              ; => -inf.0
(sin 0)                                              ; => 0
(cos 0)                                              ; => 1
(tan 0)                                              ; => 0
(asin 0)                                             ; => 0
(atan 0)                                             ; => 0
(sin 0.0)                                            ; => 0.0
(atan 1 1)                                           ; => 0.7853981633974483
(atan -1.0 -1.0)                                     ; => -2.356194490192345
(atan 1.0 0)                                         ; => 1.5707963267948966
(atan 0.0 -1)                                        ; => 3.141592653589793
(acos 1)                                             ; => 0

;; Squares, roots and powers.
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

;; From exact to inexact and back.
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
