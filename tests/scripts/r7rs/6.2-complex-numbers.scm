;; R7RS 6.2: complex numbers, exact and inexact.
(import (scheme base) (scheme inexact) (scheme complex) (scheme write))
(list 1+2i +i -i 1/2-3/4i -2.5+0i 1@0)               ; => (1+2i +i -i 1/2-3/4i -2.5 1)
-inf.0+nan.0i                                        ; => -inf.0+nan.0i
#x10+11i                                             ; => 16+17i
(complex? 3+4i)                                      ; => #t
(number? +i)                                         ; => #t
(real? +i)                                           ; => #f
(real? -2.5+0i)                                      ; => #t
(real? -2.5+0.0i)                                    ; => #f
(rational? 1+i)                                      ; => #f
(integer? 3+0i)                                      ; => #t
(integer? 3+i)                                       ; => #f
(exact? 1+2i)                                        ; => #t
(exact? 1+2.0i)                                      ; => #f
(inexact? 1.0+2.0i)                                  ; => #t
(exact-integer? +i)                                  ; => #f
(finite? 3.0+inf.0i)                                 ; => #f
(infinite? 3.0+inf.0i)                               ; => #t
(nan? +nan.0+5.0i)                                   ; => #t
(nan? 1+2i)                                          ; => #f
(zero? 0.0+0.0i)                                     ; => #t
(zero? +i)                                           ; => #f

;; Arithmetic.
(+ 1+2i 3-2i)                                        ; => 4
(- 1+2i)                                             ; => -1-2i
(- +i 1)                                             ; => -1+i
(* +i +i)                                            ; => -1
(/ 1 +i)                                             ; => -i
(/ 1+2i 3-4i)                                        ; => -1/5+2/5i
(* 1.5 2+4i)                                         ; => 3.0+6.0i
(/ +i 0)                                             ; raises: divide-by-zero
(+ +i 'a)                                            ; raises: wrong-type
(= 1+i 1.0+1.0i)                                     ; => #t
(= +i 1)                                             ; => #f
(= +i +i +i)                                         ; => #t
(eqv? 1+i 1+i)                                       ; => #t
(eqv? 1+i 1.0+i)                                     ; => #f
(equal? '(1/2+i) '(1/2+i))                           ; => #t
(eqv? 1+0.0i 1-0.0i)                                 ; => #f
(let loop ((n 0) (z 1)) (if (= z -i) n (loop (+ n 1) (* z +i))))  ; => 3
(let ((z +i)) (if (zero? z) 'zero (if (= z 1) 'one 'neither)))  ; => neither

;; Procedures that need an order refuse complex numbers.
(< 1 +i)                                             ; raises: wrong-type
(max +i 1)                                           ; raises: wrong-type
(positive? +i)                                       ; raises: wrong-type
(abs -i)                                             ; raises: wrong-type
(floor 1.5+i)                                        ; raises: wrong-type
(exact-integer-sqrt +i)                              ; raises: wrong-type
(vector-ref (vector 1) +i)                           ; raises: wrong-type

;; Parts.
(make-rectangular 1 2)                               ; => 1+2i
(make-rectangular 1.5 0)                             ; => 1.5
(make-polar 2 0)                                     ; => 2
(real-part 1.1+2.2i)                                 ; => 1.1
(imag-part 1.1+2.2i)                                 ; => 2.2
(real-part 5)                                        ; => 5
(imag-part 5)                                        ; => 0
(imag-part 5.0)                                      ; => 0
(magnitude 3+4i)                                     ; => 5
(magnitude -5)                                       ; => 5
(angle -1)                                           ; => 3.141592653589793
(angle 1)                                            ; => 0
(angle +i)                                           ; => 1.5707963267948966
(make-rectangular +i 1)                              ; raises: wrong-type
(let ((z (make-polar 1 2))) (list (magnitude z) (angle z)))  ; => (1.0 2.0)

;; Roots, powers and transcendental functions leave the real line where they must.
(sqrt -1)                                            ; => +i
(sqrt -4.0)                                          ; => +2.0i
(sqrt 3+4i)                                          ; => 2+i
(sqrt -2)                                            ; => +1.4142135623730951i
(expt -1 1/2)                                        ; => +i
(expt 1+i 2)                                         ; => +2i
(expt +i -1)                                         ; => -i
(expt 0 1+i)                                         ; => 0
(log -0.0)                                           ; => -inf.0+3.141592653589793i
(log 0.0)                                            ; => -inf.0
(log -0.0 2)                                         ; => -inf.0+4.532360141827194i
(log 2 -0.0)                                         ; => -0.0-0.0i
(log -1)                                             ; => +3.141592653589793i
(log -1 -1)                                          ; => 1.0
(exp 0)                                              ; => 1
(asin 2)                                             ; => 1.5707963267948966-1.3169578969248166i
(acos 1)                                             ; => 0
(exp +i)                                             ; => 0.5403023058681398+0.8414709848078965i
(sin +i)                                             ; => +1.1752011936438014i
(cos +i)                                             ; => 1.543080634815244
(tan +i)                                             ; => +0.7615941559557649i
(atan +2i)                                           ; => 1.5707963267948966+0.5493061443340549i
(square 1+i)                                         ; => +2i

;; Exactness and text.
(exact 1.5-0.5i)                                     ; => 3/2-1/2i
(inexact 1/2+i)                                      ; => 0.5+1.0i
(exact +inf.0i)                                      ; raises: arithmetic
(number->string 255-16i 16)                          ; => "ff-10i"
(number->string 1+i)                                 ; => "1+i"
(string->number "1@0")                               ; => 1
(string->number "#e1.5+2i")                          ; => 3/2+2i
(map string->number '("i" "1i" "1+2" "1+2ii" "+i+i" "1@2@3" "++i"))  ; => (#f #f #f #f #f #f #f)
(string->symbol "+i")                                ; => |+i|
(symbol? '|+i|)                                      ; => #t
(number? '+i)                                        ; => #t
(cond-expand (exact-complex 'complex) (else 'real))  ; => complex

;; Notation: prefixes, letters of either case, infinite parts.
(string->number "1+2I")                              ; => 1+2i
(string->number "#x10+11i")                          ; => 16+17i
(string->number "#e1.0+1.0i")                        ; => 1+i
(string->number "#i1/2+i")                           ; => 0.5+1.0i
(string->number "1e2+1.0i")                          ; => 100.0+1.0i
(string->number "+Inf.0-inf.0I")                     ; => +inf.0-inf.0i
(string->number "#b101-i")                           ; => 5-i
(number->string 0+i)                                 ; => "+i"
(number->string 1+1i)                                ; => "1+i"
(number->string 1/2+3/4i)                            ; => "1/2+3/4i"
(number->string -0.0+0.0i)                           ; => "-0.0+0.0i"
(number->string 1.0-1.0i)                            ; => "1.0-1.0i"
