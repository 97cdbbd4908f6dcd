;; SRFI 14: sets of characters.
(import (scheme base) (scheme char) (srfi 14))
(define vowels (char-set #\a #\e #\i #\o #\u))
(list (char-set-contains? vowels #\e) (char-set-contains? vowels #\b) (char-set-size vowels) (char-set->string vowels)) ; => (#t #f 5 "aeiou")
(char-set->list (char-set-union (char-set #\c #\a) (string->char-set "ab")))              ; => (#\a #\b #\c)
(char-set->string (char-set-intersection (ucs-range->char-set 97 110) vowels))            ; => "aei"
(char-set->string (char-set-difference (ucs-range->char-set 97 106) vowels (char-set #\d)))  ; => "bcfgh"
(list (char-set->string (char-set-xor (char-set #\a #\b) (char-set #\b #\c))) (char-set= (char-set #\a #\b) (string->char-set "bab"))) ; => ("ac" #t)
(list (char-set<= (char-set #\a) vowels) (char-set<= vowels (char-set #\a)) (char-set=) (= (char-set-hash vowels) (char-set-hash (string->char-set "uoiea")))) ; => (#t #f #t #t)
(list (char-set-contains? char-set:letter #\λ) (char-set-contains? char-set:digit #\5) (char-set-contains? char-set:whitespace #\a) (char-set-contains? (char-set-complement vowels) #\a))
; => (#t #t #f #f)
(list (char-set-size char-set:full) (char-set-size (char-set-complement char-set:ascii)) (char-set-size char-set:empty)) ; => (1112064 1111936 0)
(char-set->string (char-set-filter char-numeric? char-set:hex-digit))                     ; => "0123456789"
(char-set->string (char-set-map char-upcase vowels))                                      ; => "AEIOU"
(char-set->string (char-set-delete (char-set-adjoin vowels #\y) #\a #\e))                 ; => "iouy"
(list (char-set-count char-alphabetic? char-set:hex-digit) (char-set-any char-numeric? vowels) (char-set-every char-alphabetic? vowels)) ; => (12 #f #t)
(let loop ((cursor (char-set-cursor vowels)) (chars '())) (if (end-of-char-set? cursor) chars (loop (char-set-cursor-next vowels cursor) (cons (char-set-ref vowels cursor) chars))))
; => (#\u #\o #\i #\e #\a)
(char-set->string (->char-set "hello"))                                                   ; => "ehlo"
(->char-set 5)                                                                            ; raises: error
;; All of Unicode.
(list (char-set-contains? char-set:punctuation #\—) (char-set-contains? char-set:symbol #\€) (char-set-contains? char-set:title-case #\ǅ) (char-set-contains? char-set:blank #\x3000) (char-set-contains? char-set:graphic #\λ) (char-set-contains? char-set:punctuation #\$)) ; => (#t #t #t #t #t #f)
(char-set-size char-set:title-case)                                                         ; => 31
(import (only (duet kernel) char-general-category))
(map char-general-category '(#\A #\a #\1 #\space #\( #\_ #\€ #\x301 #\x200D #\xE000 #\x378)) ; => (Lu Ll Nd Zs Ps Pc Sc Mn Cf Co Cn)
(char-general-category 65)                                                                  ; raises: wrong-type
;; What may change a set answers one.
(list (char-set->string (char-set-adjoin! (char-set #\a) #\b)) (char-set->string (list->char-set! '(#\b) (char-set #\a))) (char-set->string (char-set-union! (char-set #\a) (char-set #\c)))) ; => ("ab" "ab" "ac")
