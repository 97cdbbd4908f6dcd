;; SRFI 115: regular expressions that cut up and rewrite texts, and regular expressions as data.
(import (scheme base) (srfi 14) (srfi 115))

;; Grapheme clusters.
(map string-length (regexp-extract 'grapheme "e\x301;a\r\n\x1F1E9;\x1F1EA;\x1F1EB;\x1F1F7;"))
; => (2 1 2 2 2)

;; Texts of many parts.
(regexp-extract '(* num) "192.168.0.1")                     ; => ("192" "168" "0" "1")
(regexp-split '(+ space) " fee fi fo")                      ; => ("" "fee" "fi" "fo")
(regexp-split "," "a,,b,")                                  ; => ("a" "" "b" "")
(regexp-split "x" "abc")                                    ; => ("abc")
(regexp-split '(* num) "a1b")                               ; => ("a" "b")
(regexp-partition '(+ (or space punct)) "Hello, world!\n")  ; => ("Hello" ", " "world" "!\n")
(regexp-partition '(* num) "")                              ; => ("")
(regexp-partition '(+ num) "1a")                            ; => ("" "1" "a")
(define (note index match text found) (cons (list index (regexp-match-submatch match)) found))
(define (finish index match text found) (list index match (reverse found)))
(regexp-fold '(+ num) note '() "1 22 3" finish)             ; => (6 #f ((0 "1") (1 "22") (4 "3")))

;; Replacing: the first match, from a place on, the match of a number, every match.
(regexp-replace '(+ space) "one two three" "_")                         ; => "one_two three"
(regexp-replace '(+ space) "one two three" "_" 1 10)                    ; => "ne_two th"
(regexp-replace '(+ space) "one two three" "_" 0 #f 1)                  ; => "one two_three"
(regexp-replace "z" "abc" "y")                                          ; => "abc"
(regexp-replace '(: ($ (+ alpha)) "=" ($ (+ num))) "see a=1!" '(2 "=" 1 "<" pre ">" post))
; => "see 1=a<see >!!"
(regexp-replace-all '($ num) "a1b2" (lambda (match) (list "[" 1 "]")))  ; => "a[1]b[2]"
(regexp-replace-all '(-> n num) "a1b2" '(n n))                          ; => "a11b22"
;; An empty match at the end of the text counts, except after a match that ends there.
(regexp-replace-all 'eos "ab" "-")                                      ; => "ab-"
(regexp-replace-all 'eol "a\nb" ";")                                    ; => "a;\nb;"
(regexp-replace-all 'eol "a\n" ";")                                     ; => "a;\n;"
(regexp-replace-all '(: (* space) eos) "ab" ".")                        ; => "ab."
(regexp-replace-all '(: (* space) eos) "ab  " ".")                      ; => "ab."
(regexp-replace-all '(* any) "ab" "-")                                  ; => "-"
(regexp-replace-all '(* num) "a1b" "-")                                 ; => "-a--b-"
(regexp-replace-all 'eos "" "-")                                        ; => "-"
(regexp-replace-all 'eos "abc" "-" 0 2)                                 ; => "ab-"
(regexp-fold 'eos (lambda (i m s n) (+ n 1)) 0 "ab")                    ; => 1
(regexp-replace '(* any) "ab" "-" 0 2 1)                                ; => "ab"
(regexp-replace 'eol "a\nb" ";" 0 #f 1)                                 ; => "a\nb;"

;; Repetitions of repetitions end soon, also where they fail.
(regexp-matches '(: (* (* "a")) "b") (make-string 2000 #\a))    ; => #f
(regexp-matches? '(* (or "a" "aa" "")) (make-string 2000 #\a))  ; => #t

;; SREs as data.
(let ((n 2)) (regexp-matches? (rx "a" (= ,n "b")) "abb"))  ; => #t
(regexp->sre (rx "a"))                                     ; => (: "a")
(regexp? (regexp "a"))                                     ; => #t
(eq? (regexp "a") (regexp "a"))                            ; => #f
(char-set->sre (char-set #\a))                             ; => ("a")
(valid-sre? "a")                                           ; => #t
(valid-sre? '(: "a" bos))                                  ; => #t
(valid-sre? '(** 3 2 "a"))                                 ; => #f
(valid-sre? '(foo "a"))                                    ; => #f
(valid-sre? '(* . "a"))                                    ; => #f
(valid-sre? '(backref 1))                                  ; => #f
(valid-sre? 5)                                             ; => #f
(regexp '(or "a" (foo "b")))                               ; raises: error
