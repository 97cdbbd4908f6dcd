;; NeuroScript: what is a program, where a mistake is, and the values of its operators.
(import (duet base) (duet neuroscript) (duet internal neuroscript))

(define (program . lines) (string-join (append '("command") lines '("endcommand")) "\n"))
(define (place text)
  (guard (mistake ((neuroscript-syntax-error? mistake) (condition-irritants mistake)))
    (neuroscript-command-count (read-neuroscript text))))
(define (judged . lines) (place (apply program lines)))

;; Lines, comments, continuations, metadata.
(judged "emit 1")                                 ; => 1
(place "command\r emit 1\rendcommand")            ; => 1
(place "\n:: a: b\n\ncommand\n:: c: d\nemit 1\nendcommand\n\n")  ; => 1
(place "command\nemit 1\nendcommand\ncommand\nemit 2\nendcommand")         ; => 2
(place "")                                        ; => 0
(judged "" "# c" "-- c" "// c" "emit 1 -- c" "")  ; => 1
(judged "emit 1 + \\" "  2")                      ; => 1
(judged "emit 1" ":: late: x")                    ; => (3 1)
(place "command emit 1 endcommand")               ; => (1 9)
(judged "emit 1 emit 2")                          ; => (2 8)
(judged)                                          ; => (2 1)
(judged "emit \"a\\" " b\"")                      ; => (2 8)

;; Statements.
(judged "set a = 1" "set a, b.c[1].d = [1, 2]")   ; => 1
(judged "call tool.a.b()" "call f(1, 2)" "must 1" "fail" "fail 1" "whisper self, 1")    ; => 1
(judged "if 1" "emit 1" "else" "emit 2" "endif")  ; => 1
(judged "while 0" "break" "endwhile" "for each x in []" "continue" "endfor")  ; => 1
(judged "on error do" "clear_error" "endon")      ; => 1
(judged "if 1" "endif")                           ; => (3 1)
(judged "if 1" "emit 1" "else" "endif")           ; => (5 1)
(judged "if 1" "emit 1")                          ; => (4 1)
(judged "if 1" "emit 1" "else if 2" "emit 2" "endif")            ; => (4 6)
(judged "while 0" "on error do" "break" "endon" "if 1" "continue" "endif" "endwhile")   ; => 1
(judged "break")                                  ; => (2 1)
(judged "continue")                               ; => (2 1)
(judged "if 1" "break" "endif")                   ; => (3 1)
(judged "on error do" "continue" "endon")         ; => (3 1)
(judged "while 0" "emit 1" "endwhile" "break")    ; => (5 1)
(judged "clear_error")                            ; => (2 1)
(judged "return 1")                               ; => (2 1)
(judged "ask \"m\", \"p\"")                       ; => (2 1)
(judged "promptuser \"p\" into x")                ; => (2 1)
(judged "clear event \"e\"")                      ; => (2 1)
(judged "call 5")                                 ; => (2 6)
(judged "call (tool.a.b())")                      ; => (2 6)
(judged "1 + 2")                                  ; => (2 1)
(judged "x = 1")                                  ; => (2 1)
(judged "set error = 1")                          ; => (2 5)
(judged "set a + 1 = 1")                          ; => (2 7)
(judged "Emit 1")                                 ; => (2 1)
(judged "for each x in [1]" "endfor")             ; => (3 1)

