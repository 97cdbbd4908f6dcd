;; R7RS 6.2: comparison.

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

;; Signs and parity.
(zero? 0)                                            ; => #t
(zero? 0.0)                                          ; => #t
(zero? -0.0)                                         ; => #t
(zero? 1)                                            ; => #f
(positive? 1)                                        ; => #t
(positive? -1/2)                                     ; => #f
(negative? -0.0)                                     ; => #f
(negative? -1e-300)                                  ; => #t
(odd? 3)                                             ; => #t
(odd? -3)                                            ; => #t
(even? 0)                                            ; => #t
(even? 2.0)                                          ; => #t
(odd? 100000000000000000001)                         ; => #t
(odd? 1.5)                                           ; raises: wrong-type

;; Extremes; one inexact argument makes the result inexact.
(max 3 4)                                            ; => 4
(max 3.9 4)                                          ; => 4.0
(min 1 2.0)                                          ; => 1.0
(max 1/2 1/3)                                        ; => 1/2
(min 1)                                              ; => 1
