;; JSON Schema 2020-12: references inside a schema, and patterns.
(import (duet base) (duet json))

;; In these texts ' stands for ".
(define (json text)
  (json->value (string-map (lambda (char) (if (char=? char #\') #\" char)) text)))

(define (valid? schema . texts)
  (let ((compiled (json-schema (json schema))))
    (map (lambda (text) (json-valid? compiled (json text))) texts)))
(define (fault schema)
  (guard (failure ((eq? (condition-kind failure) 'json-schema-error)
                   (car (condition-irritants failure))))
    (json-schema (json schema))))

;; By pointer, also to places that no keyword names, and with escapes.
(valid? "{'$ref': '#/$defs/a', '$defs': {'a': {'$ref': '#/own/b'}}, 'own': {'b': {'type': 'null'}}}"
  "null" "1")                                                 ; => (#t #f)
(valid? "{'properties': {'p': {'$ref': '#/$defs/a~1b%20c~0'}},
    '$defs': {'a/b c~': {'type': 'null'}}}"
  "{'p': null}" "{'p': 1}")                               ; => (#t #f)
(valid? "{'$ref': '#/allOf/0', 'allOf': [{'type': 'null'}]}" "null" "1")  ; => (#t #f)
;; A reference does not hide the keywords beside it.
(valid? "{'$ref': '#/$defs/a', 'maximum': 5, '$defs': {'a': {'minimum': 2}}}" "1" "3" "6")
; => (#f #t #f)

;; Recursion through the value.
(define tree
  "{'type': 'object', 'required': ['n'], 'properties': {'n': {'type': 'number'},
    'kids': {'items': {'$ref': '#'}}}}")
(valid? tree "{'n': 1, 'kids': [{'n': 2, 'kids': []}]}"
  "{'n': 1, 'kids': [{'n': 2, 'kids': [{}]}]}")
; => (#t #f)
(define (deep levels)
  (if (= levels 0) "{'n':0}" (string-append "{'n':1,'kids':[" (deep (- levels 1)) "]}")))
(valid? tree (deep 150))                                      ; => (#t)

;; A reference that leads back to itself without going into the value.
(valid? "{'$ref': '#'}" "1")                              ; raises: json-schema-error
(valid? "{'allOf': [{'$ref': '#/$defs/a'}], '$defs': {'a': {'anyOf': [{'$ref': '#'}]}}}" "1")
; raises: json-schema-error
(valid? "{'allOf': [{'$ref': '#/$defs/a'}, {'$ref': '#/$defs/a'}],
    '$defs': {'a': {'type': 'null'}}}"
  "null")
; => (#t)

;; Anchors and identifiers.
(valid? "{'$ref': '#here', '$defs': {'a': {'$anchor': 'here', 'type': 'null'}}}" "null" "1")
; => (#t #f)
(define store
  "{'$id': 'http://example.org/schemas/store.json', 'properties': {'item': {'$ref': 'item.json'},
    'box': {'$ref': '/schemas/box#lid'}, 'up': {'$ref': '../schemas/./item.json#/properties/id'}},
    '$defs': {'i': {'$id': 'item.json', 'properties': {'id': {'$ref': '#/$defs/id'}},
    '$defs': {'id': {'type': 'integer'}}}, 'b': {'$id': 'http://example.org/schemas/box',
    '$defs': {'l': {'$anchor': 'lid', 'type': 'null'}}}}}")
(valid? store "{'item': {'id': 1}}" "{'item': {'id': '1'}}" "{'box': null}" "{'box': 1}" "{'up': 1}"
  "{'up': ''}")
; => (#t #f #t #f #t #f)
(valid? "{'$id': 'urn:example:root', 'properties': {'a': {'$ref': 'urn:example:leaf'}},
    '$defs': {'l': {'$id': 'urn:example:leaf', 'type': 'null'}}}"
  "{'a': null}" "{'a': 1}")                               ; => (#t #f)

;; Dynamic references: the outermost resource on the way decides.
(define lists
  "{'$id': 'http://example.org/strings', '$ref': 'list', '$defs': {'s': {'$dynamicAnchor': 'item',
    'type': 'string'}, 'l': {'$id': 'list', 'type': 'array', 'items': {'$dynamicRef': '#item'},
    '$defs': {'any': {'$dynamicAnchor': 'item'}}}}}")
(valid? lists "['a']" "[1]")                                ; => (#t #f)
(valid? "{'items': {'$dynamicRef': '#item'}, '$defs': {'s': {'$anchor': 'item', 'type': 'null'}}}"
  "[null]" "[1]")
; => (#t #f)

;; References that lead nowhere; nothing is fetched.
(fault "{'$ref': '#/$defs/none'}")                        ; => "/$ref"
(fault "{'not': {'$ref': '#none'}}")                    ; => "/not/$ref"
(fault "{'$ref': 'http://localhost/schema.json'}")        ; => "/$ref"
(fault "{'$ref': 'file:///etc/passwd'}")                  ; => "/$ref"
(fault "{'$ref': '#/~2'}")                                ; => "/$ref"
(fault "{'$ref': '#%zz'}")                                ; => "/$ref"
(fault "{'$ref': 1}")                                       ; => "/$ref"
(fault "{'$id': 'a#b'}")                                  ; => ""
(fault "{'$defs': {'a': {'$id': 'x'}, 'b': {'$id': 'x'}}}")    ; => "/$defs/b"

;; Patterns of ECMA-262.
(define (matches pattern . texts)
  (let ((schema (json-schema (dictionary 'pattern pattern))))
    (map (lambda (text) (json-valid? schema text)) texts)))
(matches "b" "abc" "ac")                                      ; => (#t #f)
(matches "^b|c$" "bx" "xc" "xb")                              ; => (#t #t #f)
(matches "^(?:ab)+$" "abab" "aba")                            ; => (#t #f)
(matches "^a?b*c+d{2}e{1,}f{0,1}$" "bbccddeef" "addef" "acdde")             ; => (#t #f #t)
(matches "^.$" "a" "𝄞" "\n" "ab")                             ; => (#t #t #f #f)
(matches "^[a-c\\d_-]+$" "a1_-" "d" "")                       ; => (#t #f #f)
(matches "^[^a-c]$" "d" "a")                                  ; => (#t #f)
(matches "^[\\w.]+@\\S+$" "a.b@c" "é@c" "a@ ")                ; => (#t #f #f)
(matches "^\\d$" "7" "٧")                                     ; => (#t #f)
(matches "^\\s$" " " "\xa0;" "\xfeff;" "x")                   ; => (#t #t #t #f)
(matches "\\bcat\\b" "a cat!" "concat" "cat")                 ; => (#t #f #t)
(matches "\\Bcat" "concat" "cat")                             ; => (#t #f)
(matches "^\\u0041\\x42\\u{43}\\ud834\\udd1e\\cA\\t$" "ABC𝄞\x1;\t")         ; => (#t)
(matches "^\\p{L}+$" "äß" "a1")                               ; => (#t #f)
(matches "^\\P{Nd}$" "a" "٧")                                 ; => (#t #f)
(matches "^(?!no)\\w+$" "yes" "nope")                         ; => (#t #f)
(matches "(?<=\\$)\\d+" "$5" "5")                             ; => (#t #f)
(matches "^(a|b)\\1$" "aa" "ab")                              ; => (#t #f)
(matches "^(?<x>a|b)\\k<x>$" "bb" "ba")                       ; => (#t #f)
(matches "a.*?c" "abc" "ab")                                  ; => (#t #f)
(matches "\\/\\-\\@\\." "/-@." "")                            ; => (#t #f)
(matches "[]" "a" "")                                         ; => (#f #f)
(matches "[^]" "\n" "")                                       ; => (#t #f)
(matches "[\\b]" "\b" "b")                                    ; => (#t #f)
(define (no-pattern? pattern)
  (equal? "/pattern" (fault (value->json (dictionary 'pattern pattern)))))
(filter (lambda (pattern) (not (no-pattern? pattern)))
  '("(" ")" "[" "a**" "*" "{1}" "a{2,1}" "a{" "a{x}" "\\" "\\q" "\\u12" "\\u{110000}" "[b-a]"
    "[\\d-z]" "(?a)"
    "\\p{Nope}" "\\p" "a{1001}" "\\2(a)" "\\k<x>"))
; => ()
(fault (value->json (dictionary 'patternProperties (dictionary "(" #t))))
; => "/patternProperties"
