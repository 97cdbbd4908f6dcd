;; R7RS 6.6: characters and their names.
(list #\a #\A #\( #\space #\newline #\tab #\return #\null #\backspace #\delete #\escape #\alarm)
; => (#\a #\A #\( #\space #\newline #\tab #\return #\null #\backspace #\delete #\escape #\alarm)
(list #\x41 #\x3bb #\x #\λ #\x0)                     ; => (#\A #\λ #\x #\λ #\null)
(char->integer #\x10FFFF)                            ; => 1114111

;; Comparing.
(char? #\a)                                          ; => #t
(char? "a")                                          ; => #f
(char=? #\a #\a #\a)                                 ; => #t
(char<? #\a #\b #\c)                                 ; => #t
(char<? #\a #\c #\b)                                 ; => #f
(char>? #\z #\a)                                     ; => #t
(char<=? #\a #\a #\b)                                ; => #t
(char>=? #\b #\a #\a)                                ; => #t
(char<? #\A #\a)                                     ; => #t
(char-ci=? #\A #\a)                                  ; => #t
(char-ci<? #\a #\B)                                  ; => #t
(char-ci=? #\Σ #\σ #\ς)                              ; => #t
(char=? #\a "a")                                     ; raises: wrong-type

;; Classes.
(map char-alphabetic? '(#\a #\Z #\λ #\1 #\space #\_))  ; => (#t #t #t #f #f #f)
(map char-numeric? '(#\0 #\9 #\a #\x0664 #\x0AE6))   ; => (#t #t #f #t #t)
(map char-whitespace? '(#\space #\newline #\tab #\x00A0 #\x2003 #\a))  ; => (#t #t #t #t #t #f)
(map char-upper-case? '(#\A #\a #\Λ #\1))            ; => (#t #f #t #f)
(map char-lower-case? '(#\A #\a #\λ #\1))            ; => (#f #t #t #f)
(map digit-value '(#\3 #\x0664 #\x0AE6 #\x0EA6 #\a))  ; => (3 4 0 #f #f)

;; Characters and scalar values.
(char->integer #\A)                                  ; => 65
(integer->char 955)                                  ; => #\λ
(integer->char #xD800)                               ; raises: out-of-range
(integer->char #x110000)                             ; raises: out-of-range
(integer->char -1)                                   ; raises: out-of-range

;; Case.
(char-upcase #\i)                                    ; => #\I
(char-upcase #\ß)                                    ; => #\ß
(char-downcase #\Σ)                                  ; => #\σ
(char-foldcase #\ς)                                  ; => #\σ
(char-foldcase #\A)                                  ; => #\a
(char-upcase #\ς)                                    ; => #\Σ
(char-downcase #\İ)                                  ; => #\i
(char-foldcase #\İ)                                  ; => #\İ
