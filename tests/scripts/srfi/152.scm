;; SRFI 152: strings.
(import (scheme base) (scheme char) (srfi 152))

;; Predicates and constructors.
(string-null? "")                                                     ; => #t
(string-every char-alphabetic? "ab1")                                 ; => #f
(string-any char-numeric? "ab1")                                      ; => #t
(string-tabulate (lambda (i) (integer->char (+ i 97))) 3)             ; => "abc"
(reverse-list->string '(#\b #\a))                                     ; => "ab"
(string-unfold null? car cdr '(#\a "bc" #\d))                         ; => "abcd"
(string-unfold null? car cdr '(#\a) "<" (lambda (s) ">"))             ; => "<a>"
(string-unfold-right null? car cdr '(#\a "bc") ">" (lambda (s) "<"))  ; => "<bca>"

;; Parts, padding and trimming.
(string-take "hello" 2)                               ; => "he"
(string-drop-right "hello" 2)                         ; => "hel"
(string-pad "7" 3 #\0)                                ; => "007"
(string-pad-right "abcd" 2)                           ; => "ab"
(string-trim "  a " char-whitespace?)                 ; => "a "
(string-trim-both "xax" (lambda (c) (char=? c #\x)))  ; => "a"

;; Prefixes, suffixes and replacement.
(string-prefix-length "abcd" "xabz" 0 4 1 4)  ; => 2
(string-suffix-length "place" "preface" 1 5)  ; => 3
(string-prefix? "ab" "xab" 0 2 1)             ; => #t
(string-replace "abcd" "xyz" 1 3 0 2)         ; => "axyd"

;; Searching.
(string-index "a1b2" char-numeric?)              ; => 1
(string-index-right "a1b2" char-numeric? 0 3)    ; => 1
(string-skip "aab" (lambda (c) (char=? c #\a)))  ; => 2
(string-contains "abcab" "ab" 1)                 ; => 3
(string-contains-right "abcab" "ab")             ; => 3
(string-contains-right "abcab" "ab" 0 4)         ; => 0
(string-contains-right "aaa" "xa" 0 3 1)         ; => 2

;; Cutting where a predicate changes.
(string-take-while "12ab" char-numeric?)                                 ; => "12"
(string-take-while-right "ab12" char-numeric?)                           ; => "12"
(string-drop-while "12ab" char-numeric?)                                 ; => "ab"
(string-drop-while-right "ab12" char-numeric?)                           ; => "ab"
(string-take-while-right "12" char-numeric?)                             ; => "12"
(call-with-values (lambda () (string-span "12ab3" char-numeric?)) list)  ; => ("12" "ab3")
(call-with-values (lambda () (string-break "ab3c" char-numeric?)) list)  ; => ("ab" "3c")

;; Folding and filtering.
(string-fold cons '() "abc")          ; => (#\c #\b #\a)
(string-fold-right cons '() "abc")    ; => (#\a #\b #\c)
(string-count "a1b2" char-numeric?)   ; => 2
(string-filter char-numeric? "a1b2")  ; => "12"
(string-remove char-numeric? "a1b2")  ; => "ab"

;; Joining and repeating.
(string-join '("a" "b") ",")                    ; => "a,b"
(string-concatenate '("a" "b"))                 ; => "ab"
(string-concatenate-reverse '("b" "a") "cd" 1)  ; => "abc"
(string-replicate "abc" -1 4)                   ; => "cabca"
(string-segment "abcdefg" 3)                    ; => ("abc" "def" "g")
(string-segment "" 3)                           ; => ()

;; Splitting.
(string-split "a,b,,c" ",")               ; => ("a" "b" "" "c")
(string-split "" ",")                     ; => ()
(string-split ",a,b," "," 'prefix)        ; => ("a" "b" "")
(string-split ",a,b," "," 'suffix)        ; => ("" "a" "b")
(string-split "a-b-c" "-" 'infix 1)       ; => ("a" "b-c")
(string-split "abc" "")                   ; => ("a" "b" "c")
(string-split "xa,by" "," 'infix #f 1 4)  ; => ("a" "b")
(string-split "" "," 'strict-infix)       ; raises: error
(string-split "a" "," 'sideways)          ; raises: error
(string-segment "a" 0)                    ; raises: error

(string-take-while "abc" char? 2 1)          ; raises: out-of-range
(string-contains-right "abc" "b" 0 4)        ; raises: out-of-range
