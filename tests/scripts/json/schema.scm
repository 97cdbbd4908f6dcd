;; JSON Schema 2020-12: keywords, violations with their places, schemas that are none.
(import (duet base) (duet json))

;; In these texts ' stands for ".
(define (json text)
  (json->value (string-map (lambda (char) (if (char=? char #\') #\" char)) text)))

(define (valid? schema . texts)
  (let ((compiled (json-schema (json schema))))
    (map (lambda (text) (json-valid? compiled (json text))) texts)))
(define (places schema text)
  (map (lambda (violation)
         (list (dictionary-ref violation 'instance) (dictionary-ref violation 'schema)))
       (json-violations (json schema) (json text))))
(define (messages schema text)
  (map (lambda (violation) (dictionary-ref violation 'message))
       (json-violations (json schema) (json text))))

;; Validation.
(valid? "true" "1" "null")                                    ; => (#t #t)
(valid? "false" "1")                                          ; => (#f)
(valid? "{}" "1")                                             ; => (#t)
(valid? "{'type': 'integer'}" "1" "1.0" "1.5" "'1'" "true" "1e2")     ; => (#t #t #f #f #f #t)
(valid? "{'type': 'number'}" "1" "1.5" "null")            ; => (#t #t #f)
(valid? "{'type': ['null', 'array']}" "null" "[]" "{}" "'null'")    ; => (#t #t #f #f)
(valid? "{'type': 'boolean'}" "true" "0" "null")          ; => (#t #f #f)
(valid? "{'enum': [1, '1', null, [1.0]]}" "1.0" "'1'" "null" "[1]" "true")
; => (#t #t #t #t #f)
(valid? "{'enum': []}" "1")                                 ; => (#f)
(valid? "{'const': {'a': [0]}}" "{'a': [0.0]}" "{'a': [false]}")    ; => (#t #f)
(valid? "{'multipleOf': 0.01}" "0.07" "4.35" "4.355" "0")   ; => (#t #t #f #t)
(valid? "{'multipleOf': 3}" "9007199254740993" "9007199254740992")        ; => (#t #f)
(valid? "{'minimum': 1, 'exclusiveMaximum': 3}" "1" "3" "2.999" "0.9" "'0'")
; => (#t #f #t #f #t)
(valid? "{'maximum': 1, 'exclusiveMinimum': 0}" "0" "1" "1.0000001")    ; => (#f #t #f)
(valid? "{'minLength': 1, 'maxLength': 2}" "''" "'𝄞𝄞'" "'abc'" "1")  ; => (#f #t #f #t)
(valid? "{'minItems': 1, 'maxItems': 2}" "[]" "[1]" "[1,2,3]")          ; => (#f #t #f)
(valid? "{'uniqueItems': true}" "[1, 2]" "[1, 1.0]" "[1, true]" "[{'a':1,'b':2},{'b':2,'a':1}]")
; => (#t #f #t #f)
(valid? "{'uniqueItems': false}" "[1, 1]")                  ; => (#t)
(valid? "{'minProperties': 1, 'maxProperties': 1}" "{}" "{'a':1}" "{'a':1,'b':1}")
; => (#f #t #f)
(valid? "{'required': ['a']}" "{'a': null}" "{}" "[]")  ; => (#t #f #t)
(valid? "{'dependentRequired': {'a': ['b']}}" "{'a':1}" "{'a':1,'b':1}" "{}")
; => (#f #t #t)

;; Applicators.
(valid? "{'prefixItems': [{'type': 'string'}], 'items': {'type': 'null'}}"
  "['a', null]" "['a', 1]" "[1]" "[]")                    ; => (#t #f #f #t)
(valid? "{'prefixItems': [true, true], 'items': false}" "[1]" "[1,2]" "[1,2,3]")
; => (#t #t #f)
(valid? "{'contains': {'minimum': 5}, 'minContains': 2, 'maxContains': 3}"
  "[5]" "[5,1,6]" "[5,5,5,5]")                                ; => (#f #t #f)
(valid? "{'contains': true, 'minContains': 0}" "[]")      ; => (#t)
(valid? "{'minContains': 9, 'maxContains': 0}" "[1]")     ; => (#t)
(valid? "{'properties': {'a': {'type': 'null'}},
    'patternProperties': {'^x': {'type': 'number'}}, 'additionalProperties': false}"
  "{'a': null, 'x1': 2}" "{'a': 1}" "{'x': ''}" "{'b': 1}")     ; => (#t #f #f #f)
(valid? "{'propertyNames': {'maxLength': 2}}" "{'ab': 1}" "{'abc': 1}")  ; => (#t #f)
(valid? "{'dependentSchemas': {'a': {'required': ['b']}}}" "{'a':1}" "{}")  ; => (#f #t)
(valid? "{'allOf': [{'minimum': 1}, {'maximum': 2}]}" "1" "3")        ; => (#t #f)
(valid? "{'anyOf': [{'type': 'null'}, {'minimum': 2}]}" "null" "2" "1")  ; => (#t #t #f)
(valid? "{'oneOf': [{'minimum': 1}, {'maximum': 2}]}" "0" "1" "3")    ; => (#t #f #t)
(valid? "{'not': {'type': 'string'}}" "1" "''")       ; => (#t #f)
(define choice
  "{'if': {'minimum': 10}, 'then': {'multipleOf': 10}, 'else': {'multipleOf': 3}}")
(valid? choice "20" "21" "9" "8")                             ; => (#t #f #t #f)
(valid? "{'then': false, 'else': false}" "1")             ; => (#t)
(valid? "{'format': 'email', 'contentEncoding': 'base64', 'x-own': 1}" "'no'")  ; => (#t)

;; Unevaluated parts.
(define open
  "{'allOf': [{'properties': {'a': true}}],
    'anyOf': [{'required': ['b'], 'properties': {'b': true}}, true],
    'unevaluatedProperties': false}")
(valid? open "{'a': 1}" "{'a': 1, 'b': 2}" "{'c': 1}")              ; => (#t #t #f)
(valid? "{'if': {'required': ['k'], 'properties': {'k': {'const': 1}}},
    'then': {'properties': {'x': true}}, 'unevaluatedProperties': false}"
  "{'k': 1, 'x': 2}" "{'x': 2}" "{'k': 2}")           ; => (#t #f #f)
(valid? "{'not': {'not': {'properties': {'a': true}}}, 'unevaluatedProperties': false}" "{'a': 1}")
; => (#f)
(valid? "{'additionalProperties': true, 'unevaluatedProperties': false}" "{'a': 1}")  ; => (#t)
(valid? "{'properties': {'in': {'properties': {'a': true}}},
    'unevaluatedProperties': {'type': 'null'}}"
  "{'in': {'a': 1, 'b': 1}, 'c': null}" "{'c': 1}") ; => (#t #f)
(valid? "{'allOf': [{'prefixItems': [true]}], 'contains': {'type': 'string'},
    'unevaluatedItems': false}"
  "[1, 'a']" "[1, 'a', 2]")                               ; => (#t #f)
(valid? "{'anyOf': [{'items': {'type': 'number'}}, true], 'unevaluatedItems': {'type': 'null'}}"
  "[1, 2]" "[1, null]" "[null]")                              ; => (#t #f #t)
(valid? "{'$ref': '#/$defs/base', '$defs': {'base': {'properties': {'a': true}}},
    'unevaluatedProperties': false}"
  "{'a': 1}" "{'b': 1}")                                  ; => (#t #f)

;; Violations: the place in the value, the place in the schema, and words.
(define order
  "{'type': 'object', 'required': ['id', 'lines'], 'properties': {'id': {'type': 'string',
    'pattern': '^[A-Z]{2}-\\\\d+$'}, 'lines': {'items': {'$ref': '#/$defs/line'}}},
    '$defs': {'line': {'properties': {'n': {'type': 'integer', 'minimum': 1}},
    'additionalProperties': false}}}")
(valid? order "{'id': 'AB-12', 'lines': [{'n': 1}]}")  ; => (#t)
(define wrong "{'id': 'ab', 'lines': [{'n': 1}, {'n': 0.5, 'a/b': 1}]}")
(take (places order wrong) 2)
; => (("/id" "/properties/id/pattern") ("/lines/1/n" "/$defs/line/properties/n/type"))
(map car (drop (places order wrong) 2))                       ; => ("/lines/1/n" "/lines/1/a~1b")
(map cadr (drop (places order wrong) 2))
; => ("/$defs/line/properties/n/minimum" "/$defs/line/additionalProperties")
(places order "[]")                                           ; => (("" "/type"))
(messages order "{'id': 1}")
; => ("the member \"lines\" is missing" "expected string, found number")
(messages "{'enum': [1, 'a']}" "2")
; => ("expected one of [1,\"a\"], found 2")
(messages "{'maxItems': 1}" "[1,2]")
; => ("expected an array of at most 1, found 2")
(messages "{'uniqueItems': true}" "[1,2,1]")                ; => ("elements 0 and 2 are the same")
(messages "{'oneOf': [true, true]}" "1")
; => ("fits 2 of 2 schemas instead of one")
(messages "{'properties': {'a': false}}" "{'a': 1}")    ; => ("nothing is allowed here")

;; Values made by a program.
(json-valid? (dictionary 'type "object" 'properties (dictionary 'a (dictionary 'type 'string)))
  (dictionary 'a 'red))                                       ; => #t
(json-valid? (dictionary 'items (dictionary 'type "integer")) (vector 1 2))  ; => #t
(json-valid? (dictionary 'type "null") 'null)                 ; => #t
(json-valid? (dictionary 'type "string") 'null)               ; => #f
(json-valid? (dictionary 'type "string") #\a)                 ; raises: json-error
(json-valid? (dictionary 'type "number") +nan.0)              ; raises: json-error
(json-schema? (json-schema #t))                               ; => #t
(json-schema? #t)                                             ; => #f

;; Values that are no schemas.
(define (fault schema)
  (guard (failure ((eq? (condition-kind failure) 'json-schema-error)
                   (car (condition-irritants failure))))
    (json-schema (json schema))))
(fault "1")                                                   ; => ""
(fault "{'type': 'strin'}")                               ; => "/type"
(fault "{'type': []}")                                      ; => "/type"
(fault "{'items': [true]}")                                 ; => "/items"
(fault "{'allOf': []}")                                     ; => "/allOf"
(fault "{'allOf': [1]}")                                    ; => "/allOf/0"
(fault "{'properties': {'a': {'minimum': '1'}}}")     ; => "/properties/a/minimum"
(fault "{'required': 'a'}")                               ; => "/required"
(fault "{'maxLength': -1}")                                 ; => "/maxLength"
(fault "{'multipleOf': 0}")                                 ; => "/multipleOf"
(fault "{'pattern': '('}")                                ; => "/pattern"
(fault "{'$schema': 'http://json-schema.org/draft-07/schema#'}")        ; => "/$schema"
(fault "{'$defs': {'a': {'enum': 1}}}")                 ; => "/$defs/a/enum"
(define circular (dictionary))
(dictionary-set! circular 'not circular)
(json-schema circular)                                        ; raises: json-schema-error

;; A schema with two ways from each level to the next judges each part once.
(define (nested depth) (if (= depth 0) "[]" (string-append "[" (nested (- depth 1)) "]")))
(valid? "{'anyOf': [{'type': 'null'}, {'items': {'$ref': '#'}}, {'items': {'$ref': '#'}}]}"
  (nested 60))
; => (#t)
(valid? "{'oneOf': [{'items': {'$ref': '#'}}, {'items': {'$ref': '#'}}]}" (nested 60))
; => (#f)
(valid? "{'not': {'items': {'$ref': '#'}}, 'allOf': [{'items': {'$ref': '#'}}, {}]}" (nested 61))
; => (#f)
