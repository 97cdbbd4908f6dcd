;; R7RS 6.2: complex numbers, exact and inexact.
(import (scheme base) (scheme inexact) (scheme complex) (scheme write))
(list 1+2i +i -i 1/2-3/4i -2.5+0i 1@0)               ; => (1+2i +i -i 1/2-3/4i -2.5 1)
-inf.0+nan.0i                                        ; => -inf.0+nan.0i
#x10+11i                                             ; => 16+17i
(list (complex? 3+4i) (number? +i) (real? +i) (real? -2.5+0i) (real? -2.5+0.0i))  ; => (#t #t #f #t #f)
(list (rational? 1+i) (integer? 3+0i) (integer? 3+i))  ; => (#f #t #f)
(list (exact? 1+2i) (exact? 1+2.0i) (inexact? 1.0+2.0i) (exact-integer? +i))  ; => (#t #f #t #f)
(list (finite? 3.0+inf.0i) (infinite? 3.0+inf.0i) (nan? +nan.0+5.0i) (nan? 1+2i))  ; => (#f #t #t #f)
(list (zero? 0.0+0.0i) (zero? +i))                   ; => (#t #f)

;; Arithmetic.
(+ 1+2i 3-2i)                                        ; => 4
(list (- 1+2i) (- +i 1) (* +i +i) (/ 1 +i) (/ 1+2i 3-4i))  ; => (-1-2i -1+i -1 -i -1/5+2/5i)
(* 1.5 2+4i)                                         ; => 3.0+6.0i
(/ +i 0)                                             ; raises: divide-by-zero
(+ +i 'a)                                            ; raises: wrong-type
(list (= 1+i 1.0+1.0i) (= +i 1) (= +i +i +i))        ; => (#t #f #t)
(list (eqv? 1+i 1+i) (eqv? 1+i 1.0+i) (equal? '(1/2+i) '(1/2+i)) (eqv? 1+0.0i 1-0.0i))  ; => (#t #f #t #f)
(let loop ((n 0) (z 1)) (if (= z -i) n (loop (+ n 1) (* z +i))))  ; => 3
(let ((z +i)) (if (zero? z) 'zero (if (= z 1) 'one 'neither)))  ; => neither

;; What needs an order is refused.
(< 1 +i)                                             ; raises: wrong-type
(max +i 1)                                           ; raises: wrong-type
(positive? +i)                                       ; raises: wrong-type
(abs -i)                                             ; raises: wrong-type
(floor 1.5+i)                                        ; raises: wrong-type
(exact-integer-sqrt +i)                              ; raises: wrong-type
(vector-ref (vector 1) +i)                           ; raises: wrong-type

;; Parts.
(list (make-rectangular 1 2) (make-rectangular 1.5 0) (make-polar 2 0))  ; => (1+2i 1.5 2)
(list (real-part 1.1+2.2i) (imag-part 1.1+2.2i) (real-part 5) (imag-part 5) (imag-part 5.0))  ; => (1.1 2.2 5 0 0)
(list (magnitude 3+4i) (magnitude -5) (angle -1) (angle 1) (angle +i))  ; => (5 5 3.141592653589793 0 1.5707963267948966)
(make-rectangular +i 1)                              ; raises: wrong-type
(let ((z (make-polar 1 2))) (list (magnitude z) (angle z)))  ; => (1.0 2.0)

;; Roots, powers and transcendental functions leave the real line where they must.
(list (sqrt -1) (sqrt -4.0) (sqrt 3+4i) (sqrt -2))   ; => (+i +2.0i 2+i +1.4142135623730951i)
(list (expt -1 1/2) (expt 1+i 2) (expt +i -1) (expt 0 1+i))  ; => (+i +2i -i 0)
(list (log -0.0) (log 0.0) (log -0.0 2) (log 2 -0.0))  ; => (-inf.0+3.141592653589793i -inf.0 -inf.0+4.532360141827194i -0.0-0.0i)
(log -1)                                             ; => +3.141592653589793i
(list (log -1 -1) (exp 0) (asin 2) (acos 1))         ; => (1.0 1 1.5707963267948966-1.3169578969248166i 0)
(exp +i)                                             ; => 0.5403023058681398+0.8414709848078965i
(list (sin +i) (cos +i) (tan +i) (atan +2i))         ; => (+1.1752011936438014i 1.543080634815244 +0.7615941559557649i 1.5707963267948966+0.5493061443340549i)
(square 1+i)                                         ; => +2i

;; Exactness and text.
(list (exact 1.5-0.5i) (inexact 1/2+i))              ; => (3/2-1/2i 0.5+1.0i)
(exact +inf.0i)                                      ; raises: arithmetic
(list (number->string 255-16i 16) (number->string 1+i) (string->number "1@0") (string->number "#e1.5+2i"))  ; => ("ff-10i" "1+i" 1 3/2+2i)
(map string->number '("i" "1i" "1+2" "1+2ii" "+i+i" "1@2@3" "++i"))  ; => (#f #f #f #f #f #f #f)
(list (string->symbol "+i") (symbol? '|+i|) (number? '+i))  ; => (|+i| #t #t)
(cond-expand (exact-complex 'complex) (else 'real))  ; => complex

;; What the report leaves to the notation: prefixes, letters of either case, infinite parts.
(map string->number '("1+2I" "#x10+11i" "#e1.0+1.0i" "#i1/2+i" "1e2+1.0i" "+Inf.0-inf.0I" "#b101-i"))  ; => (1+2i 16+17i 1+i 0.5+1.0i 100.0+1.0i +inf.0-inf.0i 5-i)
(map number->string '(0+i 1+1i 1/2+3/4i -0.0+0.0i 1.0-1.0i))  ; => ("+i" "1+i" "1/2+3/4i" "-0.0+0.0i" "1.0-1.0i")
