;; SRFI 144: flonums. All of this is computed the same way on every machine.
(import (scheme base) (scheme inexact) (srfi 144))
(define (close? a b) (or (= a b) (< (abs (- a b)) (* 1e-12 (abs b)))))
(define (all-close? pairs) (let loop ((pairs pairs)) (or (null? pairs) (and (close? (caar pairs) (cdar pairs)) (loop (cdr pairs))))))

;; Constants agree with what the functions answer.
(all-close?
  (list (cons fl-e (exp 1.0)) (cons fl-1/e (/ fl-e)) (cons fl-e-2 (* fl-e fl-e)) (cons fl-e-pi/4 (exp (/ fl-pi 4)))
        (cons fl-log2-e (fllog2 fl-e)) (cons fl-log10-e (fllog10 fl-e)) (cons fl-log-2 (fllog 2.0)) (cons fl-1/log-2 (/ fl-log-2))
        (cons fl-log-3 (fllog 3.0)) (cons fl-log-pi (fllog fl-pi)) (cons fl-log-10 (fllog 10.0)) (cons fl-1/log-10 (/ fl-log-10))
        (cons fl-pi (flacos -1.0)) (cons fl-1/pi (/ fl-pi)) (cons fl-2pi (* 2 fl-pi)) (cons fl-pi/2 (flasin 1.0)) (cons fl-pi/4 (flatan 1.0))
        (cons fl-pi-squared (* fl-pi fl-pi)) (cons fl-degree (/ fl-pi 180)) (cons fl-2/pi (/ 2 fl-pi)) (cons fl-2/sqrt-pi (/ 2 (flsqrt fl-pi)))))
; => #t
(all-close?
  (list (cons fl-sqrt-2 (flsqrt 2.0)) (cons fl-sqrt-3 (flsqrt 3.0)) (cons fl-sqrt-5 (flsqrt 5.0)) (cons fl-sqrt-10 (flsqrt 10.0))
        (cons fl-1/sqrt-2 (/ fl-sqrt-2)) (cons fl-cbrt-2 (flcbrt 2.0)) (cons fl-cbrt-3 (flcbrt 3.0)) (cons fl-4thrt-2 (flsqrt fl-sqrt-2))
        (cons fl-phi (/ (+ 1 fl-sqrt-5) 2)) (cons fl-log-phi (fllog fl-phi)) (cons fl-1/log-phi (/ fl-log-phi)) (cons fl-e-euler (exp fl-euler))
        (cons fl-sin-1 (flsin 1.0)) (cons fl-cos-1 (flcos 1.0))
        (cons fl-gamma-1/2 (flgamma 0.5)) (cons fl-gamma-1/3 (flgamma (/ 1.0 3))) (cons fl-gamma-2/3 (flgamma (/ 2.0 3)))))