;; Expressions.
(judged "emit {\"a\": 1,}")                       ; => (2 14)
(judged "emit [1,]")                              ; => (2 9)
(judged "emit f(a=1)")                            ; => (2 9)
(judged "emit .5")                                ; => (2 6)
(judged "emit 2 ** -1")                           ; => (2 11)
(judged "emit a.b")                               ; => (2 7)
(judged "emit tool.a")                            ; => (2 12)
(judged "emit tool()")                            ; => (2 10)
(judged "emit tool.fs.log(1)")                    ; => 1
(judged "emit 'a' + \"b\" + ```c``` + '''d''' + [[e]] + {{x}}")  ; => 1
(judged "emit [[1], [2] ]")                       ; => 1
(judged "emit \"a")                               ; => (2 6)
(judged "emit \"\\q\"")                           ; => (2 7)
(judged "emit \"\\ud800\"")                       ; => (2 7)
(judged "emit 1 ? 2")                             ; => (2 8)
(judged "emit ```a")                              ; => (2 6)
(judged (string-append "emit " (make-string 400 #\() "1" (make-string 400 #\))))        ; => 1
(judged (string-append "emit " (make-string 9999 #\() "1" (make-string 9999 #\))))      ; => (2 506)
(judged (apply string-append "emit 1" (map (lambda (i) "+1") (iota 2000))))   ; => (2 1007)
(read-neuroscript 5)                              ; raises: wrong-type

;; Tools, in lower case, sorted, each once.
(define (tools . lines) (neuroscript-tools (read-neuroscript (apply program lines))))
(tools "emit 1")                                  ; => ()
(tools "emit tool.B.x(tool.a.y(), tool.b.X())")   ; => ("a.y" "b.x")
(tools "emit [[{{tool.x.hidden()}}]]" "# tool.a.b()" "emit \"tool.a.b()\"")   ; => ()

;; Numbers print shortest, without exponent.
(map ns-text (list 1.0 -0.0 0.1 1e21 1e-7 123456789.25))
; => ("1" "-0" "0.1" "1000000000000000000000" "0.0000001" "123456789.25")
(map ns-text (list (/ 1.0 3.0) 1.5e-10 +inf.0 -inf.0 +nan.0))
; => ("0.3333333333333333" "0.00000000015" "+Inf" "-Inf" "NaN")
(map ns-text (list "s" #t 'null (ns-list 1.0 "a\n" 'null) (ns-map "b" 1.0 "a" (ns-list))))
; => ("s" "true" "" "[1, \"a\\n\", nil]" "{\"b\": 1, \"a\": []}")

;; Operators.
(define (failure thunk)
  (guard (problem ((condition? problem) (condition-irritants problem))) (thunk)))
(define-syntax try (syntax-rules () ((_ form) (failure (lambda () form)))))
(ns-add "1" "2")                                  ; => 3.0
(ns-add "1" "x")                                  ; => "1x"
(ns-add 'null "x")                                ; => "x"
(ns-add (ns-list) "x")                            ; => "[]x"
(try (ns-add (ns-list) 1.0))                      ; => (6)
(try (ns-add 'null 1.0))                          ; => (6)
(try (ns-add #t 1.0))                             ; => (6)
(define (numeric? text) (equal? (ns-type (ns-add text 1.0)) "number"))
(filter numeric? '("1" "+1.5" "1." ".5" "1e3" "-1E-3"))
; => ("1" "+1.5" "1." ".5" "1e3" "-1E-3")
(filter numeric? '("" "-" "." "1e" "0x1" " 1" "1 " "1_0" "inf" "e1" "1e1.5" "--1"))     ; => ()
(ns-multiply "ab" 2.0)                            ; => "abab"
(ns-multiply 0.0 "ab")                            ; => ""
(ns-multiply "2" "3")                             ; => 6.0
(try (ns-multiply "ab" -1.0))                     ; => (6)
(try (ns-multiply "ab" 1.5))                      ; => (6)
(ns-multiply "ab" 1e9)                            ; raises: neuroscript-quota
(list (ns-remainder 7.0 -2.0) (ns-remainder -7.0 2.0) (ns-power 2.0 0.5) (ns-power 2.0 -1.0))
; => (1.0 -1.0 1.4142135623730951 0.5)
(ns-power -8.0 0.5)                               ; => +nan.0
(list (try (ns-remainder 1.5 1.0)) (try (ns-remainder 1.0 0.0)) (try (ns-divide 1.0 0.0)))
; => ((6) (14) (14))
(list (ns-bit-and 6.0 3.0) (ns-bit-or 6.0 3.0) (ns-bit-xor 6.0 3.0) (ns-bit-not 5.0))
; => (2.0 7.0 5.0 -6.0)
(list (try (ns-bit-and 1.5 1.0)) (try (ns-bit-not "x")) (try (ns-negate "x")))
; => ((6) (6) (6))
(list (ns-equal? 1.0 "1") (ns-equal? #t 1.0) (ns-equal? 'null 'null) (ns-equal? 'null ""))
; => (#t #f #t #f)
(list (ns-equal? (ns-list 1.0) (ns-list 1.0)) (ns-equal? (ns-list 1.0) (ns-list "1")))  ; => (#t #f)
(ns-equal? (ns-map "a" 1.0 "b" (ns-list)) (ns-map "b" (ns-list) "a" 1.0))     ; => #t
(list (ns-less? "10" "9") (try (ns-less? "a" "b")) (try (ns-at-least? 'null 1.0)))
; => (#f (6) (6))
(map ns-true? (list 0.0 1.0 "" "0" "false" (ns-list) (ns-list 0.0) (ns-map) (ns-map "a" 1.0) 'null))
; => (#f #t #f #t #t #f #t #f #t #f)

;; Elements.
(define nested (ns-map "a" (ns-list 1.0 2.0)))
(list (ns-element nested "b") (ns-element (ns-element nested "a") "1"))       ; => (null 2.0)
(list (try (ns-element 'null "a")) (try (ns-element (ns-list) 0.0))
  (try (ns-element (ns-list) "x")) (try (ns-element "ab" 0.0)))
; => ((7) (8) (7) (7))
(ns-text (ns-updated nested (list "a" 3.0) "x"))  ; => "{\"a\": [1, 2, nil, \"x\"]}"
(ns-text nested)                                  ; => "{\"a\": [1, 2]}"
(ns-text (ns-updated 'null (list "a" 1.0 "b") #t))
; => "{\"a\": [nil, {\"b\": true}]}"
(ns-text (ns-updated 5.0 (list "a") 1.0))         ; => "{\"a\": 1}"
(list (try (ns-updated (ns-list) (list -1.0) 1.0)) (try (ns-updated (ns-list) (list "k") 1.0)))
; => ((8) (7))
(ns-updated (ns-list) (list 1e9) 1.0)             ; raises: neuroscript-quota
(list (try (ns-destructured (ns-list 1.0) 2)) (try (ns-destructured "ab" 2)))
; => ((36) (7))
(list (ns-items "äb" "x") (ns-items 'null "x") (try (ns-items nested "x")))
; => (("ä" "b") () (7))

;; Texts with variables; nothing in them is evaluated.
(define (one name) (if (equal? name "a") 1.0 'null))
(ns-interpolate "{{a}}{{ a }}{{@nl}}{{@tbt}}{{tool.x.y()}}{{a" one)
; => "11\n```{{a"

;; Procedures.
(map ns-length (list "äb" (ns-list 1.0) nested 'null #t))
; => (2.0 1.0 1.0 0.0 1.0)
(map (lambda (x) (ns-log x)) '(100.0 1e-3 0.0 -1.0))             ; => (2.0 -3.0 -inf.0 +nan.0)
(list (ns-ln 1.0) (ns-asin 2.0) (ns-cos "0") (try (ns-sin "x")))
; => (0.0 +nan.0 1.0 (6))

;; A program as Scheme: its parameters are all that it can do.
(define (lowered . lines)
  (cdr (neuroscript->scheme (read-neuroscript (apply program lines)))))
(cadr (car (lowered "emit 1")))                   ; => (line! emit! whisper! call-tool!)
(cddr (car (lowered "emit tool.a.b(x)")))
; => ((let (($x 'null)) (line! 2) (emit! (call-tool! "a.b" (list $x)))))
