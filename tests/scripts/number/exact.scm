;; Exact arithmetic has no width.
(* 99999999999 99999999999)            ; => 9999999999800000000001
(expt 2 100)                           ; => 1267650600228229401496703205376
(- (expt 2 62) 1)                      ; => 4611686018427387903

;; Division of exact numbers is exact.
(/ 6 4)                                ; => 3/2
(+ 1/3 2/3)                            ; => 1
(inexact 1/4)                          ; => 0.25

;; The three integer divisions differ in the sign of what is left over.
(quotient -7 2)                        ; => -3
(remainder -7 2)                       ; => -1
(modulo -7 2)                          ; => 1
(exact (floor 2.5))                    ; => 2

;; A common divisor has a limit of its own.
(define (refusal thunk) (guard (failure (#t (condition-message failure))) (thunk)))
(refusal (lambda () (gcd (+ 1 (expt 3 400000)) (+ 1 (expt 7 200000)))))
; => "gcd: the common divisor of two integers is needed, and both have more than 524288 bits"
(refusal (lambda () (/ (expt 6 400000) (expt 4 300000))))
; => "/: the common divisor of two integers is needed, and both have more than 524288 bits"
(gcd (* 12 (expt 3 400000)) 18)        ; => 18
