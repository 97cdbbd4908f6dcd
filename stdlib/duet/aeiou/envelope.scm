;;; Envelopes: their sections, limits and marker lines.
;;; Source: AEIOU v4, section 3; decisions, sections 3 and 5.

;;; Raises a typed error: the condition's first irritant is its code.
(define (%fail code message . irritants)
  (raise (%make-condition 'aeiou-error message (cons code irritants))))

;;;> Returns whether an object is a typed error of this library: a condition of kind `aeiou-error`.
(define (aeiou-error? object) (and (condition? object) (eq? (condition-kind object) 'aeiou-error)))

;;;> Returns the code of a typed error, a symbol such as `ERR_ENV_ORDER`.
;;;> Source: decisions, section 1, L2.
(define (aeiou-error-code condition)
  (if (not (and (condition? condition) (pair? (condition-irritants condition))))
      (%wrong-type 'aeiou-error-code "a condition of this library" condition))
  (car (condition-irritants condition)))

;;;> The maximum size of an envelope, in bytes: 1 MiB.
(define envelope-bytes-max 1048576)

;;;> The maximum size of a section, in bytes of its lines with their newlines: 512 KiB.
(define section-bytes-max 524288)

(define %sections '(USERDATA SCRATCHPAD OUTPUT ACTIONS))

(define (%marker section) (string-append "<<<NSENV:V4:" (symbol->string section) ">>>"))

(define %markers
  (map (lambda (section) (cons (%marker section) section)) (append '(START END) %sections)))

;;; Returns the section of which a line is the marker, or #f. Blanks around the marker are allowed.
(define (%marked-section line)
  (let ((trimmed (string-trim line)))
    (cond ((assoc trimmed %markers) => cdr) (else #f))))

(define-record-type <envelope>
  (%make-envelope userdata scratchpad output actions lints)
  ;;;> Returns whether an object is an envelope, as `parse-envelope` returns it.
  envelope?
  ;;;> Returns the text of an envelope's section USERDATA.
  (userdata envelope-userdata)
  ;;;> Returns the text of an envelope's section SCRATCHPAD; empty if there is none.
  (scratchpad envelope-scratchpad)
  ;;;> Returns the text of an envelope's section OUTPUT; empty if there is none.
  (output envelope-output)
  ;;;> Returns the text of an envelope's section ACTIONS.
  (actions envelope-actions)
  ;;;> Returns the accepted oddities of an envelope: a list of symbols such as
  ;;;> `LINT_DUP_SECTION_IGNORED`, one for each occurrence.
  (lints envelope-lints))

;;; Returns the lines of a text without their ends: a newline, with a carriage return before it. The
;;; empty text behind the last newline is no line.
(define (%lines text)
  (let ((end (string-length text)))
    (define (line from to)
      (substring text from
        (if (and (< from to) (char=? (string-ref text (- to 1)) #\return)) (- to 1) to)))
    (let loop ((from 0) (at 0) (lines '()))
      (cond
        ((= at end) (reverse (if (= from end) lines (cons (line from end) lines))))
        ((char=? (string-ref text at) #\newline)
         (loop (+ at 1) (+ at 1) (cons (line from at) lines)))
        (else (loop from (+ at 1) lines))))))

;;; Removes blanks, tabs and line ends at the end of a text, and no other white space.
(define (%trim-end text)
  (let loop ((end (string-length text)))
    (if (and (> end 0)
             (memv (string-ref text (- end 1)) '(#\space #\tab #\return #\newline)))
        (loop (- end 1))
        (substring text 0 end))))

(define (%bytes text) (bytevector-length (string->utf8 text)))

;;; The parts of an envelope that is being read: the bodies by section, the sections in the order of
;;; their first markers, the section whose lines come now, and what was counted.
(define-record-type <parts>
  (%make-parts bodies order current bytes section-bytes lints)
  %parts?
  (bodies %parts-bodies)
  (order %parts-order %set-order!)
  (current %parts-current %set-current!)
  (bytes %parts-bytes %set-bytes!)
  (section-bytes %section-bytes %set-section-bytes!)
  (lints %parts-lints %set-lints!))

(define (%lint! parts lint) (%set-lints! parts (cons lint (%parts-lints parts))))

(define (%count! parts bytes)
  (%set-bytes! parts (+ (%parts-bytes parts) bytes))
  (if (> (%parts-bytes parts) envelope-bytes-max)
      (%fail 'ERR_ENV_SIZE "the envelope has more than 1 MiB")))

(define (%begin-section! parts section)
  (%set-section-bytes! parts 0)
  (cond
    ((or (eq? section 'START) (memq section (%parts-order parts)))
     (%lint! parts 'LINT_DUP_SECTION_IGNORED)
     (%set-current! parts #f))
    (else
     (%set-order! parts (cons section (%parts-order parts)))
     (dictionary-set! (%parts-bodies parts) section '())
     (%set-current! parts section))))

(define (%add-line! parts line bytes)
  (%set-section-bytes! parts (+ (%section-bytes parts) bytes))
  (if (> (%section-bytes parts) section-bytes-max)
      (%fail 'ERR_ENV_SIZE "a section of the envelope has more than 512 KiB"))
  (let ((section (%parts-current parts)))
    (if section
        (dictionary-set! (%parts-bodies parts) section
          (cons line (dictionary-ref (%parts-bodies parts) section '()))))))

;;; Returns a body without the blanks and newlines at its end.
(define (%body parts section)
  (%trim-end
    (string-join (reverse (dictionary-ref (%parts-bodies parts) section '())) "\n")))

(define (%rank section)
  (let loop ((sections %sections) (rank 0))
    (if (eq? (car sections) section) rank (loop (cdr sections) (+ rank 1)))))

(define (%check-order order)
  (let loop ((order order) (last -1))
    (if (pair? order)
        (let ((rank (%rank (car order))))
          (if (< rank last)
              (%fail 'ERR_ENV_ORDER
                (string-append "the section " (symbol->string (car order))
                  " stands behind one that follows it")
                (car order)))
          (loop (cdr order) rank)))))

(define (%finish parts)
  (let ((order (reverse (%parts-order parts))))
    (%check-order order)
    (for-each
      (lambda (section)
        (if (not (memq section order))
            (%fail 'ERR_ENV_SECTION_MISSING
              (string-append "the envelope has no section " (symbol->string section)) section)))
      '(USERDATA ACTIONS))
    (%make-envelope (%body parts 'USERDATA) (%body parts 'SCRATCHPAD) (%body parts 'OUTPUT)
      (%body parts 'ACTIONS) (reverse (%parts-lints parts)))))

;;; Returns the text of an envelope given as a text or as bytes.
(define (%decoded text)
  (cond
    ((string? text) text)
    ((bytevector? text)
     (guard (problem ((condition? problem)
                      (%fail 'ERR_ENV_ENCODING "the envelope is not UTF-8")))
       (utf8->string text)))
    (else (%wrong-type 'parse-envelope "a string or a bytevector" text))))

(define (%skip-preamble lines)
  (let ((rest (find-tail (lambda (line) (eq? (%marked-section line) 'START)) lines)))
    (or rest lines)))

(define (%check-start lines)
  (if (null? lines)
      (%fail 'ERR_ENV_MARKERS_INVALID "expected the START marker, found the end of the text"))
  (if (not (eq? (%marked-section (car lines)) 'START))
      (%fail 'ERR_ENV_MARKERS_INVALID
        (string-append "expected the START marker, found: " (%shortened (car lines))))))

(define (%shortened line)
  (if (> (string-length line) 100) (string-append (substring line 0 100) "…") line))

;;;> Parses an envelope, a string or UTF-8 bytes: `(parse-envelope text [:lenient boolean])`.
;;;> Sections end with `\n` or `\r\n`; blanks at the end of a section are dropped; of sections with
;;;> the same marker the first counts. Reading ends with the END marker. With `:lenient`, by default
;;;> `#f`, it begins at the first START marker instead of the first line, with the lint
;;;> `LINT_PREAMBLE_IGNORED`.
;;;>
;;;> Fails with a typed error: `ERR_ENV_MARKERS_INVALID` without START or END,
;;;> `ERR_ENV_SECTION_MISSING`, `ERR_ENV_ORDER`, `ERR_ENV_SIZE` beyond `envelope-bytes-max` or
;;;> `section-bytes-max`, sections that are ignored included, and `ERR_ENV_ENCODING`.
;;;> Source: AEIOU v4, sections 3.1 to 3.4; decisions, section 3.
(define (parse-envelope text . options)
  (%check-options 'parse-envelope options '(:lenient))
  (let* ((all (%lines (%decoded text)))
         (lines (if (%option options :lenient #f) (%skip-preamble all) all))
         (parts (%make-parts (dictionary) '() #f 0 0 '())))
    (if (not (eq? lines all)) (%lint! parts 'LINT_PREAMBLE_IGNORED))
    (%check-start lines)
    (%count! parts (+ (%bytes (car lines)) 1))
    (let loop ((lines (cdr lines)))
      (if (null? lines)
          (%fail 'ERR_ENV_MARKERS_INVALID "the envelope has no END marker"))
      (let* ((line (car lines)) (section (%marked-section line)) (bytes (+ (%bytes line) 1)))
        (cond
          ((eq? section 'END) (%finish parts))
          (else
           (%count! parts bytes)
           (if section (%begin-section! parts section) (%add-line! parts line bytes))
           (loop (cdr lines))))))))

;; Composing.

;;;> Returns a text in which no line is a marker of an envelope: a line that would be one has a
;;;> backslash in front. So the words of a program cannot begin a section.
;;;> Source: decisions, section 5.2.
(define (neutralise-markers text)
  (if (not (string? text)) (%wrong-type 'neutralise-markers "a string" text))
  (if (string-contains text "<<<NSENV:V4:")
      (string-join
        (map (lambda (line) (if (%marked-section line) (string-append "\\" line) line))
          (string-split text #\newline))
        "\n")
      text))

(define (%section-text section body)
  (if (string=? body "")
      ""
      (begin
        (if (> (+ (%bytes body) 1) section-bytes-max)
            (%fail 'ERR_ENV_SIZE
              (string-append "the section " (symbol->string section) " has more than 512 KiB")
              section))
        (string-append (%marker section) "\n" body "\n"))))

(define (%contains-marker? text)
  (any (lambda (line) (and (%marked-section line) #t)) (string-split text #\newline)))

;;;> Returns the text of an envelope: `(compose-envelope userdata actions [:scratchpad text]
;;;> [:output text])`. The userdata are a value that `check-userdata` accepts, or its JSON text; it
;;;> is written on one line. Marker lines in the scratchpad and the output are neutralised, blanks
;;;> at their ends are dropped, and an empty one is left out. Fails with a typed error:
;;;> `ERR_USERDATA_SCHEMA`, `ERR_ENV_SECTION_MISSING` if the actions are empty,
;;;> `ERR_ENV_MARKER_IN_BODY` if they have a marker line, `ERR_ENV_SIZE`.
;;;> Source: AEIOU v4, section 3; decisions, section 5.2.
(define (compose-envelope userdata actions . options)
  (%check-options 'compose-envelope options '(:scratchpad :output))
  (let ((json (value->json (check-userdata userdata))))
    (define (body key)
      (%trim-end (neutralise-markers (%option options key ""))))
    (if (string=? (string-trim actions) "")
        (%fail 'ERR_ENV_SECTION_MISSING "an envelope needs actions" 'ACTIONS))
    (if (%contains-marker? actions)
        (%fail 'ERR_ENV_MARKER_IN_BODY "a line of the actions is a marker" 'ACTIONS))
    (let ((text
            (string-append (%marker 'START) "\n"
              (%section-text 'USERDATA json)
              (%section-text 'SCRATCHPAD (body :scratchpad))
              (%section-text 'OUTPUT (body :output))
              (%section-text 'ACTIONS actions)
              (%marker 'END) "\n")))
      (if (> (%bytes text) envelope-bytes-max)
          (%fail 'ERR_ENV_SIZE "the envelope has more than 1 MiB"))
      text)))
