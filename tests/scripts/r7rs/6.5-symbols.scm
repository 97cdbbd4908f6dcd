;; R7RS 6.5: symbols.
(symbol? 'foo)                                       ; => #t
(symbol? (car '(a b)))                               ; => #t
(symbol? "bar")                                      ; => #f
(symbol? 'nil)                                       ; => #t
(symbol? '())                                        ; => #f
(symbol? #f)                                         ; => #f
(symbol=? 'a 'a 'a)                                  ; => #t
(symbol=? 'a 'a 'b)                                  ; => #f
(symbol=? 'a "a")                                    ; raises: wrong-type
(symbol->string 'flying-fish)                        ; => "flying-fish"
(symbol->string 'Martin)                             ; => "Martin"
(symbol->string (string->symbol "Malvina"))          ; => "Malvina"
(string->symbol "mISSISSIppi")                       ; => mISSISSIppi
(eqv? 'bitBlt (string->symbol "bitBlt"))             ; => #t
(eqv? 'LollyPop (string->symbol (symbol->string 'LollyPop)))  ; => #t
(string=? "K. Harper, M.D." (symbol->string (string->symbol "K. Harper, M.D.")))  ; => #t
(symbol->string 5)                                   ; raises: wrong-type

;; Symbols between bars, and how symbols that need them are written.
'|foo bar|                                           ; => |foo bar|
'||                                                  ; => ||
(string->symbol "")                                  ; => ||
'|a\|b|                                              ; => |a\|b|
(symbol->string '|a\x41;b|)                          ; => "aAb"
(symbol->string '|tab\there|)                        ; => "tab\there"
(eq? '|abc| 'abc)                                    ; => #t
(string->symbol "1")                                 ; => |1|
(string->symbol "+1")                                ; => |+1|
(string->symbol ".")                                 ; => |.|
(string->symbol "+i")                                ; => |+i|
(string->symbol "#foo")                              ; => |#foo|
(string->symbol "a(b")                               ; => |a(b|
(string->symbol "a'b")                               ; => |a'b|
(string->symbol "a;b")                               ; => |a;b|
(string->symbol "a#b")                               ; => a#b
'λ                                                   ; => λ
'(... + - -> <=? !$%&*/:<=>?^_~ V17a)                ; => (... + - -> <=? !$%&*/:<=>?^_~ V17a)
(eq? 'ABC 'abc)                                      ; => #f
'|a
b|                                                   ; => |a\nb|
