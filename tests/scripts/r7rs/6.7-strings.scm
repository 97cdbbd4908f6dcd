;; R7RS 6.7: strings and their escapes.
"The word \"recursion\" has many meanings."  ; => "The word \"recursion\" has many meanings."
(string-length "a\\b\"c")                            ; => 5
"\a\b\t\n\r\x41;\x3bb;"                              ; => "\a\b\t\n\rAλ"
"one \
   line"                                             ; => "one line"
(read (open-input-string "\"one \\  \t\n \t two\""))  ; => "one two"
(read (open-input-string "\"one \\  two\""))         ; raises: read-error
(string-length "a
b")                                                  ; => 3

;; Making strings.
(string? "a")                                        ; => #t
(string? 'a)                                         ; => #f
(make-string 3 #\*)                                  ; => "***"
(string-length (make-string 4))                      ; => 4
(make-string 0 #\a)                                  ; => ""
(make-string 2 "a")                                  ; raises: wrong-type
(string #\a #\b)                                     ; => "ab"
(string)                                             ; => ""

;; Characters of a string are Unicode scalar values.
(string-length "héλ𝄞")                               ; => 4
(string-ref "héλ𝄞" 3)                                ; => #\𝄞
(string-ref "abc" 3)                                 ; raises: out-of-range
(string-ref "abc" -1)                                ; raises: out-of-range
(string-ref "abc" 1.0)                               ; raises: wrong-type
(string-ref 'abc 0)                                  ; raises: wrong-type

;; A string can change, and a character may need more bytes than the one before it.
(let ((s (make-string 3 #\*))) (string-set! s 0 #\?) s)  ; => "?**"
(let ((s (string-copy "abc")))
  (string-set! s 1 #\𝄞)
  (string-set! s 2 #\λ)
  (list s (string-length s)))                        ; => ("a𝄞λ" 3)

;; Comparing.
(string=? "abc" "abc" "abc")                         ; => #t
(string=? "abc" "abd")                               ; => #f
(string<? "abc" "abd" "abe")                         ; => #t
(string<? "ab" "abc")                                ; => #t
(string<? "" "a")                                    ; => #t
(string<? "Z" "a")                                   ; => #t
(string<? "\xFFFF;" "\x10000;")                      ; => #t
(string>? "b" "a" "A")                               ; => #t
(string<=? "a" "a" "b")                              ; => #t
(string>=? "a" "b")                                  ; => #f
(string-ci=? "Strasse" "Straße")                     ; => #t
(string-ci=? "ΧΑΟΣ" "χαος" "χαοσ")                   ; => #t
(string-ci<? "a" "B")                                ; => #t
(string=? "a" 'a)                                    ; raises: wrong-type

;; Case.
(string-upcase "Straße")                             ; => "STRASSE"
(string-downcase "ΧΑΟΣ")                             ; => "χαος"
(string-downcase "ΧΑΟΣΣ")                            ; => "χαοσς"
(string-foldcase "Straße ΧΑΟΣ")                      ; => "strasse χαοσ"
(string-upcase "ﬃ")                                  ; => "FFI"

;; Parts and wholes.
(substring "hello" 1 3)                              ; => "el"
(substring "hello" 2 2)                              ; => ""
(substring "hello" 3 2)                              ; raises: out-of-range
(substring "hello" 0 6)                              ; raises: out-of-range
(string-append "foo" "" "bar")                       ; => "foobar"
(string-append)                                      ; => ""
(string-append "a" 'b)                               ; raises: wrong-type

;; Strings and lists.
(string->list "apple")                               ; => (#\a #\p #\p #\l #\e)
(string->list "apple" 2)                             ; => (#\p #\l #\e)
(string->list "apple" 2 4)                           ; => (#\p #\l)
(string->list "" 0 0)                                ; => ()
(string->list "abc" 4)                               ; raises: out-of-range
(list->string '(#\a #\λ))                            ; => "aλ"
(list->string '(#\a b))                              ; raises: wrong-type
(list->string '(#\a . #\b))                          ; raises: wrong-type

;; Copying and filling; source and target may overlap.
(string-copy "hello" 1)                              ; => "ello"
(string-copy "hello" 1 4)                            ; => "ell"
(let* ((a "abc") (b (string-copy a))) (eq? a b))     ; => #f
(let ((a "12345") (b (string-copy "hello"))) (string-copy! b 1 a 0 2) b)  ; => "h12lo"
(let ((s (string-copy "abcdef"))) (string-copy! s 2 s 0 4) s)  ; => "ababcd"
(let ((s (string-copy "abcdef"))) (string-copy! s 0 s 2) s)  ; => "cdefef"
(let ((s (string-copy "abc"))) (string-copy! s 2 "xy") s)  ; raises: out-of-range
(let ((s (make-string 3 #\a))) (string-fill! s #\b) s)  ; => "bbb"
(let ((s (make-string 4 #\a))) (string-fill! s #\b 1 3) s)  ; => "abba"
(let ((s (make-string 4 #\a))) (string-fill! s #\𝄞 2) s)  ; => "aa𝄞𝄞"
;; An escape of a scalar value only.
(string-length "\x10FFFF;")                          ; => 1
