;; SRFI 175: ASCII.
(import (scheme base) (srfi 175))

;; Membership in ASCII.
(map ascii-codepoint? '(0 127 128 -1 #\a))  ; => (#t #t #f #f #f)
(ascii-char? #\a)                           ; => #t
(ascii-char? #\ä)                           ; => #f
(ascii-string? "abc")                       ; => #t
(ascii-string? "ä")                         ; => #f
(ascii-bytevector? #u8(1 127))              ; => #t
(ascii-bytevector? #u8(128))                ; => #f
(ascii-string? 1)                           ; => #f

;; Classes: control, other than control, space or tab, white space, graphic.
(define (classes c)
  (list (ascii-control? c) (ascii-non-control? c) (ascii-space-or-tab? c)
        (ascii-whitespace? c) (ascii-other-graphic? c)))
(classes #\tab)    ; => (#t #f #t #t #f)
(classes #\space)  ; => (#f #t #t #t #f)
(classes #\!)      ; => (#f #t #f #f #t)
(classes 127)      ; => (#t #f #f #f #f)

;; Classes: letter or digit, letter, digit, upper case, lower case.
(define (letters c)
  (list (ascii-alphanumeric? c) (ascii-alphabetic? c) (ascii-numeric? c)
        (ascii-upper-case? c) (ascii-lower-case? c)))
(letters #\A)  ; => (#t #t #f #t #f)
(letters #\z)  ; => (#t #t #f #f #t)
(letters 48)   ; => (#t #f #t #f #f)
(letters #\ä)  ; => (#f #f #f #f #f)

;; Characters and the numbers they stand for.
(ascii-digit-value #\7 10)          ; => 7
(ascii-digit-value #\7 7)           ; => #f
(ascii-upper-case-value #\C 10 26)  ; => 12
(ascii-lower-case-value #\z 0 25)   ; => #f
(ascii-nth-digit 3)                 ; => #\3
(ascii-nth-digit 10)                ; => #f
(ascii-nth-upper-case 27)           ; => #\B
(ascii-nth-lower-case -1)           ; => #\z

;; Characters and their counterparts.
(ascii-upcase #\a)                  ; => #\A
(ascii-upcase 97)                   ; => 65
(ascii-downcase #\A)                ; => #\a
(ascii-downcase #\Ä)                ; => #\Ä
(ascii-control->graphic #\newline)  ; => #\J
(ascii-control->graphic #\a)        ; => #f
(ascii-graphic->control #\J)        ; => #\newline
(ascii-graphic->control 63)         ; => 127
(ascii-mirror-bracket #\()          ; => #\)
(ascii-mirror-bracket #\a)          ; => #f

;; Comparing without regard to case.
(ascii-ci=? #\a #\A)            ; => #t
(ascii-ci<? #\a #\B)            ; => #t
(ascii-ci>? #\a #\B)            ; => #f
(ascii-ci<=? #\a 65)            ; => #t
(ascii-ci>=? #\a #\B)           ; => #f
(ascii-string-ci=? "aB" "Ab")   ; => #t
(ascii-string-ci<? "ab" "ABC")  ; => #t
(ascii-string-ci>? "b" "ABC")   ; => #t
(ascii-string-ci<=? "a" "A")    ; => #t
(ascii-string-ci>=? "a" "b")    ; => #f
