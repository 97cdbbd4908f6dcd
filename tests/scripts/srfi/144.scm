;; SRFI 144: flonums. All of this is computed the same way on every machine.
(import (scheme base) (scheme inexact) (srfi 144))
(define (close? a b) (or (= a b) (< (abs (- a b)) (* 1e-12 (abs b)))))

;; Constants agree with what the functions answer.
(close? fl-e (exp 1.0))                     ; => #t
(close? fl-1/e (/ fl-e))                    ; => #t
(close? fl-e-2 (* fl-e fl-e))               ; => #t
(close? fl-e-pi/4 (exp (/ fl-pi 4)))        ; => #t
(close? fl-log2-e (fllog2 fl-e))            ; => #t
(close? fl-log10-e (fllog10 fl-e))          ; => #t
(close? fl-log-2 (fllog 2.0))               ; => #t
(close? fl-1/log-2 (/ fl-log-2))            ; => #t
(close? fl-log-3 (fllog 3.0))               ; => #t
(close? fl-log-pi (fllog fl-pi))            ; => #t
(close? fl-log-10 (fllog 10.0))             ; => #t
(close? fl-1/log-10 (/ fl-log-10))          ; => #t
(close? fl-pi (flacos -1.0))                ; => #t
(close? fl-1/pi (/ fl-pi))                  ; => #t
(close? fl-2pi (* 2 fl-pi))                 ; => #t
(close? fl-pi/2 (flasin 1.0))               ; => #t
(close? fl-pi/4 (flatan 1.0))               ; => #t
(close? fl-pi-squared (* fl-pi fl-pi))      ; => #t
(close? fl-degree (/ fl-pi 180))            ; => #t
(close? fl-2/pi (/ 2 fl-pi))                ; => #t
(close? fl-2/sqrt-pi (/ 2 (flsqrt fl-pi)))  ; => #t

(close? fl-sqrt-2 (flsqrt 2.0))            ; => #t
(close? fl-sqrt-3 (flsqrt 3.0))            ; => #t
(close? fl-sqrt-5 (flsqrt 5.0))            ; => #t
(close? fl-sqrt-10 (flsqrt 10.0))          ; => #t
(close? fl-1/sqrt-2 (/ fl-sqrt-2))         ; => #t
(close? fl-cbrt-2 (flcbrt 2.0))            ; => #t
(close? fl-cbrt-3 (flcbrt 3.0))            ; => #t
(close? fl-4thrt-2 (flsqrt fl-sqrt-2))     ; => #t
(close? fl-phi (/ (+ 1 fl-sqrt-5) 2))      ; => #t
(close? fl-log-phi (fllog fl-phi))         ; => #t
(close? fl-1/log-phi (/ fl-log-phi))       ; => #t
(close? fl-e-euler (exp fl-euler))         ; => #t
(close? fl-sin-1 (flsin 1.0))              ; => #t
(close? fl-cos-1 (flcos 1.0))              ; => #t
(close? fl-gamma-1/2 (flgamma 0.5))        ; => #t
(close? fl-gamma-1/3 (flgamma (/ 1.0 3)))  ; => #t
(close? fl-gamma-2/3 (flgamma (/ 2.0 3)))  ; => #t

;; The limits of the format.
(* fl-greatest 2)                        ; => +inf.0
(/ fl-least 2)                           ; => 0.0
(- (fladjacent 1.0 2.0) 1.0 fl-epsilon)  ; => 0.0
fl-fast-fl+*                             ; => #f

;; Making flonums and taking them apart.
(flonum 1/4)           ; => 0.25
(flonum 2.5)           ; => 2.5
(fladjacent 0.0 -1.0)  ; => -5e-324
(fladjacent 1.5 1.5)   ; => 1.5
(flcopysign 2.0 -0.0)  ; => -2.0
(flonum +i)            ; raises: error

(make-flonum 1.5 4)                        ; => 24.0
(make-flonum 1.0 -1074)                    ; => 5e-324
(make-flonum 1.0 100000000000000000000)    ; => +inf.0
(make-flonum -1.0 -100000000000000000000)  ; => -0.0

;; Integer part, exponent, mantissa, sign.
(define (values-of thunk) (call-with-values thunk list))
(values-of (lambda () (flinteger-fraction 3.75)))                ; => (3.0 0.75)
(values-of (lambda () (flinteger-fraction -3.75)))               ; => (-3.0 -0.75)
(values-of (lambda () (flinteger-fraction -inf.0)))              ; => (-inf.0 -0.0)
(flexponent 1.0)                                                 ; => 0.0
(flexponent 10.0)                                                ; => 3.0
(flexponent 0.3)                                                 ; => -2.0
(flexponent 0.0)                                                 ; => -inf.0
(flexponent -inf.0)                                              ; => +inf.0
(flinteger-exponent 1024.0)                                      ; => 10
(flinteger-exponent 5e-324)                                      ; => -1074
(= (flinteger-exponent 0.0) fl-integer-exponent-zero)            ; => #t
(= (flinteger-exponent +nan.0) fl-integer-exponent-nan)          ; => #t
(values-of (lambda () (flnormalized-fraction-exponent 1.0)))     ; => (0.5 1)
(values-of (lambda () (flnormalized-fraction-exponent -10.0)))   ; => (-0.625 4)
(values-of (lambda () (flnormalized-fraction-exponent 5e-324)))  ; => (0.5 -1073)
(values-of (lambda () (flnormalized-fraction-exponent 0.0)))     ; => (0.0 0)
(map flsign-bit '(1.0 0.0 -0.0 -inf.0))                          ; => (0 0 1 1)

;; Questions.
(map flonum? '(1.0 1 1/2 +i a))  ; => (#t #f #f #f #f)

;; Comparing.
(fl=? 1.0 1.0 1.0)         ; => #t
(fl<? 1.0 2.0 3.0)         ; => #t
(fl>? 2.0 1.0)             ; => #t
(fl<=? 1.0 1.0 0.0)        ; => #f
(fl>=? 2.0 2.0)            ; => #t
(flunordered? 1.0 +nan.0)  ; => #t
(flunordered? 1.0 2.0)     ; => #f
(flmax)                    ; => -inf.0
(flmin)                    ; => +inf.0
(flmax 1.0)                ; => 1.0
(flmax 1.0 3.0 2.0)        ; => 3.0
(flmin 2.0 1.0)            ; => 1.0

;; Kinds of flonums.
(flinteger? 2.0)           ; => #t
(flzero? -0.0)             ; => #t
(flpositive? 1.0)          ; => #t
(flnegative? -0.0)         ; => #f
(flodd? 3.0)               ; => #t
(fleven? 3.0)              ; => #f
(flfinite? +inf.0)         ; => #f
(flinfinite? -inf.0)       ; => #t
(flnan? +nan.0)            ; => #t
(flnormalized? 1.0)        ; => #t
(flnormalized? 1e-310)     ; => #f
(fldenormalized? -1e-310)  ; => #t
(fldenormalized? 0.0)      ; => #f
(flnormalized? +inf.0)     ; => #f
