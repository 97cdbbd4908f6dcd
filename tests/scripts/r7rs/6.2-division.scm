;; R7RS 6.2: division and rounding.

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
(quotient 17 -5)                                     ; => -3
(remainder 17 -5)                                    ; => 2
(modulo 17 -5)                                       ; => -3
(floor-quotient -7 2)                                ; => -4
(floor-remainder -7 2)                               ; => 1
(truncate-quotient -7 2)                             ; => -3
(truncate-remainder -7 2)                            ; => -1
(modulo -13 4.0)                                     ; => 3.0
(modulo 5 0)                                         ; raises: divide-by-zero
(floor/ 1 0)                                         ; raises: divide-by-zero
(quotient 1.5 1)                                     ; raises: wrong-type

;; Divisors and multiples, numerators and denominators.
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
(floor -4.3)                                         ; => -5.0
(ceiling -4.3)                                       ; => -4.0
(truncate -4.3)                                      ; => -4.0
(round -4.3)                                         ; => -4.0
(floor 3.5)                                          ; => 3.0
(ceiling 3.5)                                        ; => 4.0
(truncate 3.5)                                       ; => 3.0
(round 3.5)                                          ; => 4.0
(round 2.5)                                          ; => 2.0
(round -2.5)                                         ; => -2.0
(round 0.5)                                          ; => 0.0
(round -0.5)                                         ; => -0.0

;; Exact fractions.
(round 7/2)                                          ; => 4
(round 5/2)                                          ; => 2
(round -7/2)                                         ; => -4
(round 7)                                            ; => 7
(floor -7/2)                                         ; => -4
(ceiling -7/2)                                       ; => -3
(truncate -7/2)                                      ; => -3
(round +inf.0)                                       ; => +inf.0
(floor +nan.0)                                       ; => +nan.0

;; The simplest number nearby.
(rationalize (exact .3) 1/10)                        ; => 1/3
(rationalize .3 1/10)                                ; => 0.3333333333333333
(rationalize 1/3 0)                                  ; => 1/3
(rationalize 3/10 -1/10)                             ; => 1/3
(rationalize +inf.0 1)                               ; => +inf.0
