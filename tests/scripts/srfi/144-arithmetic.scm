;; SRFI 144: arithmetic and functions on flonums, the same on every machine.
(import (scheme base) (scheme inexact) (srfi 144))
(define (close? a b) (or (= a b) (< (abs (- a b)) (* 1e-12 (abs b)))))
(define (values-of thunk) (call-with-values thunk list))

;; Arithmetic; `fl+*` rounds once where a sum of a product rounds twice.
(fl+)                                           ; => 0.0
(fl*)                                           ; => 1.0
(fl+ 1.0 2.0)                                   ; => 3.0
(fl+ 1.0 2.0 3.0)                               ; => 6.0
(fl* 2.0 3.0 4.0)                               ; => 24.0
(fl- 1.0)                                       ; => -1.0
(fl- 5.0 2.0 1.0)                               ; => 2.0
(fl/ 2.0)                                       ; => 0.5
(fl/ 8.0 2.0 2.0)                               ; => 2.0
(fl+* 3.0 4.0 5.0)                              ; => 17.0
(= (fl+* 1e11 1e12 1.0) (+ (* 1e11 1e12) 1.0))  ; => #f
(fl+* 0.1 10.0 -1.0)                            ; => 5.551115123125783e-17

;; Differences, signs and parts.
(flabs -2.0)                   ; => 2.0
(flabsdiff 1.0 3.0)            ; => 2.0
(flposdiff 3.0 1.0)            ; => 2.0
(flposdiff 1.0 3.0)            ; => 0.0
(flposdiff +inf.0 +inf.0)      ; => 0.0
(flsgn -0.0)                   ; => -1.0
(flsgn 7.0)                    ; => 1.0
(flnumerator 2.25)             ; => 9.0
(fldenominator -2.25)          ; => 4.0
(flnumerator -inf.0)           ; => -inf.0
(fldenominator +inf.0)         ; => 1.0
(nan? (fldenominator +nan.0))  ; => #t

;; Rounding.
(map flfloor '(-3.5 2.5))     ; => (-4.0 2.0)
(map flceiling '(-3.5 2.5))   ; => (-3.0 3.0)
(map flround '(-3.5 2.5))     ; => (-4.0 2.0)
(map fltruncate '(-3.5 2.5))  ; => (-3.0 2.0)

;; Powers and logarithms.
(flsquare -3.0)                    ; => 9.0
(flexp 0.0)                        ; => 1.0
(flexp2 10.0)                      ; => 1024.0
(flexp-1 1e-20)                    ; => 1e-20
(fllog1+ 1e-20)                    ; => 1e-20
(flhypot 3.0 4.0)                  ; => 5.0
(flexpt 2.0 0.5)                   ; => 1.4142135623730951
(flcbrt -27.0)                     ; => -3.0
((make-fllog-base 10.0) 1000.0)    ; => 3.0
((make-fllog-base 1000.0) 1000.0)  ; => 1.0
((make-fllog-base 2.0) 1000.0)     ; => 9.965784284662087

;; Nothing leaves the real line.
(nan? (flsqrt -1.0))      ; => #t
(nan? (fllog -1.0))       ; => #t
(nan? (fllog2 -1.0))      ; => #t
(nan? (fllog10 -1.0))     ; => #t
(nan? (flexpt -8.0 0.5))  ; => #t
(nan? (flasin 2.0))       ; => #t
(nan? (flacos 2.0))       ; => #t
(nan? (flacosh 0.0))      ; => #t
(nan? (flatanh 2.0))      ; => #t

;; Trigonometric and hyperbolic functions.
(close? (fltan 0.5) (/ (flsin 0.5) (flcos 0.5)))  ; => #t
(close? (flatan 1.0 -1.0) (* 3 fl-pi/4))          ; => #t
(close? (flasin 0.5) (/ fl-pi 6))                 ; => #t
(close? (flacos 0.5) (/ fl-pi 3))                 ; => #t
(close? (flsinh 1.0) 1.1752011936438014)          ; => #t
(close? (flcosh 1.0) 1.5430806348152437)          ; => #t
(close? (fltanh 1.0) 0.7615941559557649)          ; => #t
(close? (flasinh (flsinh 2.0)) 2.0)               ; => #t
(close? (flacosh (flcosh 2.0)) 2.0)               ; => #t
(close? (flatanh (fltanh 0.5)) 0.5)               ; => #t

;; Quotients and remainders.
(flquotient 9.75 -0.5)                        ; => -19.0
(flremainder -9.75 0.5)                       ; => -0.25
(flremainder 1e300 7.0)                       ; => 1.0
(values-of (lambda () (flremquo 16.75 0.5)))  ; => (-0.25 34)

;; Special functions.
(flgamma 5.0)                                          ; => 24.0
(flgamma -1.0)                                         ; => +nan.0
(values-of (lambda () (flloggamma -0.5)))              ; => (1.2655121234846454 -1.0)
(close? (flfirst-bessel 0 1.0) 0.7651976865579666)     ; => #t
(close? (flfirst-bessel -1 1.0) -0.44005058574493355)  ; => #t
(close? (flsecond-bessel 2 1.0) -1.6506826068162546)   ; => #t
(close? (flerf 0.5) 0.5204998778130465)                ; => #t
(close? (flerfc 2.0) 0.004677734981047266)             ; => #t
(flfirst-bessel 100000 1.0)                            ; raises: out-of-range
(flgamma 5)                                            ; raises: wrong-type
