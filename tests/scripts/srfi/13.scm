;; SRFI 13: strings.
(import (except (scheme base) string-map string-for-each)
        (except (scheme char) string-upcase string-downcase)
        (srfi 13)
        (srfi 14))

;; Predicates and constructors.
(string-null? "")                                          ; => #t
(string-null? "a")                                         ; => #f
(string-every char-alphabetic? "abc")                      ; => #t
(string-any #\b "abc")                                     ; => #t
(string-every #\a "")                                      ; => #t
(string-any char-upcase "a")                               ; => #\A
(string-tabulate (lambda (i) (integer->char (+ 97 i))) 3)  ; => "abc"
(reverse-list->string '(#\a #\b))                          ; => "ba"

;; Joining.
(string-join '("a" "b" "c"))          ; => "a b c"
(string-join '("a" "b") ", ")         ; => "a, b"
(string-join '("a" "b") ";" 'suffix)  ; => "a;b;"
(string-join '("a" "b") "/" 'prefix)  ; => "/a/b"
(string-join '() ":")                 ; => ""
(string-join '() ":" 'strict-infix)   ; raises: error

;; Parts.
(string-take "hello" 2)        ; => "he"
(string-drop "hello" 2)        ; => "llo"
(string-take-right "hello" 2)  ; => "lo"
(string-drop-right "hello" 2)  ; => "hel"
(string-take "hello" 9)        ; raises: out-of-range

;; Padding and trimming.
(string-pad "42" 5)             ; => "   42"
(string-pad "8871" 3)           ; => "871"
(string-pad "7" 3 #\0)          ; => "007"
(string-pad-right "42" 5)       ; => "42   "
(string-pad-right "8871" 3)     ; => "887"
(string-trim "  a b ")          ; => "a b "
(string-trim-right "  a b ")    ; => "  a b"
(string-trim-both "  a b ")     ; => "a b"
(string-trim-both "xxaxx" #\x)  ; => "a"
(string-trim "xxx" #\x)         ; => ""
(string-trim-right "   ")       ; => ""

;; Comparing.
(string= "ab" "xab" 0 2 1 3)                     ; => #t
(string< "a" "b")                                ; => #t
(string<> "a" "a")                               ; => #f
(string-ci= "A" "a")                             ; => #t
(string-compare "abc" "abd" list vector vector)  ; => (2)

;; Prefixes and suffixes.
(string-prefix-length "abcd" "abx")  ; => 2
(string-suffix-length "xyz" "ayz")   ; => 2
(string-prefix? "ab" "abc")          ; => #t
(string-suffix? "bc" "abc")          ; => #t
(string-prefix-ci? "AB" "abc")       ; => #t
(string-prefix? "xab" "abc" 1 3)     ; => #t

;; Searching; the criterion is a character, a set of them or a predicate.
(string-index "hello" #\l)                          ; => 2
(string-index-right "hello" #\l)                    ; => 3
(string-skip "  x" #\space)                         ; => 2
(string-skip-right "x  " char-whitespace?)          ; => 0
(string-index "hello" char-upper-case?)             ; => #f
(string-index "hello" (char-set #\o #\e))           ; => 1
(string-count "banana" #\a)                         ; => 3
(string-contains "eek -- what a geek." "ee" 12 18)  ; => 15
(string-contains "abc" "z")                         ; => #f
(string-contains-ci "HELLO" "ell")                  ; => 1

;; Texts from texts.
(string-reverse "abc")                              ; => "cba"
(string-titlecase "hello WORLD foo")                ; => "Hello World Foo"
(string-upcase "abc" 1)                             ; => "BC"
(string-concatenate '("a" "b"))                     ; => "ab"
(string-concatenate-reverse '("c" "b" "a") "de" 1)  ; => "abcd"

;; Folding, mapping and unfolding.
(string-fold cons '() "abc")                                   ; => (#\c #\b #\a)
(string-fold-right cons '() "abc")                             ; => (#\a #\b #\c)
(string-map char-upcase "abc")                                 ; => "ABC"
(string-unfold null? car cdr '(#\a #\b) "<" (lambda (x) ">"))  ; => "<ab>"
(string-unfold-right null? car cdr '(#\a #\b))                 ; => "ba"
(let ((seen '())) (string-for-each-index (lambda (i) (set! seen (cons i seen))) "abc") seen)
; => (2 1 0)

;; Rotating, replacing, cutting, filtering.
(xsubstring "abcdef" 2)                              ; => "cdefab"
(xsubstring "abcdef" -2 4)                           ; => "efabcd"
(string-replace "The TCL programmer" "another" 4 7)  ; => "The another programmer"
(string-tokenize "Help make  programs run")          ; => ("Help" "make" "programs" "run")
(string-tokenize "a1b22" char-numeric?)              ; => ("1" "22")
(string-filter char-numeric? "a1b2")                 ; => "12"
(string-delete #\a "banana")                         ; => "bnn"
(string-index "abc" 5)                               ; raises: error

;; Ranges.
(string-prefix-length "abcd" "xabz" 0 4 1 4)      ; => 2
(string-suffix-length "place" "preface" 1 5)      ; => 3
(string-prefix-length-ci "ABc" "abd")             ; => 2
(string-suffix-length-ci "xYZ" "ayz")             ; => 2
(string-compare "xab" "ac" list vector string 1)  ; => (2)
(string-compare-ci "AB" "ab" list vector string)  ; => #(2)

;; Changing a text in place.
(define text (string-copy "hello world"))
(string-upcase! text 0 1)
(string-reverse! text 6)
(string-titlecase! text 6)
(string-downcase! text 0 2)
(string-map! char-upcase text 10)
text  ; => "hello DlroW"
(string-xcopy! text 0 "abc" 1 4)
text  ; => "bcalo DlroW"

;; Two strings have no criterion among them.
(string-filter "ab" "ab")  ; raises: error
(string-delete "ab" "ab")  ; raises: error

;; A range that ends before it begins, or outside of the string, is an error.
(string-index "abc" #\a 2 1)                       ; raises: out-of-range
(string-index "abc" #\a 0 4)                       ; raises: out-of-range
(string-index-right "abc" #\a 2 1)                 ; raises: out-of-range
(string-skip "abc" #\a 4)                          ; raises: out-of-range
(string-index "abc" #\a 1.0)                       ; raises: wrong-type
(string-for-each-index (lambda (i) i) "abc" 2 1)   ; raises: out-of-range
(string-for-each-index (lambda (i) i) "abc" 1 5)   ; raises: out-of-range
(string-replace "abc" "x" 2 1)                     ; raises: out-of-range
(string-replace "abc" "xyz" 1 2 1)                 ; => "ayzc"
(xsubstring "abc" 2 1)                             ; raises: out-of-range
(xsubstring "abc" 2 2)                             ; => ""

;; By default a token has the visible characters.
(string-tokenize "a\x1;b\tc")                      ; => ("a" "b" "c")
(string-join '("a") ":" 'nonsense)                 ; raises: error

(string-tabulate (lambda (index) #\a) -1)    ; raises: out-of-range
(string-join '("a" . "b"))                   ; raises: wrong-type
(string-hash 5)                              ; raises: wrong-type
;; The last call of a predicate is a tail call: its values are those of the whole.
(call-with-values (lambda () (string-every (lambda (char) (values char 2)) "a")) list)  ; => (#\a 2)
(call-with-values (lambda () (string-any (lambda (char) (values char 2)) "a")) list)    ; => (#\a 2)
;; Accents belong to the tokens that they stand in.
(map string-length (string-tokenize "cafe\x301; x"))  ; => (5 1)
(string-pad "hello" 2 'a)                    ; raises: wrong-type
(string-pad-right "hello" 2 'a)              ; raises: wrong-type
;; Case is mapped character by character, so that lengths stay.
(string-upcase "straße")                     ; => "STRAßE"
(string-downcase "ΟΔΟΣ")                     ; => "οδοσ"
(string-upcase "straße" 4)                   ; => "ßE"
(string-ci= "straße" "STRASSE")              ; => #f
(string-ci= "straße" "STRAßE")               ; => #t
(string-ci< "Ab" "aC")                       ; => #t
(string-prefix-ci? "SS" "ß")                 ; => #f
(string-suffix-ci? "ΣΑΣ" "ρσας")             ; => #t
(string-titlecase "--capitalize tHIS sentence.")  ; => "--Capitalize This Sentence."
(string-titlecase "greasy fried chicken" 2)  ; => "Easy Fried Chicken"
(string-titlecase "中a3com ǆ")               ; => "中A3Com ǅ"
(let ((text (string-copy "aßc"))) (string-upcase! text) text)  ; => "AßC"

;; What compares parts, or ignores case, tells where a string ends.
(string-compare "ab" "abc" list vector string-null?)       ; => (2)
(string-compare "abc" "ab" vector vector list)             ; => (2)
(string-compare "xab" "ab" vector list vector 1 3)         ; => (3)
(string-compare "xb" "xab" vector vector list 1 2 1 3)     ; => (1)
(string-compare-ci "ABD" "abc" vector vector list)         ; => (2)
(map (lambda (holds?) (holds? "AB" "ab"))
     (list string-ci= string-ci<> string-ci< string-ci> string-ci<= string-ci>=))
; => (#t #f #f #f #t #t)
(map (lambda (holds?) (holds? "AB" "abc"))
     (list string-ci= string-ci<> string-ci< string-ci> string-ci<= string-ci>=))
; => (#f #t #t #f #t #f)
(map (lambda (holds?) (holds? "xB" "A" 1 2 0 1))
     (list string-ci= string-ci<> string-ci< string-ci> string-ci<= string-ci>=))
; => (#f #t #f #t #f #t)
(string-prefix? "xabx" "yabc" 1 3 1)                       ; => #t
(string-prefix? "xabx" "yabc" 1 4 1)                       ; => #f
(string-suffix? "xabx" "yab" 1 3 1 3)                      ; => #t
(string-suffix-ci? "AB" "ab" 0 2 1 2)                      ; => #f
(string-prefix? "ab" "abc" 0 3)                            ; raises: out-of-range
(string-suffix-length "xab" "yabz" 0 3 0 3)                ; => 2
(string-contains-ci "aabaabaaab" "AABAAA")                 ; => 3
(string-contains-ci "abcABC" "BC" 2)                       ; => 4
(string-contains-ci "abcabc" "xBCx" 2 6 1 3)               ; => 4
(string-contains-ci "abc" "" 2)                            ; => 2
(string-contains-ci "ΧΑΟΣ" "οσ")                           ; => 2
(string-contains (string-append (make-string 200 #\a) "b") "ab")  ; => 199
(string-any (lambda (char) (and (char=? char #\b) 'yes)) "abc" 1)  ; => yes
(string-every char->integer "abc" 0 2)                     ; => 98
(string-every #\a "abc" 1 1)                               ; => #t
(string-any #\a "abc" 2 1)                                 ; raises: out-of-range
