;; SRFI 143: fixnums.
(import (scheme base) (srfi 143))

;; Which numbers are fixnums.
(fixnum? fx-greatest)                     ; => #t
(fixnum? (+ fx-greatest 1))               ; => #f
(fixnum? 1.0)                             ; => #f
(= (expt 2 (- fx-width 1)) (- fx-least))  ; => #t

;; Arithmetic.
(fx+ 1 2)                                                        ; => 3
(fx- 1 2)                                                        ; => -1
(fx* 3 4)                                                        ; => 12
(fxneg 5)                                                        ; => -5
(fxabs -5)                                                       ; => 5
(fxquotient 7 2)                                                 ; => 3
(fxsquare 5)                                                     ; => 25
(fx+ fx-greatest 1)                                              ; raises: error
(call-with-values
  (lambda () (fx+/carry fx-greatest 1 0))
  (lambda (low carry) (list (= low fx-least) carry)))            ; => (#t 1)
(call-with-values (lambda () (fx*/carry fx-greatest 2 0)) list)  ; => (-2 1)

;; Bits.
(fxarithmetic-shift 1 4)         ; => 16
(fxarithmetic-shift-right 16 4)  ; => 1
(fxand 6 3)                      ; => 2
(fxif 12 10 5)                   ; => 9
(fxbit-field 30 1 3)             ; => 3

(fxquotient -7 2)            ; => -3
(fxquotient fx-least -1)     ; raises: error
