;; What decides a turn of AEIOU v4: USERDATA, the digest, the guard, the control marker, the
;; manifest.
(import (duet base) (duet aeiou))

(define (code thunk) (guard (problem ((aeiou-error? problem) (aeiou-error-code problem))) (thunk)))
(define (judged text) (code (lambda () (check-userdata text) 'ok)))

;; USERDATA.
(judged "{\"subject\":\"a\",\"fields\":{}}")                     ; => ok
(judged "{\"subject\":\"a\",\"fields\":{},\"brief\":\"b\",\"more\":[1]}")   ; => ok
(judged "{\"subject\":\"a\",\"fields\":{},\"brief\":null}")      ; => ok
(judged "{\"subject\":\"a\",\"subject\":\"b\",\"fields\":{}}")   ; => ok
(judged " {\"subject\" : \"\", \"fields\" : { } } ")             ; => ok
(judged "{\"subject\":null,\"fields\":{}}")                      ; => ERR_USERDATA_SCHEMA
(judged "{\"subject\":1,\"fields\":{}}")                         ; => ERR_USERDATA_SCHEMA
(judged "{\"fields\":{}}")                                       ; => ERR_USERDATA_SCHEMA
(judged "{\"subject\":\"a\"}")                                   ; => ERR_USERDATA_SCHEMA
(judged "{\"subject\":\"a\",\"fields\":null}")                   ; => ERR_USERDATA_SCHEMA
(judged "{\"subject\":\"a\",\"fields\":[]}")                     ; => ERR_USERDATA_SCHEMA
(judged "{\"subject\":\"a\",\"fields\":\"{}\"}")                 ; => ERR_USERDATA_SCHEMA
(judged "{\"subject\":\"a\",\"fields\":{},\"brief\":1}")         ; => ERR_USERDATA_SCHEMA
(judged "{\"subject\":\"a\",\"fields\":{},\"brief\":[]}")        ; => ERR_USERDATA_SCHEMA
(judged "[]")                                                    ; => ERR_USERDATA_SCHEMA
(judged "\"x\"")                                                 ; => ERR_USERDATA_SCHEMA
(judged "null")                                                  ; => ERR_USERDATA_SCHEMA
(judged "")                                                      ; => ERR_USERDATA_SCHEMA
(judged "{\"subject\":\"a\",\"fields\":{}} x")                   ; => ERR_USERDATA_SCHEMA
(judged "{'subject':'a','fields':{}}")                           ; => ERR_USERDATA_SCHEMA
(judged (dictionary 'subject "a" 'fields (dictionary)))          ; => ok
(judged 5)                                                       ; => ERR_USERDATA_SCHEMA

;; SHA-256, with the padding at each length of the last block.
(sha256 (string->utf8 "abc"))
; => "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
(sha256 (bytevector))
; => "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
(sha256 (make-bytevector 55 97))
; => "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"
(sha256 (make-bytevector 56 97))
; => "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"
(sha256 (make-bytevector 64 97))
; => "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"
(sha256 (make-bytevector 200000 255))
; => "2b48f79297030f8a1bbbdfc58f6607b5ce7a8c5c6624cbe0a1a6a8ecb76d0db4"

;; The digest: blanks at line ends and lines with the control marker do not count.
(turn-digest "line 1\nline 2" "note 1")
; => "2d449d4543db71b14869c0ae954933e4edb8e65024a7da22946c37a8af14903a"
(turn-digest "" "")
; => "a038735ca1cca6bb4bc227de996b9fe097f0573b6c5c16fb4b71f9b3e8a52f26"
(define (same? output scratchpad)
  (string=? (turn-digest output scratchpad) (turn-digest "line 1\nline 2" "note 1")))
(same? "line 1  \t\nline 2\r\n" "note 1\n")                      ; => #t
(same? "line 1\n <<<LOOP:DONE>>> result\nline 2" "note 1")       ; => #t
(same? "line 1\nx <<<LOOP:DONE>>>\nline 2" "note 1")             ; => #f
(same? "line 1\xA0;\nline 2" "note 1")                           ; => #f
(same? " line 1\nline 2" "note 1")                               ; => #f
(same? "line 1\n\nline 2" "note 1")                              ; => #f
(same? "line 1" "line 2\nnote 1")                                ; => #f

;; The guard halts at the n-th equal digest in a row.
(define (halts limit . digests)
  (let ((guard (make-progress-guard limit)))
    (map (lambda (digest) (progress-guard-halts? guard digest)) digests)))
(halts 3 "a" "a" "a" "a" "b" "b" "b")             ; => (#f #f #t #t #f #f #t)
(halts 0 "a" "a" "a")                             ; => (#f #f #t)
(halts 3 "a" "b" "a" "b" "a" "b")                 ; => (#f #f #f #f #f #f)
(halts 1 "a")                                     ; => (#t)
(halts 2 "" "")                                   ; => (#f #t)
(make-progress-guard -1)                          ; raises: wrong-type

;; The control marker.
(define (scanned . emissions)
  (let ((it (scan-emissions emissions)))
    (list (scan-done? it) (scan-result it) (scan-lints it))))
(scanned "a" "b")                                 ; => (#f #f ())
(scanned "<<<LOOP:DONE>>> The answer is 42.")     ; => (#t "The answer is 42." ())
(scanned "<<<LOOP:DONE>>>R")                      ; => (#t "R" ())
(scanned "  <<<LOOP:DONE>>>  r  ")                ; => (#t "r" ())
(scanned "<<<LOOP:DONE>>>")                       ; => (#t #f ())
(scanned "one" "<<<LOOP:DONE>>>" "two")           ; => (#t "one\ntwo" ())
(scanned "one" "<<<LOOP:DONE>>> r" "two")         ; => (#t "r" ())
(scanned "<<<LOOP:DONE>>> l1\nl2" "l3")           ; => (#t "l1\nl2" ())
(scanned "l1\n<<<LOOP:DONE>>> l2")                ; => (#t "l2" ())
(scanned "<<<LOOP:DONE>>> 1" "<<<LOOP:DONE>>> 2") ; => (#t "1" (LINT_MULTIPLE_MARKERS))
(scanned "<<<LOOP:DONE>>> 1\n<<<LOOP:DONE>>> 2")  ; => (#t "1" (LINT_MULTIPLE_MARKERS))
(scanned "<<<LOOP:DONE>>>" "<<<LOOP:DONE>>> 2")   ; => (#t #f (LINT_MULTIPLE_MARKERS))
(scanned "I say <<<LOOP:DONE>>>")                 ; => (#f #f (LINT_MARKER_MIDLINE))
(scanned "<<<loop:done>>>" "<<<LOOP:DONE>> x")    ; => (#f #f ())
(scanned)                                         ; => (#f #f ())

;; The manifest.
(define (permitted name) (tool-permitted? name '("fs.read" "Str.*")))
(map permitted '("fs.read" "FS.Read" "fs.reader" "fs" "str.up" "STR.a.b" "str" "string.up"))
; => (#t #t #f #f #t #t #f #f)
(tool-permitted? "any.thing" '("*"))              ; => #t
(tool-permitted? "any.thing" '())                 ; => #f
(define (checked manifest . lines)
  (code (lambda () (check-actions (string-join lines "\n") manifest))))
(checked '() "command" "emit 1" "endcommand")     ; => ()
(checked '("a.b") "command" "emit tool.A.b(1)" "endcommand")     ; => ("a.b")
(checked '("a.b") "command" "emit 1" "if false" "call tool.c.d()" "endif" "endcommand")
; => ERR_PERMISSIONS
(checked '() "")                                  ; => ERR_ACTIONS_INVALID
(checked '() "command" "emit 1" "endcommand" "command" "emit 2" "endcommand")
; => ERR_ACTIONS_INVALID
(checked '() "func f() means" "emit 1" "endfunc") ; => ERR_ACTIONS_INVALID
(checked '() "Here it is:" "command" "emit 1" "endcommand")      ; => ERR_ACTIONS_INVALID
(checked '() "command" "emit 1" "endcommand" "Done.")            ; => ERR_ACTIONS_INVALID
(checked '() "command" "emit" "endcommand")       ; => ERR_ACTIONS_INVALID

;; The rules of the specification, section 13, word for word.
(string-length aeiou-rules)                       ; => 394
(sha256 (string->utf8 aeiou-rules))
; => "36a742cb41f714a94e29d594834ee99a1b10c051751f979009458f0694385d13"
