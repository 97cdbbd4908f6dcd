;; Values as JSON texts, parts of values, JSON Pointer.
(import (duet base) (duet json))

(value->json '(1 "a" #t #f null ()))              ; => "[1,\"a\",true,false,null,[]]"
(value->json (vector 1 (vector)))                 ; => "[1,[]]"
(value->json (dictionary))                        ; => "{}"
(value->json (dictionary 'b 1 'a (list 2) "c" 'red ':k ':v))
; => "{\"b\":1,\"a\":[2],\"c\":\"red\",\":k\":\":v\"}"
(value->json "null")                              ; => "\"null\""
(value->json (string #\" #\\ #\/ #\newline #\return #\tab #\backspace #\page #\null #\x1f #\x7f))
; => "\"\\\"\\\\/\\n\\r\\t\\b\\f\\u0000\\u001f\x7f;\""
(value->json "é𝄞")                                ; => "\"é𝄞\""
;; Every character below U+0300, and some above, come back.
(define all
  (list->string (append (map integer->char (iota 768)) (list #\x2028 #\xd7ff #\xe000 #\x10ffff))))
(string=? all (json->value (value->json all)))    ; => #t

(define nested (dictionary 'a '(1 #t) 'b (dictionary 'c "x") 'd '() 'e (dictionary)))
(define pretty (value->json nested :indent 2))
(string=? pretty
  "{
  \"a\": [
    1,
    true
  ],
  \"b\": {
    \"c\": \"x\"
  },
  \"d\": [],
  \"e\": {}
}")
; => #t
(value->json '(1) :indent 0)                      ; => "[\n1\n]"
(equal? (json->value pretty) nested)              ; => #t
(call-with-port (open-output-string)
  (lambda (port) (write-json '(1) port) (write-json "x" port :indent 1) (get-output-string port)))
; => "[1]\"x\""
(with-output-to-string (lambda () (write-json '(1 2))))                 ; => "[1,2]"

;; What has no form, with its place.
(define (message value . options)
  (guard (failure ((json-error? failure) (condition-message failure)))
    (apply value->json value options)))
(message #\a)                                     ; => "value->json: the value has no form in JSON"
(message (dictionary 'a (list 1 (record 'p 1))))  ; => "value->json: /a/1 has no form in JSON"
(message (list (set 1)))                          ; => "value->json: /0 has no form in JSON"
(message (bytevector 1))                          ; => "value->json: the value has no form in JSON"
(message car)                                     ; => "value->json: the value has no form in JSON"
(message '(1 . 2))              ; => "value->json: the value is an improper or circular list"
(message (let ((loop (list 1 2))) (set-cdr! (cdr loop) loop) loop))
; => "value->json: the value is an improper or circular list"
(message (dictionary 'a 1 "a" 2))
; => "value->json: the value has two keys with the same text"
(message (dictionary "a" 1 'a 2))
; => "value->json: the value has two keys with the same text"
(message (dictionary 1 2))
; => "value->json: the value has a key that is no symbol or string"
(message '((1)) :depth 1)
; => "value->json: /0 is the end of a path that is more than 1 levels deep"
(define own (dictionary))
(dictionary-set! own 'self (list own))
(value->json own)                                 ; raises: json-error
(value->json 1 :indent -1)                        ; raises: wrong-type
(with-output-to-string (lambda () (guard (failure (#t #f)) (write-json (list 1 car)))))  ; => ""

;; Parts.
(define reply (json->value "{\"choices\":[{\"message\":{\"content\":\"hi\"}}],\"n\":1}"))
(json-ref reply "choices" 0 "message" "content")  ; => "hi"
(json-ref reply 'choices 0 'message 'content)     ; => "hi"
(json-ref reply)                                  ; => {choices ({message {content "hi"}}) n 1}
(json-ref (dictionary "a" (vector 1 2)) "a" 1)    ; => 2
(json-ref (dictionary "a" 1) 'a)                  ; => 1
(json-ref/default 'none reply "choices" 0 "message" "role")             ; => none
(json-ref/default 'none reply "choices" 0 "message" "content")          ; => "hi"
(json-ref/default #f reply "n" "deeper")          ; => #f
(define (missing . steps)
  (guard (failure (#t (condition-message failure))) (apply json-ref reply steps)))
(missing "choices" 0 "massage")
; => "json-ref: /choices/0 has no member \"massage\""
(missing "choices" 1)
; => "json-ref: /choices is an array without an element 1"
(missing "choices" "0")
; => "json-ref: /choices is an array; it needs a position from 0, not \"0\""
(missing "n" "x")               ; => "json-ref: /n is no object or array, so it has no part \"x\""
(json-ref reply 0)                                ; raises: json-error
(json-ref reply "choices" -1)                     ; raises: json-error

(json-set reply "choices" 0 "message" "content" "bye")
; => {choices ({message {content "bye"}}) n 1}
(json-set reply "new" 2)
; => {choices ({message {content "hi"}}) n 1 new 2}
(json-set '(1 2) 2 3)                             ; => (1 2 3)
(json-set (vector 1 2) 0 'x)                      ; => #(x 2)
(json-set (dictionary "a" 1) 'a 2)                ; => {"a" 2}
(json-set reply 5)                                ; => 5
(json-set '(1) 2 3)                               ; raises: json-error
(json-set reply "a" "b" 3)                        ; raises: json-error
(json-set)                                        ; raises: wrong-arity
(json-set reply)                                  ; raises: wrong-type
(json-ref reply "choices" 0 "message" "content")  ; => "hi"

(json=? (json->value "{\"a\":1,\"b\":[1.0,\"x\"]}") (dictionary "b" (vector 1 'x) 'a 1.0))  ; => #t
(json=? '(1 2) '(2 1))                            ; => #f
(json=? "null" 'null)                             ; => #f
(json=? #f 'null)                                 ; => #f
(json=? 1 #t)                                     ; => #f
(json=? .1 1/10)                                  ; => #t
(json=? '() (dictionary))                         ; => #f

;; RFC 6901, section 5.
(define sample
  (dictionary 'foo '("bar" "baz") "" 0 "a/b" 1 "c%d" 2 "e^f" 3 "g|h" 4 "i\\j" 5 "k\"l" 6 " " 7 "m~n"
    8))
(map (lambda (pointer) (json-pointer-ref sample pointer))
  '("/foo" "/foo/0" "/" "/a~1b" "/c%d" "/e^f" "/g|h" "/i\\j" "/k\"l" "/ " "/m~0n"))
; => (("bar" "baz") "bar" 0 1 2 3 4 5 6 7 8)
(eq? sample (json-pointer-ref sample ""))         ; => #t
(map (lambda (pointer) (json-pointer-ref sample pointer 'none))
  '("/foo/2" "/foo/-" "/foo/01" "/foo/-1" "/foo/+1" "/foo/ 1" "/foo/" "/bar" "/foo/0/x" "/a~01b"))
; => (none none none none none none none none none none)
(json-pointer-ref (json->value "{\"0\": \"key\"}") "/0")                ; => "key"
(json-pointer-ref sample "/foo/-")                ; raises: json-error
(json-pointer-ref sample "foo")                   ; raises: json-error
(json-pointer-ref sample "/m~n")                  ; raises: json-error
(json-pointer-ref sample "/m~")                   ; raises: json-error
(json-pointer->path "")                           ; => ()
(json-pointer->path "/")                          ; => ("")
(json-pointer->path "/a//~01~10/0")               ; => ("a" "" "~1/0" "0")
(path->json-pointer '("a" b 0 "x/y~z" ""))        ; => "/a/b/0/x~1y~0z/"
(path->json-pointer '())                          ; => ""
(path->json-pointer '(1.5))                       ; raises: wrong-type
