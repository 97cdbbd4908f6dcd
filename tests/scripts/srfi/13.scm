;; SRFI 13: strings.
(import (except (scheme base) string-map string-for-each) (scheme char) (srfi 13) (srfi 14))
(list (string-null? "") (string-null? "a") (string-every char-alphabetic? "abc") (string-any #\b "abc") (string-every #\a "") (string-any char-upcase "a")) ; => (#t #f #t #t #t #\A)
(list (string-tabulate (lambda (i) (integer->char (+ 97 i))) 3) (reverse-list->string '(#\a #\b))) ; => ("abc" "ba")
(list (string-join '("a" "b" "c")) (string-join '("a" "b") ", ") (string-join '("a" "b") ";" 'suffix) (string-join '("a" "b") "/" 'prefix) (string-join '() ":"))
; => ("a b c" "a, b" "a;b;" "/a/b" "")
(string-join '() ":" 'strict-infix)                                                       ; raises: error
(list (string-take "hello" 2) (string-drop "hello" 2) (string-take-right "hello" 2) (string-drop-right "hello" 2)) ; => ("he" "llo" "lo" "hel")
(string-take "hello" 9)                                                                   ; raises: out-of-range
(list (string-pad "42" 5) (string-pad "8871" 3) (string-pad "7" 3 #\0) (string-pad-right "42" 5) (string-pad-right "8871" 3)) ; => ("   42" "871" "007" "42   " "887")
(list (string-trim "  a b ") (string-trim-right "  a b ") (string-trim-both "  a b ") (string-trim-both "xxaxx" #\x) (string-trim "xxx" #\x) (string-trim-right "   ")) ; => ("a b " "  a b" "a b" "a" "" "")
(list (string= "ab" "xab" 0 2 1 3) (string< "a" "b") (string<> "a" "a") (string-ci= "A" "a") (string-compare "abc" "abd" list vector vector)) ; => (#t #t #f #t (2))
(list (string-prefix-length "abcd" "abx") (string-suffix-length "xyz" "ayz") (string-prefix? "ab" "abc") (string-suffix? "bc" "abc") (string-prefix-ci? "AB" "abc") (string-prefix? "xab" "abc" 1 3))
; => (2 2 #t #t #t #t)
(list (string-index "hello" #\l) (string-index-right "hello" #\l) (string-skip "  x" #\space) (string-skip-right "x  " char-whitespace?) (string-index "hello" char-upper-case?) (string-index "hello" (char-set #\o #\e)) (string-count "banana" #\a))
; => (2 3 2 0 #f 1 3)
(list (string-contains "eek -- what a geek." "ee" 12 18) (string-contains "abc" "z") (string-contains-ci "HELLO" "ell")) ; => (15 #f 1)
(list (string-reverse "abc") (string-titlecase "hello WORLD foo") (string-upcase "abc" 1) (string-concatenate '("a" "b")) (string-concatenate-reverse '("c" "b" "a") "de" 1)) ; => ("cba" "Hello World Foo" "BC" "ab" "abcd")
(list (string-fold cons '() "abc") (string-fold-right cons '() "abc") (string-map char-upcase "abc")) ; => ((#\c #\b #\a) (#\a #\b #\c) "ABC")
(list (string-unfold null? car cdr '(#\a #\b) "<" (lambda (x) ">")) (string-unfold-right null? car cdr '(#\a #\b)))  ; => ("<ab>" "ba")
(let ((seen '())) (string-for-each-index (lambda (i) (set! seen (cons i seen))) "abc") seen) ; => (2 1 0)
(list (xsubstring "abcdef" 2) (xsubstring "abcdef" -2 4) (string-replace "The TCL programmer" "another" 4 7)) ; => ("cdefab" "efabcd" "The another programmer")
(list (string-tokenize "Help make  programs run") (string-tokenize "a1b22" char-numeric?) (string-filter char-numeric? "a1b2") (string-delete #\a "banana")) ; => (("Help" "make" "programs" "run") ("1" "22") "12" "bnn")
(string-index "abc" 5)                                                                    ; raises: error
(list (string-prefix-length "abcd" "xabz" 0 4 1 4) (string-suffix-length "place" "preface" 1 5) (string-prefix-length-ci "ABc" "abd") (string-suffix-length-ci "xYZ" "ayz")) ; => (2 3 2 2)
(list (string-compare "xab" "ac" list vector string 1) (string-compare-ci "AB" "ab" list vector string)) ; => ((2) #(2))
(define text (string-copy "hello world"))
(begin (string-upcase! text 0 1) (string-reverse! text 6) (string-titlecase! text 6) (string-downcase! text 0 2) (string-map! char-upcase text 10) text) ; => "hello DlroW"
(begin (string-xcopy! text 0 "abc" 1 4) text)                                             ; => "bcalo DlroW"
