;; SRFI 152: strings.
(import (scheme base) (scheme char) (srfi 152))
(list (string-null? "") (string-every char-alphabetic? "ab1") (string-any char-numeric? "ab1") (string-tabulate (lambda (i) (integer->char (+ i 97))) 3) (reverse-list->string '(#\b #\a))) ; => (#t #f #t "abc" "ab")
(list (string-unfold null? car cdr '(#\a "bc" #\d)) (string-unfold null? car cdr '(#\a) "<" (lambda (s) ">")) (string-unfold-right null? car cdr '(#\a "bc") ">" (lambda (s) "<"))) ; => ("abcd" "<a>" "<bca>")
(list (string-take "hello" 2) (string-drop-right "hello" 2) (string-pad "7" 3 #\0) (string-pad-right "abcd" 2) (string-trim "  a " char-whitespace?) (string-trim-both "xax" (lambda (c) (char=? c #\x)))) ; => ("he" "hel" "007" "ab" "a " "a")
(list (string-prefix-length "abcd" "xabz" 0 4 1 4) (string-suffix-length "place" "preface" 1 5) (string-prefix? "ab" "xab" 0 2 1) (string-replace "abcd" "xyz" 1 3 0 2)) ; => (2 3 #t "axyd")
(list (string-index "a1b2" char-numeric?) (string-index-right "a1b2" char-numeric? 0 3) (string-skip "aab" (lambda (c) (char=? c #\a))) (string-contains "abcab" "ab" 1) (string-contains-right "abcab" "ab") (string-contains-right "abcab" "ab" 0 4) (string-contains-right "aaa" "xa" 0 3 1)) ; => (1 1 2 3 3 0 2)
(list (string-take-while "12ab" char-numeric?) (string-take-while-right "ab12" char-numeric?) (string-drop-while "12ab" char-numeric?) (string-drop-while-right "ab12" char-numeric?) (string-take-while-right "12" char-numeric?)) ; => ("12" "12" "ab" "ab" "12")
(call-with-values (lambda () (string-span "12ab3" char-numeric?)) list)       ; => ("12" "ab3")
(call-with-values (lambda () (string-break "ab3c" char-numeric?)) list)       ; => ("ab" "3c")
(list (string-fold cons '() "abc") (string-fold-right cons '() "abc") (string-count "a1b2" char-numeric?) (string-filter char-numeric? "a1b2") (string-remove char-numeric? "a1b2")) ; => ((#\c #\b #\a) (#\a #\b #\c) 2 "12" "ab")
(list (string-join '("a" "b") ",") (string-concatenate '("a" "b")) (string-concatenate-reverse '("b" "a") "cd" 1) (string-replicate "abc" -1 4) (string-segment "abcdefg" 3) (string-segment "" 3)) ; => ("a,b" "ab" "abc" "cabca" ("abc" "def" "g") ())
(list (string-split "a,b,,c" ",") (string-split "" ",") (string-split ",a,b," "," 'prefix) (string-split ",a,b," "," 'suffix) (string-split "a-b-c" "-" 'infix 1) (string-split "abc" "") (string-split "xa,by" "," 'infix #f 1 4)) ; => (("a" "b" "" "c") () ("a" "b" "") ("" "a" "b") ("a" "b-c") ("a" "b" "c") ("a" "b"))
(string-split "" "," 'strict-infix)                                           ; raises: error
(string-split "a" "," 'sideways)                                              ; raises: error
(string-segment "a" 0)                                                        ; raises: error
