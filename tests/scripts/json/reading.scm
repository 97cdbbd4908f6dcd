;; RFC 8259: the meaning of texts, and texts that are no JSON.
(import (duet base) (duet json))

(define (mistake text . options)
  (guard (failure ((json-error? failure)
                   (list (json-error-line failure) (json-error-column failure))))
    (list 'read (apply json->value text options))))

;; Values.
(json->value "null")                              ; => null
(json->value " \t\r\n true \n")                   ; => #t
(json->value "false")                             ; => #f
(json->value "\"\"")                              ; => ""
(json->value "[]")                                ; => ()
(json->value "[ 1 , [ ] , { } , \"x\" ]")         ; => (1 () {} "x")
(json->value "{\"b\": 1, \"a\": {\"c\": null}}")  ; => {b 1 a {c null}}
(json->value "{\"\": 1, \"a b\": 2, \":k\": 3, \":\": 4}")
; => {|| 1 |a b| 2 :k 3 :|| 4}
(string? (dictionary-ref (json->value "{\"a\": \"null\"}") 'a))         ; => #t

;; Escapes.
(json->value "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"")    ; => "\"\\/\b\xc;\n\r\t"
(map char->integer (string->list (json->value "\"\\u0000\\u001F\\u007f\\u00e9\\u20AC\\uFFFF\"")))
; => (0 31 127 233 8364 65535)
(json->value "\"\\ud834\\udd1e\"")                ; => "𝄞"
(json->value "\"𝄞 é\"")                           ; => "𝄞 é"
(json->value "{\"\\u0061\": 1}")                  ; => {a 1}
(mistake "\"\\ud834\"")                           ; => (1 2)
(mistake "\"ab\\udd1e\"")                         ; => (1 4)
(mistake "\"\\ud834\\u0041\"")                    ; => (1 2)
(mistake "\"\\ud834\\ud834\"")                    ; => (1 2)
(mistake "\"\\ud834\\n\"")                        ; => (1 2)
(mistake "\"\\ud834\\udd1\"")                     ; => (1 13)
(mistake "\"\\u00g0\"")                           ; => (1 6)
(mistake "\"\\x41\"")                             ; => (1 3)
(mistake "\"\\'\"")                               ; => (1 3)
(mistake "\"\\U0041\"")                           ; => (1 3)

;; Every control character is refused in a string, and read from an escape.
(define (hexadecimal n) (string-append (if (< n 16) "0" "") (number->string n 16)))
(define controls (iota 32))
(filter (lambda (n) (not (equal? '(1 2) (mistake (string #\" (integer->char n) #\"))))) controls)
; => ()
(filter
  (lambda (n)
    (not (equal? (string (integer->char n))
           (json->value (string-append "\"\\u00" (hexadecimal n) "\"")))))
  controls)
; => ()
(json->value (string #\" (integer->char 127) #\"))                      ; => "\x7f;"
;; Of the characters up to U+00FF four are white space, and ten and the minus begin a number.
(define (after-white-space n) (mistake (string (integer->char n) #\1)))
(filter (lambda (n) (equal? '(read 1) (after-white-space n))) (iota 256))
; => (9 10 13 32)
(filter (lambda (n) (eq? 'read (car (after-white-space n)))) (iota 256))
; => (9 10 13 32 45 49 50 51 52 53 54 55 56 57)

;; Texts that are no JSON, each with the place of the mistake.
(mistake "")                                      ; => (1 1)
(mistake " \n ")                                  ; => (2 2)
(mistake "[")                                     ; => (1 2)
(mistake "[1")                                    ; => (1 3)
(mistake "[1,]")                                  ; => (1 4)
(mistake "[,1]")                                  ; => (1 2)
(mistake "[1 2]")                                 ; => (1 4)
(mistake "[1}")                                   ; => (1 3)
(mistake "]")                                     ; => (1 1)
(mistake "{")                                     ; => (1 2)
(mistake "{\"a\"}")                               ; => (1 5)
(mistake "{\"a\":}")                              ; => (1 6)
(mistake "{\"a\":1,}")                            ; => (1 8)
(mistake "{\"a\":1 \"b\":2}")                     ; => (1 8)
(mistake "{a:1}")                                 ; => (1 2)
(mistake "{'a':1}")                               ; => (1 2)
(mistake "{1:1}")                                 ; => (1 2)
(mistake "\"abc")                                 ; => (1 1)
(mistake "\"abc\\")                               ; => (1 1)
(mistake "\"abc\\\"")                             ; => (1 1)
(mistake "tru")                                   ; => (1 4)
(mistake "nul1")                                  ; => (1 4)
(mistake "True")                                  ; => (1 1)
(mistake "NaN")                                   ; => (1 1)
(mistake "Infinity")                              ; => (1 1)
(mistake "undefined")                             ; => (1 1)
(mistake "1 2")                                   ; => (1 3)
(mistake "[] x")                                  ; => (1 4)
(mistake "// a comment\n1")                       ; => (1 1)
(mistake "[1, /* no */ 2]")                       ; => (1 5)
(mistake (string #\xfeff #\1))                    ; => (1 1)
(mistake (string #\1 #\null))                     ; => (1 2)
(mistake "[1,\n 2,\n\n   oops]")                  ; => (4 4)
(mistake "[\"é\",\r\n x]")                        ; => (2 2)

;; Repeated keys, also if they are written differently; the place is that of the later one.
(mistake "{\"a\":1,\"b\":2,\"a\":1}")             ; => (1 14)
(mistake "{\"a\":1,\"\\u0061\":2}")               ; => (1 8)
(mistake "[{\"a\":1},{\"a\":{\"x\":1,\n\"x\":2}}]")                     ; => (2 1)
(mistake "{\"a\":{\"a\":[{\"a\":1}]}}")           ; => (read {a {a ({a 1})}})

;; Depth.
(define (nested levels open close)
  (define (times text)
    (with-output-to-string (lambda () (for-each (lambda (_) (write-string text)) (iota levels)))))
  (string-append (times open) "0" (times close)))
(mistake (nested 401 "[" "]"))                    ; => (1 401)
(mistake (nested 401 "{\"a\":" "}"))              ; => (1 2001)
(json->value (nested 3 "[" "]") :depth 3)         ; => (((0)))
(mistake (nested 3 "[" "]") :depth 2)             ; => (1 3)
(mistake "[]" :depth 0)                           ; => (1 1)
(json->value "7" :depth 0)                        ; => 7
(define (depth value) (if (pair? value) (+ 1 (depth (car value))) 0))
(depth (json->value (nested 400 "[" "]")))        ; => 400
(depth (json->value (nested 50000 "[" "]") :depth 50000))               ; => 50000
(mistake (apply string-append (map (lambda (_) "[") (iota 10000))))     ; => (1 401)

;; What the message says.
(define (message text) (guard (failure (#t (condition-message failure))) (json->value text)))
(message "[1;2]")   ; => "json->value: line 1, column 3: expected `,` or `]`, found `;`"
(message "{\"a\":1,\"a\":2}")
; => "json->value: line 1, column 8: the key \"a\" is repeated"
(message "\"a\tb\"")
; => "json->value: line 1, column 3: a string has U+0009 only as an escape"
(message "[")
; => "json->value: line 1, column 2: expected a value, found the end of the text"

(json->value 'text)                               ; raises: wrong-type
(json->value "1" :decimals 'text)                 ; raises: wrong-type
(json->value "1" :depth -1)                       ; raises: wrong-type
(json->value "1" :colour 1)                       ; raises: wrong-type
(json->value "1,")                                ; raises: json-error

;; From a port, one value after the other.
(define port (open-input-string " {\"a\":\n[1]}[2]3 4\"x ] \\\" y\"true\nnull  "))
(map (lambda (_) (read-json port)) (iota 7))      ; => ({a (1)} (2) 3 4 "x ] \" y" #t null)
(eof-object? (read-json port))                    ; => #t
(define broken (open-input-string "[1,}] 2"))
(read-json broken)                                ; raises: json-error
(read-json (open-input-string "\"\\"))            ; raises: json-error
(read-json (open-input-string "1.5") :decimals 'exact)                  ; => 3/2
(parameterize ((current-input-port (open-input-string "[1]"))) (read-json)) ; => (1)
