;; SRFI 14: sets of characters.
(import (scheme base) (scheme char) (srfi 14))
(define vowels (char-set #\a #\e #\i #\o #\u))

;; Asking.
(char-set-contains? vowels #\e)  ; => #t
(char-set-contains? vowels #\b)  ; => #f
(char-set-size vowels)           ; => 5
(char-set->string vowels)        ; => "aeiou"

;; The algebra of sets.
(char-set->list (char-set-union (char-set #\c #\a) (string->char-set "ab")))  ; => (#\a #\b #\c)
(char-set->string (char-set-intersection (ucs-range->char-set 97 110) vowels))  ; => "aei"
(char-set->string (char-set-difference (ucs-range->char-set 97 106) vowels (char-set #\d)))
; => "bcfgh"
(char-set->string (char-set-xor (char-set #\a #\b) (char-set #\b #\c)))  ; => "ac"

;; Comparing.
(char-set= (char-set #\a #\b) (string->char-set "bab"))                ; => #t
(char-set<= (char-set #\a) vowels)                                     ; => #t
(char-set<= vowels (char-set #\a))                                     ; => #f
(char-set=)                                                            ; => #t
(= (char-set-hash vowels) (char-set-hash (string->char-set "uoiea")))  ; => #t

;; Named sets.
(char-set-contains? char-set:letter #\λ)               ; => #t
(char-set-contains? char-set:digit #\5)                ; => #t
(char-set-contains? char-set:whitespace #\a)           ; => #f
(char-set-contains? (char-set-complement vowels) #\a)  ; => #f
(char-set-size char-set:full)                          ; => 1112064
(char-set-size (char-set-complement char-set:ascii))   ; => 1111936
(char-set-size char-set:empty)                         ; => 0

;; Sets from sets.
(char-set->string (char-set-filter char-numeric? char-set:hex-digit))  ; => "0123456789"
(char-set->string (char-set-map char-upcase vowels))                   ; => "AEIOU"
(char-set->string (char-set-delete (char-set-adjoin vowels #\y) #\a #\e))  ; => "iouy"
(char-set-count char-alphabetic? char-set:hex-digit)                   ; => 12
(char-set-any char-numeric? vowels)                                    ; => #f
(char-set-every char-alphabetic? vowels)                               ; => #t

;; Cursors and conversion.
(let loop ((cursor (char-set-cursor vowels)) (chars '()))
  (if (end-of-char-set? cursor)
      chars
      (loop (char-set-cursor-next vowels cursor) (cons (char-set-ref vowels cursor) chars))))
; => (#\u #\o #\i #\e #\a)
(char-set->string (->char-set "hello"))  ; => "ehlo"
(->char-set 5)                           ; raises: error

;; All of Unicode.
(char-set-contains? char-set:punctuation #\—)  ; => #t
(char-set-contains? char-set:symbol #\€)       ; => #t
(char-set-contains? char-set:title-case #\ǅ)   ; => #t
(char-set-contains? char-set:blank #\x3000)    ; => #t
(char-set-contains? char-set:graphic #\λ)      ; => #t
(char-set-contains? char-set:punctuation #\$)  ; => #f
(char-set-size char-set:title-case)            ; => 31

;; The general category of a character.
(import (only (duet kernel) char-general-category))
(char-general-category #\A)      ; => Lu
(char-general-category #\a)      ; => Ll
(char-general-category #\1)      ; => Nd
(char-general-category #\space)  ; => Zs
(char-general-category #\()      ; => Ps
(char-general-category #\_)      ; => Pc
(char-general-category #\€)      ; => Sc
(char-general-category #\x301)   ; => Mn
(char-general-category #\x200D)  ; => Cf
(char-general-category #\xE000)  ; => Co
(char-general-category #\x378)   ; => Cn
(char-general-category 65)       ; raises: wrong-type

;; A linear operation returns a set.
(char-set->string (char-set-adjoin! (char-set #\a) #\b))            ; => "ab"
(char-set->string (list->char-set! '(#\b) (char-set #\a)))          ; => "ab"
(char-set->string (char-set-union! (char-set #\a) (char-set #\c)))  ; => "ac"

(ucs-range->char-set 100 97)                       ; raises: out-of-range
(ucs-range->char-set -1 97)                        ; raises: out-of-range

;; `char-set-filter` calls its predicate before it returns, and never later.
(define seen 0)
(define filtered
  (char-set-filter (lambda (char) (set! seen (+ seen 1)) (char=? char #\b)) (char-set #\a #\b #\c)))
seen                                          ; => 3
(char-set-contains? filtered #\b)             ; => #t
(char-set->list filtered)                     ; => (#\b)
seen                                          ; => 3
(define limit #\b)
(define alphabet (char-set #\a #\b #\c))
(define below (char-set-filter (lambda (char) (char<? char limit)) alphabet (char-set #\z)))
(set! limit #\x)
(char-set->list below)                        ; => (#\a #\z)
;; The sets by general category: letters are no marks and no numbers.
(map (lambda (char) (char-set-contains? char-set:letter char))
     '(#\a #\λ #\x2163 #\x345 #\1))          ; => (#t #t #f #f #f)
(map (lambda (char) (char-set-contains? char-set:lower-case char))
     '(#\a #\ß #\ª #\A))                      ; => (#t #t #f #f)
(char-set-contains? char-set:upper-case #\x2163)  ; => #f
(map (lambda (char) (char-set-contains? char-set:whitespace char))
     '(#\tab #\return #\space #\xa0 #\x2028 #\x85))  ; => (#t #t #t #t #t #f)
(map (lambda (char) (char-set-contains? char-set:graphic char))
     '(#\a #\x301 #\½ #\$ #\space #\x200b))  ; => (#t #t #t #t #f #f)

(char-set-any (lambda (char) (and (char=? char #\c) 'yes)) (char-set #\a #\b #\c #\x))  ; => yes
(char-set-any char-numeric? (char-set #\a #\x))                                        ; => #f
(char-set-any char-numeric? char-set:empty)                                            ; => #f
(char-set-every char->integer (char-set #\a #\b))                                      ; => 98
(char-set-every char-numeric? (char-set #\1 #\x))                                      ; => #f
(char-set-every char-numeric? char-set:empty)                                          ; => #t
