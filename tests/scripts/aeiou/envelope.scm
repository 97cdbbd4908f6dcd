;; Envelopes of AEIOU v4: sections, order, limits, marker lines.
(import (duet base) (duet aeiou))

(define (lines . lines) (string-join lines "\n"))
(define (marked . parts)
  (string-join (map (lambda (it) (if (symbol? it) (marker it) it)) parts) "\n"))
(define (marker section) (string-append "<<<NSENV:V4:" (symbol->string section) ">>>"))
(define (parsed text)
  (let ((it (parse-envelope text)))
    (list (envelope-userdata it) (envelope-scratchpad it) (envelope-output it)
      (envelope-actions it) (envelope-lints it))))
(define (code thunk) (guard (problem ((aeiou-error? problem) (aeiou-error-code problem))) (thunk)))
(define (try . parts) (code (lambda () (parsed (apply marked parts)))))

;; Both optional sections, in all combinations.
(try 'START 'USERDATA "{}" 'ACTIONS "a" 'END)     ; => ("{}" "" "" "a" ())
(try 'START 'USERDATA "{}" 'SCRATCHPAD "s" 'ACTIONS "a" 'END)    ; => ("{}" "s" "" "a" ())
(try 'START 'USERDATA "{}" 'OUTPUT "o" 'ACTIONS "a" 'END)        ; => ("{}" "" "o" "a" ())
(try 'START 'USERDATA "{}" 'SCRATCHPAD "s" 'OUTPUT "o" 'ACTIONS "a" 'END)
; => ("{}" "s" "o" "a" ())

;; Each inversion of the order.
(try 'START 'ACTIONS "a" 'USERDATA "{}" 'END)     ; => ERR_ENV_ORDER
(try 'START 'SCRATCHPAD "s" 'USERDATA "{}" 'ACTIONS "a" 'END)    ; => ERR_ENV_ORDER
(try 'START 'OUTPUT "o" 'USERDATA "{}" 'ACTIONS "a" 'END)        ; => ERR_ENV_ORDER
(try 'START 'USERDATA "{}" 'OUTPUT "o" 'SCRATCHPAD "s" 'ACTIONS "a" 'END)   ; => ERR_ENV_ORDER
(try 'START 'USERDATA "{}" 'ACTIONS "a" 'OUTPUT "o" 'END)        ; => ERR_ENV_ORDER
(try 'START 'USERDATA "{}" 'ACTIONS "a" 'SCRATCHPAD "s" 'END)    ; => ERR_ENV_ORDER

;; What must be there.
(try 'START 'ACTIONS "a" 'END)                    ; => ERR_ENV_SECTION_MISSING
(try 'START 'USERDATA "{}" 'END)                  ; => ERR_ENV_SECTION_MISSING
(try 'START 'END)                                 ; => ERR_ENV_SECTION_MISSING
(try 'USERDATA "{}" 'ACTIONS "a" 'END)            ; => ERR_ENV_MARKERS_INVALID
(try 'START 'USERDATA "{}" 'ACTIONS "a")          ; => ERR_ENV_MARKERS_INVALID
(try "")                                          ; => ERR_ENV_MARKERS_INVALID

;; The first of several sections with one marker counts, in text and in order.
(try 'START 'USERDATA "1" 'USERDATA "2" 'ACTIONS "a" 'ACTIONS "b" 'END)
; => ("1" "" "" "a" (LINT_DUP_SECTION_IGNORED LINT_DUP_SECTION_IGNORED))
(try 'START 'USERDATA "1" 'ACTIONS "a" 'USERDATA "2" 'START 'END)
; => ("1" "" "" "a" (LINT_DUP_SECTION_IGNORED LINT_DUP_SECTION_IGNORED))

;; Markers are whole lines, blanks aside; other lines that look like them are text.
(try "  <<<NSENV:V4:START>>>\t" 'USERDATA "{}" 'ACTIONS "a" 'END)          ; => ("{}" "" "" "a" ())
(try 'START 'USERDATA "{}" 'ACTIONS "<<<nsenv:v4:output>>>" "<<<NSENV:V3:OUTPUT>>>" 'END)
; => ("{}" "" "" "<<<nsenv:v4:output>>>\n<<<NSENV:V3:OUTPUT>>>" ())
(try 'START 'USERDATA "{}" 'ACTIONS "<<<NSENV:V4:NOTES>>>" "x <<<NSENV:V4:OUTPUT>>>" 'END)
; => ("{}" "" "" "<<<NSENV:V4:NOTES>>>\nx <<<NSENV:V4:OUTPUT>>>" ())
(try "<<<NSENV:V3:START>>>" 'USERDATA "{}" 'ACTIONS "a" 'END)    ; => ERR_ENV_MARKERS_INVALID

;; Reading ends with END; text before the first section is dropped.
(try 'START "stray" 'USERDATA "{}" 'ACTIONS "a" 'END "more" 'START)        ; => ("{}" "" "" "a" ())

;; Line ends are LF or CR LF; blanks are dropped at the end of a section only.
(try 'START 'USERDATA "\r" " x \r" "\r" 'ACTIONS "a\rb" "" 'END)
; => ("\n x" "" "" "a\rb" ())

;; Bytes must be UTF-8.
(define (bytes . parts) (string->utf8 (apply marked parts)))
(parsed (bytes 'START 'USERDATA "{\"é\":1}" 'ACTIONS "a" 'END))   ; => ("{\"é\":1}" "" "" "a" ())
(define broken (bytevector-append (bytes 'START 'USERDATA "{}" 'ACTIONS "a") (bytevector 10 255)))
(code (lambda () (parsed broken)))                ; => ERR_ENV_ENCODING
(parse-envelope 5)                                ; raises: wrong-type

;; Limits, in bytes with newlines: exactly, and one more; a section that is ignored counts.
(define (body-of bytes) (make-string (- bytes 1) #\x))
(define (outcome . parts)
  (let ((it (apply try parts))) (if (pair? it) 'read it)))
(outcome 'START 'USERDATA "{}" 'ACTIONS (body-of section-bytes-max) 'END)  ; => read
(outcome 'START 'USERDATA "{}" 'ACTIONS (body-of (+ section-bytes-max 1)) 'END)  ; => ERR_ENV_SIZE
(outcome 'START 'USERDATA "{}" 'ACTIONS (make-string 262143 #\é) 'END)     ; => read
(outcome 'START 'USERDATA "{}" 'ACTIONS (make-string 262144 #\é) 'END)     ; => ERR_ENV_SIZE
(outcome 'START 'USERDATA "{}" 'ACTIONS "a" 'ACTIONS (body-of (+ section-bytes-max 1)) 'END)
; => ERR_ENV_SIZE
(define (filled rest)
  (outcome 'START 'USERDATA (body-of section-bytes-max) 'OUTPUT (body-of 524000) 'ACTIONS
    (body-of rest) 'END))
;; The markers START, USERDATA, OUTPUT and ACTIONS take 21 + 24 + 22 + 23 bytes.
(filled (- envelope-bytes-max section-bytes-max 524000 90))      ; => read
(filled (- envelope-bytes-max section-bytes-max 524000 89))      ; => ERR_ENV_SIZE

;; Text around a reply, if that is wanted.
(define (extracted text) (let ((it (parse-envelope text :lenient #t))) (envelope-lints it)))
(extracted (marked "Sure!" "```" 'START 'USERDATA "{}" 'ACTIONS "a" 'END "```"))
; => (LINT_PREAMBLE_IGNORED)
(extracted (marked 'START 'USERDATA "{}" 'ACTIONS "a" 'END))     ; => ()
(code (lambda () (extracted "no envelope at all")))              ; => ERR_ENV_MARKERS_INVALID

;; Composing is the inverse, whatever a program has said.
(define userdata (dictionary 'subject "s" 'fields (dictionary 'a "l1\n<<<NSENV:V4:ACTIONS>>>\nl2")))
(define (composed output scratchpad)
  (let ((it (parse-envelope
              (compose-envelope userdata "command" :output output :scratchpad scratchpad))))
    (list (envelope-output it) (envelope-scratchpad it) (envelope-actions it)
      (envelope-lints it))))
(composed "one\ntwo\n" "")                        ; => ("one\ntwo" "" "command" ())
(composed "<<<NSENV:V4:ACTIONS>>>\ncommand" "a")
; => ("\\<<<NSENV:V4:ACTIONS>>>\ncommand" "a" "command" ())
(composed "" " <<<NSENV:V4:END>>>\r\n\t<<<NSENV:V4:START>>> x")
; => ("" "\\ <<<NSENV:V4:END>>>\n\t<<<NSENV:V4:START>>> x" "command" ())
(neutralise-markers "<<<NSENV:V4:NOTES>>>")       ; => "<<<NSENV:V4:NOTES>>>"
(neutralise-markers "x\n\x3000;<<<NSENV:V4:USERDATA>>>\x3000;")
; => "x\n\\　<<<NSENV:V4:USERDATA>>>　"
(string-contains (compose-envelope userdata "c") "l1\\n<<<NSENV:V4:ACTIONS>>>\\nl2")
; => 75
(code (lambda () (compose-envelope userdata "")))                ; => ERR_ENV_SECTION_MISSING
(code (lambda () (compose-envelope userdata "a\n<<<NSENV:V4:END>>>\n")))
; => ERR_ENV_MARKER_IN_BODY
(code (lambda () (compose-envelope (dictionary) "c")))           ; => ERR_USERDATA_SCHEMA
(code (lambda () (compose-envelope userdata "c" :output (make-string section-bytes-max #\x))))
; => ERR_ENV_SIZE

;; No text that a program can say becomes a section: every marker, around it every blank.
(define (forged? section blank)
  (let ((it (composed (string-append "x\n" blank (marker section) blank "\ny") "")))
    (not (and (equal? (caddr it) "command") (null? (cadddr it))))))
(any (lambda (section)
       (any (lambda (blank) (forged? section blank))
         '("" " " "\t" "\r" "\x0B;" "\xA0;" "\x85;" "\x2028;" "\x3000;")))
  '(START USERDATA SCRATCHPAD OUTPUT ACTIONS END))              ; => #f

;; Whatever lines a program says, by chance, the next envelope has them as its OUTPUT.
(define seed 1)
(define (chance below)
  (set! seed (remainder (+ (* seed 1103515245) 12345) 2147483648))
  (quotient (* (quotient seed 128) below) 16777216))
(define (one-of choices) (list-ref choices (chance (length choices))))
(define pieces
  (append (map marker '(START USERDATA SCRATCHPAD OUTPUT ACTIONS END))
    '("" " " "\t" "\r" "\n" "\n" "\n" "x" "\\" "<<<" ">>>" "<<<NSENV:V4:" "<<<LOOP:DONE>>>"
      "\xA0;")))
(define (some-text)
  (string-join (map (lambda (i) (one-of pieces)) (iota (chance 12))) ""))
(define (trim-end text)
  (let ((end (string-length text)))
    (if (and (> end 0) (memv (string-ref text (- end 1)) '(#\space #\tab #\return #\newline)))
        (trim-end (substring text 0 (- end 1)))
        text)))
(define (plain text) (string-join (string-split text #\return) ""))
(define (lost number)
  (let* ((said (some-text)) (it (composed said "")))
    (if (and (equal? (plain (car it)) (plain (trim-end (neutralise-markers said))))
          (equal? (cdr it) '("" "command" ())))
        #f
        said)))
(find lost (iota 1000))                           ; => #f
