;; A search tries the rest of a pattern once at each index after a choice or a repetition, so it
;; takes at most the square of the text's length.
(import (srfi 115))
(define (times n x) (if (= n 0) '() (cons x (times (- n 1) x))))
(define (finds? sre text) (regexp-match? (regexp-search sre text)))
(define as (make-string 3000 #\a))

(finds? '(: (* any) #\a (* any) #\c) as)                  ; => #f
(finds? '(: (*? any) #\a (*? any) #\c) as)                ; => #f
(finds? '(: (* any) (+ #\a) (* alpha) (** 2 5 #\a) #\c) as) ; => #f
(finds? '(: (+ #\a) #\b) as)                              ; => #f

(define (fails-on n sre) (finds? `(: ,@(times n sre) #\c) (make-string n #\a)))
(fails-on 30 '(? #\a))                                    ; => #f
(fails-on 30 '(?? (: #\a)))                               ; => #f
(fails-on 30 '(* #\a))                                    ; => #f
(fails-on 30 '(*? #\a))                                   ; => #f
(fails-on 30 '(** 0 3 #\a))                               ; => #f
(fails-on 30 '(or "a" "aa" ($ #\a)))                      ; => #f
(fails-on 30 '(look-ahead (* #\a) (* #\a)))               ; => #f
(fails-on 30 '(: (* #\a) (? "aa")))                       ; => #f

;; A match takes the first alternative, and as much as a repetition can take.
(regexp-match->list (regexp-search '(: ($ (* any)) #\a ($ (* any)) #\b) "xaxaxbxa"))
; => ("xaxaxb" "xax" "x")
(regexp-match->list (regexp-search '(: ($ (*? any)) #\a ($ (*? any)) #\b) "xaxaxbxa"))
; => ("xaxaxb" "x" "xax")
(regexp-match->list (regexp-search '(: ($ (or "a" "ab")) ($ (or "c" "bcd")) ($ (* #\d))) "abcd"))
; => ("abcd" "a" "bcd" "")
(regexp-match->list (regexp-search '(: ($ (** 2 3 num)) ($ (+ num)) #\x) "12 123 12345x"))
; => ("12345x" "123" "45")
(regexp-fold '(+ num) (lambda (i m s a) (cons (regexp-match-submatch m) a)) '() "1 22 x 333")
; => ("333" "22" "1")
(regexp-extract '(: (+ alpha) #\@ (+ alpha)) "one two@three four five@six")
; => ("two@three" "five@six")