; => #t
(list (* fl-greatest 2) (/ fl-least 2) (- (fladjacent 1.0 2.0) 1.0 fl-epsilon) fl-fast-fl+*) ; => (+inf.0 0.0 0.0 #f)

;; Making flonums and taking them apart.
(list (flonum 1/4) (flonum 2.5) (fladjacent 0.0 -1.0) (fladjacent 1.5 1.5) (flcopysign 2.0 -0.0)) ; => (0.25 2.5 -5e-324 1.5 -2.0)
(flonum +i)                                                          ; raises: error
(list (make-flonum 1.5 4) (make-flonum 1.0 -1074) (make-flonum 1.0 100000000000000000000) (make-flonum -1.0 -100000000000000000000)) ; => (24.0 5e-324 +inf.0 -0.0)
(define (values-of thunk) (call-with-values thunk list))
(map (lambda (x) (values-of (lambda () (flinteger-fraction x)))) '(3.75 -3.75 -inf.0)) ; => ((3.0 0.75) (-3.0 -0.75) (-inf.0 -0.0))
(map flexponent '(1.0 10.0 0.3 0.0 -inf.0))                          ; => (0.0 3.0 -2.0 -inf.0 +inf.0)
(list (flinteger-exponent 1024.0) (flinteger-exponent 5e-324) (= (flinteger-exponent 0.0) fl-integer-exponent-zero) (= (flinteger-exponent +nan.0) fl-integer-exponent-nan)) ; => (10 -1074 #t #t)
(map (lambda (x) (values-of (lambda () (flnormalized-fraction-exponent x)))) '(1.0 -10.0 5e-324 0.0)) ; => ((0.5 1) (-0.625 4) (0.5 -1073) (0.0 0))
(map flsign-bit '(1.0 0.0 -0.0 -inf.0))                              ; => (0 0 1 1)

;; Questions.
(map flonum? '(1.0 1 1/2 +i a))                                      ; => (#t #f #f #f #f)
(list (fl=? 1.0 1.0 1.0) (fl<? 1.0 2.0 3.0) (fl>? 2.0 1.0) (fl<=? 1.0 1.0 0.0) (fl>=? 2.0 2.0) (flunordered? 1.0 +nan.0) (flunordered? 1.0 2.0)) ; => (#t #t #t #f #t #t #f)
(list (flmax) (flmin) (flmax 1.0) (flmax 1.0 3.0 2.0) (flmin 2.0 1.0)) ; => (-inf.0 +inf.0 1.0 3.0 1.0)
(list (flinteger? 2.0) (flzero? -0.0) (flpositive? 1.0) (flnegative? -0.0) (flodd? 3.0) (fleven? 3.0) (flfinite? +inf.0) (flinfinite? -inf.0) (flnan? +nan.0)) ; => (#t #t #t #f #t #f #f #t #t)
(list (flnormalized? 1.0) (flnormalized? 1e-310) (fldenormalized? -1e-310) (fldenormalized? 0.0) (flnormalized? +inf.0)) ; => (#t #f #t #f #f)

;; Arithmetic. What is rounded once differs from what is rounded twice.
(list (fl+) (fl*) (fl+ 1.0 2.0) (fl+ 1.0 2.0 3.0) (fl* 2.0 3.0 4.0) (fl- 1.0) (fl- 5.0 2.0 1.0) (fl/ 2.0) (fl/ 8.0 2.0 2.0)) ; => (0.0 1.0 3.0 6.0 24.0 -1.0 2.0 0.5 2.0)
(list (fl+* 3.0 4.0 5.0) (= (fl+* 1e11 1e12 1.0) (+ (* 1e11 1e12) 1.0)) (fl+* 0.1 10.0 -1.0)) ; => (17.0 #f 5.551115123125783e-17)
(list (flabs -2.0) (flabsdiff 1.0 3.0) (flposdiff 3.0 1.0) (flposdiff 1.0 3.0) (flposdiff +inf.0 +inf.0) (flsgn -0.0) (flsgn 7.0)) ; => (2.0 2.0 2.0 0.0 0.0 -1.0 1.0)
(list (flnumerator 2.25) (fldenominator -2.25) (flnumerator -inf.0) (fldenominator +inf.0) (nan? (fldenominator +nan.0))) ; => (9.0 4.0 -inf.0 1.0 #t)
(map (lambda (round) (map round '(-3.5 2.5))) (list flfloor flceiling flround fltruncate)) ; => ((-4.0 2.0) (-3.0 3.0) (-4.0 2.0) (-3.0 2.0))
(list (flsquare -3.0) (flexp 0.0) (flexp2 10.0) (flexp-1 1e-20) (fllog1+ 1e-20) (flhypot 3.0 4.0) (flexpt 2.0 0.5) (flcbrt -27.0)) ; => (9.0 1.0 1024.0 1e-20 1e-20 5.0 1.4142135623730951 -3.0)
(map (lambda (base) ((make-fllog-base base) 1000.0)) '(10.0 1000.0 2.0)) ; => (3.0 1.0 9.965784284662087)

;; Nothing leaves the real line.
(map nan? (list (flsqrt -1.0) (fllog -1.0) (fllog2 -1.0) (fllog10 -1.0) (flexpt -8.0 0.5) (flasin 2.0) (flacos 2.0) (flacosh 0.0) (flatanh 2.0))) ; => (#t #t #t #t #t #t #t #t #t)
(all-close? (list (cons (fltan 0.5) (/ (flsin 0.5) (flcos 0.5))) (cons (flatan 1.0 -1.0) (* 3 fl-pi/4)) (cons (flasin 0.5) (/ fl-pi 6)) (cons (flacos 0.5) (/ fl-pi 3)))) ; => #t
(all-close? (list (cons (flsinh 1.0) 1.1752011936438014) (cons (flcosh 1.0) 1.5430806348152437) (cons (fltanh 1.0) 0.7615941559557649) (cons (flasinh (flsinh 2.0)) 2.0) (cons (flacosh (flcosh 2.0)) 2.0) (cons (flatanh (fltanh 0.5)) 0.5))) ; => #t
(list (flquotient 9.75 -0.5) (flremainder -9.75 0.5) (flremainder 1e300 7.0)) ; => (-19.0 -0.25 1.0)
(values-of (lambda () (flremquo 16.75 0.5)))                         ; => (-0.25 34)
(list (flgamma 5.0) (flgamma -1.0) (values-of (lambda () (flloggamma -0.5)))) ; => (24.0 +nan.0 (1.2655121234846454 -1.0))
(all-close? (list (cons (flfirst-bessel 0 1.0) 0.7651976865579666) (cons (flfirst-bessel -1 1.0) -0.44005058574493355) (cons (flsecond-bessel 2 1.0) -1.6506826068162546) (cons (flerf 0.5) 0.5204998778130465) (cons (flerfc 2.0) 0.004677734981047266))) ; => #t
(flfirst-bessel 100000 1.0)                                          ; raises: out-of-range
(flgamma 5)                                                          ; raises: wrong-type
