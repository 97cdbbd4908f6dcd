;; Numbers of JSON: exact where they can be, refused beyond the doubles.
(import (duet base) (duet json))

(define (refused? text . options)
  (guard (failure ((json-error? failure) #t)) (apply json->value text options) #f))

;; Integers are exact, however large.
(json->value "0")                                 ; => 0
(json->value "-0")                                ; => 0
(json->value "-12")                               ; => -12
(json->value "999999999999999")                   ; => 999999999999999
(json->value "1000000000000000")                  ; => 1000000000000000
(json->value "9007199254740993")                  ; => 9007199254740993
(json->value "9223372036854775807")               ; => 9223372036854775807
(json->value "-9223372036854775808")              ; => -9223372036854775808
(json->value "18446744073709551616")              ; => 18446744073709551616
(= (json->value (make-string 400 #\9)) (- (expt 10 400) 1))             ; => #t

;; A fraction or an exponent makes a number inexact.
(json->value "1.0")                               ; => 1.0
(json->value "-0.0")                              ; => -0.0
(json->value "1e2")                               ; => 100.0
(json->value "1E+2")                              ; => 100.0
(json->value "1e-2")                              ; => 0.01
(json->value "0.1")                               ; => 0.1
(json->value "-1.5E3")                            ; => -1500.0
(json->value "0e5")                               ; => 0.0
(json->value "0.1000000000000000055511151231257827021181583404541015625")  ; => 0.1
(json->value "9007199254740993.0")                ; => 9007199254740992.0

;; At the borders of the doubles.
(json->value "1.7976931348623157e308")            ; => 1.7976931348623157e308
(json->value "1.7976931348623158e308")            ; => 1.7976931348623157e308
(refused? "1.7976931348623159e308")               ; => #t
(refused? "-1e309")                               ; => #t
(refused? "1e99999999999999999999")               ; => #t
(json->value "5e-324")                            ; => 5e-324
(json->value "2e-324")                            ; => 0.0
(json->value "-1e-99999999999999999999")          ; => -0.0
(json->value "2.2250738585072014e-308")           ; => 2.2250738585072014e-308
(json->value "0e99999999999999999999")            ; => 0.0

;; Exact, if that is asked for.
(json->value "0.1" :decimals 'exact)              ; => 1/10
(json->value "1.0" :decimals 'exact)              ; => 1
(json->value "-2.50e1" :decimals 'exact)          ; => -25
(json->value "1e-3" :decimals 'exact)             ; => 1/1000
(= (json->value "1e400" :decimals 'exact) (expt 10 400))                ; => #t
(= (json->value "1e10000" :decimals 'exact) (expt 10 10000))            ; => #t
(refused? "1e10001" :decimals 'exact)             ; => #t
(refused? "1e-10001" :decimals 'exact)            ; => #t
(refused? "1e999999999999" :decimals 'exact)      ; => #t
(json->value "7" :decimals 'exact)                ; => 7
(json->value "1.5" :decimals 'inexact)            ; => 1.5

;; Texts that are no numbers.
(filter (lambda (text) (not (refused? text)))
  '("01" "-01" "00" "+1" "-" "--1" ".5" "-.5" "1." "1.e1" "1e" "1e+" "1e1.5" "1e 1" "0x10" "1_000"
    "1,5" "½" "١" "1/2" "1a" "-a" "- 1" "1.2.3" "1e5e5" "#e1" "+inf.0" "-nan.0" "1d2" "1+i"))
; => ()

;; Written so that reading gives the same number, exactness included.
(define (both-ways n) (json->value (value->json n)))
(filter (lambda (n) (not (eqv? n (both-ways n))))
  (list 0 -1 1.0 -0.0 100.0 1e21 1e22 1e-7 123456789.125 5e-324 1.7976931348623157e308
        2.2250738585072014e-308 (expt 2 53) (expt 2 64) (- (expt 10 30)) .1 (/ 1. 1024)))
; => ()
(value->json '(1 1.0 -0.0 1e21 1e-7 .5 -.5))      ; => "[1,1.0,-0.0,1e21,1e-7,0.5,-0.5]"
(value->json '(1/2 -1/8 3/1000 12345/64))         ; => "[0.5,-0.125,0.003,192.890625]"
(json->value (value->json 12345/64) :decimals 'exact)                   ; => 12345/64
(value->json 1/3)                                 ; raises: json-error
(value->json +inf.0)                              ; raises: json-error
(value->json +nan.0)                              ; raises: json-error
(value->json +i)                                  ; raises: json-error

;; A number that is longer than any is refused at its place.
(define digits (make-string 700000 #\7))
(define (refusal text . options)
  (guard (failure ((json-error? failure) (condition-message failure)))
    (apply json->value text options)))
(refusal (string-append "{\"paid\": " digits "}"))
; => "json->value: line 1, column 10: the number has too many digits"
(refusal (string-append "[-" digits "]"))
; => "json->value: line 1, column 2: the number has too many digits"
(refusal (string-append digits ".5") ':decimals 'exact)
; => "json->value: line 1, column 1: the number has too many digits"
(refusal (string-append "0." (make-string 3000000 #\7)))
; => "json->value: line 1, column 1: the number has too many digits"
(= (json->value (string-append "1" (make-string 600000 #\0))) (expt 10 600000))  ; => #t
