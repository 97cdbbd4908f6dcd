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

;; Exactness.
(exact? 3.0)                                         ; => #f
(exact? #e3.0)                                       ; => #t
(inexact? 3.)                                        ; => #t
(exact? 'a)                                          ; raises: wrong-type
(exact-integer? 32)                                  ; => #t
(exact-integer? 32.0)                                ; => #f
(exact-integer? 32/5)                                ; => #f

;; Infinities and NaN.
(finite? 3)                                          ; => #t
(finite? +inf.0)                                     ; => #f
(infinite? 3)                                        ; => #f
(infinite? +inf.0)                                   ; => #t
(infinite? +nan.0)                                   ; => #f
(nan? +nan.0)                                        ; => #t
(nan? 32)                                            ; => #f
(nan? 'a)                                            ; raises: wrong-type
