;; SRFI 115: regular expressions.
(import (scheme base) (srfi 14) (srfi 115))
(define (all re text . range) (let ((match (apply regexp-matches re text range))) (and match (regexp-match->list match))))
(define (first re text . range) (let ((match (apply regexp-search re text range))) (and match (regexp-match->list match))))

;; The whole of a text, or the leftmost part of it.
(list (all '(: ($ (* "ab")) "c") "ababc") (all '(: ($ (* "ab")) "c") "xababc" 1) (all "ab" "abc") (regexp-matches? "ab" "xaby" 1 3)) ; => (("ababc" "abab") ("ababc" "abab") #f #t)
(list (first '(+ num) "a12b345") (first '(+ num) "a12b345" 3) (first "z" "abc") (first '(: bos "b") "ab" 1)) ; => (("12") ("345") #f ("b"))
;; Greedy and not; counts.
(list (first '(: "<" ($ (* any)) ">") "<a><b>") (first '(: "<" ($ (*? any)) ">") "<a><b>") (first '(?? "a") "a") (first '(**? 1 3 "a") "aaa")) ; => (("<a><b>" "a><b") ("<a>" "a") ("") ("a"))
(list (first '(= 2 "ab") "abababab") (first '(>= 2 #\a) "baaa") (first '(** 2 3 (or "ab" "c")) "abcabab") (first '(+ (/ "af09")) "xbeef12")) ; => (("abab") ("aaa") ("abcab") ("beef12"))
;; Submatches by number and by name; the last turn of a loop counts.
(list (all '(* ($ alpha)) "xyz") (all '(: ($ "a") (? ($ "b")) "c") "ac") (all '(w/nocapture ($ "a")) "a"))  ; => (("xyz" "z") ("ac" "a" #f) ("a"))
(let ((match (regexp-search '(: (-> year (= 4 num)) "-" (-> month (= 2 num))) "on 2024-07!")))
  (list (regexp-match-submatch match 'month) (regexp-match-submatch match) (regexp-match-submatch-start match 'year) (regexp-match-submatch-end match 1) (regexp-match-count match)))
; => ("07" "2024-07" 3 7 2)
(map (lambda (text) (regexp-match-submatch (regexp-matches '(or (-> x "a") (-> x "b")) text) 'x)) '("a" "b")) ; => ("a" "b")
(regexp-match-submatch (regexp-search "a" "a") 'nobody)                       ; raises: error
(list (all '(: ($ (+ alpha)) "=" (backref 1)) "ab=ab") (all '(: (-> x alpha) (backref x)) "ab"))          ; => (("ab=ab" "ab") #f)
;; Places.
(list (first '(: bol "b" eol) "a\nb\nc") (first 'word "  hi there") (first '(: nwb "i") "hi") (first '(: bow "i") "hi") (first '(word "there") "over there")) ; => (("b") ("hi") ("i") #f ("there"))
(list (first '(: "a" (look-ahead "b")) "ac ab") (first '(: "a" (neg-look-ahead "b")) "ab ac") (first '(: (look-behind "x") "a") "a xa") (first '(: (neg-look-behind "x") "a") "xa")) ; => (("a") ("a") ("a") #f)
;; Sets of characters, case, ASCII.
(list (first '(+ (or (/ "az") ("_-"))) "A_b-c") (first '(+ (~ space)) " ab ") (first '(+ (- alpha ("aeiou"))) "aabcde") (first '(+ (& alpha ascii)) "äab")) ; => (("_b-c") ("ab") ("bcd") ("ab"))
(list (all '(w/nocase "straSSe") "STRASSE") (all '(w/nocase "a" (w/case "b")) "AB") (all '(w/nocase (+ lower)) "aBc")  (all '(+ alpha) "αβ") (all '(w/ascii (+ alpha)) "αβ") (all (char-set #\a) "a"))
; => (("STRASSE") #f ("aBc") ("αβ") #f ("a"))
;; Grapheme clusters.
(map string-length (regexp-extract 'grapheme "e\x301;a\r\n\x1F1E9;\x1F1EA;\x1F1EB;\x1F1F7;"))                       ; => (2 1 2 2 2)
;; Texts of many parts.
(regexp-extract '(* num) "192.168.0.1")                                       ; => ("192" "168" "0" "1")
(list (regexp-split '(+ space) " fee fi fo") (regexp-split "," "a,,b,") (regexp-split "x" "abc") (regexp-split '(* num) "a1b"))  ; => (("" "fee" "fi" "fo") ("a" "" "b" "") ("abc") ("a" "b"))
(list (regexp-partition '(+ (or space punct)) "Hello, world!\n") (regexp-partition '(* num) "") (regexp-partition '(+ num) "1a"))     ; => (("Hello" ", " "world" "!\n") ("") ("" "1" "a"))
(regexp-fold '(+ num) (lambda (index match text found) (cons (list index (regexp-match-submatch match)) found)) '() "1 22 3" (lambda (index match text found) (list index match (reverse found))))
; => (6 #f ((0 "1") (1 "22") (4 "3")))
(list (regexp-replace '(+ space) "one two three" "_") (regexp-replace '(+ space) "one two three" "_" 1 10) (regexp-replace '(+ space) "one two three" "_" 0 #f 1) (regexp-replace "z" "abc" "y"))
; => ("one_two three" "ne_two th" "one two_three" "abc")
(list (regexp-replace '(: ($ (+ alpha)) "=" ($ (+ num))) "see a=1!" '(2 "=" 1 "<" pre ">" post)) (regexp-replace-all '($ num) "a1b2" (lambda (match) (list "[" 1 "]"))) (regexp-replace-all '(-> n num) "a1b2" '(n n)))
; => ("see 1=a<see >!!" "a[1]b[2]" "a11b22")
;; Repetitions of repetitions end soon, also where they fail.
(all '(: (* (* "a")) "b") (make-string 2000 #\a))                             ; => #f
(regexp-matches? '(* (or "a" "aa" "")) (make-string 2000 #\a))                ; => #t
;; SREs as data.
(let ((n 2)) (list (regexp-matches? (rx "a" (= ,n "b")) "abb") (regexp->sre (rx "a")) (regexp? (regexp "a")) (eq? (regexp "a") (regexp "a")) (char-set->sre (char-set #\a))))   ; => (#t (: "a") #t #f ("a"))
(map valid-sre? '("a" (: "a" bos) (** 3 2 "a") (foo "a") (* . "a") (backref 1) 5))              ; => (#t #t #f #f #f #f #f)
(regexp '(or "a" (foo "b")))                                                  ; raises: error
