;; SRFI 115: regular expressions.
(import (scheme base) (srfi 14) (srfi 115))
(define (all re text . range)
  (let ((match (apply regexp-matches re text range))) (and match (regexp-match->list match))))
(define (first re text . range)
  (let ((match (apply regexp-search re text range))) (and match (regexp-match->list match))))

;; The whole of a text, or the leftmost part of it.
(all '(: ($ (* "ab")) "c") "ababc")     ; => ("ababc" "abab")
(all '(: ($ (* "ab")) "c") "xababc" 1)  ; => ("ababc" "abab")
(all "ab" "abc")                        ; => #f
(regexp-matches? "ab" "xaby" 1 3)       ; => #t
(first '(+ num) "a12b345")              ; => ("12")
(first '(+ num) "a12b345" 3)            ; => ("345")
(first "z" "abc")                       ; => #f
(first '(: bos "b") "ab" 1)             ; => ("b")

;; Greedy and not; counts.
(first '(: "<" ($ (* any)) ">") "<a><b>")   ; => ("<a><b>" "a><b")
(first '(: "<" ($ (*? any)) ">") "<a><b>")  ; => ("<a>" "a")
(first '(?? "a") "a")                       ; => ("")
(first '(**? 1 3 "a") "aaa")                ; => ("a")
(first '(= 2 "ab") "abababab")              ; => ("abab")
(first '(>= 2 #\a) "baaa")                  ; => ("aaa")
(first '(** 2 3 (or "ab" "c")) "abcabab")   ; => ("abcab")
(first '(+ (/ "af09")) "xbeef12")           ; => ("beef12")

;; Submatches by number and by name; the last turn of a loop counts.
(all '(* ($ alpha)) "xyz")               ; => ("xyz" "z")
(all '(: ($ "a") (? ($ "b")) "c") "ac")  ; => ("ac" "a" #f)
(all '(w/nocapture ($ "a")) "a")         ; => ("a")

(define match (regexp-search '(: (-> year (= 4 num)) "-" (-> month (= 2 num))) "on 2024-07!"))
(regexp-match-submatch match 'month)                     ; => "07"
(regexp-match-submatch match)                            ; => "2024-07"
(regexp-match-submatch-start match 'year)                ; => 3
(regexp-match-submatch-end match 1)                      ; => 7
(regexp-match-count match)                               ; => 2
(define either '(or (-> x "a") (-> x "b")))
(regexp-match-submatch (regexp-matches either "a") 'x)   ; => "a"
(regexp-match-submatch (regexp-matches either "b") 'x)   ; => "b"
(regexp-match-submatch (regexp-search "a" "a") 'nobody)  ; raises: error
(all '(: ($ (+ alpha)) "=" (backref 1)) "ab=ab")         ; => ("ab=ab" "ab")
(all '(: (-> x alpha) (backref x)) "ab")                 ; => #f

;; Places.
(first '(: bol "b" eol) "a\nb\nc")             ; => ("b")
(first 'word "  hi there")                     ; => ("hi")
(first '(: nwb "i") "hi")                      ; => ("i")
(first '(: bow "i") "hi")                      ; => #f
(first '(word "there") "over there")           ; => ("there")
(first '(: "a" (look-ahead "b")) "ac ab")      ; => ("a")
(first '(: "a" (neg-look-ahead "b")) "ab ac")  ; => ("a")
(first '(: (look-behind "x") "a") "a xa")      ; => ("a")
(first '(: (neg-look-behind "x") "a") "xa")    ; => #f

;; Sets of characters, case, ASCII.
(first '(+ (or (/ "az") ("_-"))) "A_b-c")  ; => ("_b-c")
(first '(+ (~ space)) " ab ")              ; => ("ab")
(first '(+ (- alpha ("aeiou"))) "aabcde")  ; => ("bcd")
(first '(+ (& alpha ascii)) "äab")         ; => ("ab")
(all '(w/nocase "straSSe") "STRASSE")      ; => ("STRASSE")
(all '(w/nocase "a" (w/case "b")) "AB")    ; => #f
(all '(w/nocase (+ lower)) "aBc")          ; => ("aBc")
(all '(+ alpha) "αβ")                      ; => ("αβ")
(all '(w/ascii (+ alpha)) "αβ")            ; => #f
(all (char-set #\a) "a")                   ; => ("a")

(regexp-search "a" "aaa" 2 1)                ; raises: out-of-range
(regexp-fold "a" list '() "aaa" list 0 4)    ; raises: out-of-range
(regexp-replace "a" "aaa" "b" -1)            ; raises: out-of-range

;; Letters and digits are those of the predicates of characters; controls are all of category C.
(regexp-matches? '(* alpha) "a\x2163;\x345;")  ; => #t
(regexp-matches? '(* lower) "aª")             ; => #t
(regexp-matches? 'control "\x200b;")          ; => #t
(regexp-matches? 'graphic "\x301;")           ; => #f

;; The features that the SRFI names.
(cond-expand ((and regexp-non-greedy regexp-look-around regexp-backrefs regexp-unicode) 'all)
  (else 'some))                               ; => all
;; A line ends with a line feed, a carriage return, or both.
(regexp-extract '(: bol (+ alpha)) "ab\ncd\r\nef\rgh")  ; => ("ab" "cd" "ef" "gh")
(regexp-extract '(: (+ alpha) eol) "ab\ncd\r\nef\rgh")  ; => ("ab" "cd" "ef" "gh")
(first '(: "a\r" bol) "a\r\n")              ; => #f
(first '(: "a\r" eol) "a\r\n")              ; => #f
;; Words and grapheme clusters depend on the context.
(first '(: bow "foo") "éfoo")                ; => #f
(first '(w/ascii (: bow "foo")) "éfoo")      ; => ("foo")
(first '(w/ascii (: nwb "oo")) "foo")        ; => ("oo")
(first '(: "e" eog) "e\x301;")               ; => #f
(first '(w/ascii (: "e" eog)) "e\x301;")     ; => ("e")
(all '(w/ascii grapheme) "e")                ; => ("e")
(regexp-matches? '(w/ascii grapheme) "é")    ; => #f
;; The bar is another name of alternation.
(all '(|\|| "a" "bc") "bc")                  ; => ("bc")
(all '(+ (|\|| #\a ("bc"))) "abc")           ; => ("abc")
