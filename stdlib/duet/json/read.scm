;;; Reading JSON texts, RFC 8259.

;;; The depth of a value that a tool may return. A value of the dataspace has at most 512 levels, of
;;; which the record around it takes some.
(define %depth-max 400)

;;; The largest exponent of ten, and the smallest with a minus, of a number that is kept exact; an
;;; exponent of nine digits would make a number of 400 megabytes.
(define %exponent-max 10000)

(define (%json-failure procedure message . irritants)
  (raise
    (%make-condition 'json-error (string-append (symbol->string procedure) ": " message)
      irritants)))

;;;> Returns whether an object is the condition, of kind `json-error`, that a procedure of this
;;;> library raises for a text or value that is not JSON.
(define (json-error? object) (and (condition? object) (eq? (condition-kind object) 'json-error)))

(define (%json-error-part condition index)
  (let ((irritants (condition-irritants condition)))
    (and (= (length irritants) 2) (list-ref irritants index))))

;;;> Returns the line of the mistake in a text, from 1; `#f` if the condition is not about a text.
(define (json-error-line condition)
  (if (not (condition? condition)) (%wrong-type 'json-error-line "a condition" condition))
  (%json-error-part condition 0))

;;;> Returns the column of the mistake in its line, in characters from 1; `#f` if the condition is
;;;> not about a text.
(define (json-error-column condition)
  (if (not (condition? condition)) (%wrong-type 'json-error-column "a condition" condition))
  (%json-error-part condition 1))

;;; Raises the condition of a mistake at an index of a text.
(define (%text-failure procedure text at message)
  (let loop ((i 0) (line 1) (start 0))
    (cond ((< i at)
           (if (char=? (string-ref text i) #\newline)
               (loop (+ i 1) (+ line 1) (+ i 1))
               (loop (+ i 1) line start)))
          (else
           (let ((column (+ (- at start) 1)))
             (%json-failure procedure
               (string-append
                 "line " (number->string line) ", column " (number->string column) ": " message)
               line column))))))

;;; Names the character at an index for people.
(define (%found text at)
  (if (>= at (string-length text))
      "the end of the text"
      (let ((char (string-ref text at)))
        (if (or (char<? char #\space) (char>? char #\~))
            (%code-point char)
            (string #\` char #\`)))))

(define (%code-point char)
  (let ((digits (string-upcase (number->string (char->integer char) 16))))
    (string-append "U+" (make-string (max 0 (- 4 (string-length digits))) #\0) digits)))

;;;> Reads the JSON value that a text consists of: `(json->value text [:decimals exactness] [:depth
;;;> levels] [:repeated what])`. An object becomes a dictionary with symbols as keys, in its order;
;;;> a key that begins with a colon becomes a keyword. An array becomes a list, a string a string,
;;;> `true` and `false` become `#t` and `#f`, and `null` becomes the symbol `null`. A number without
;;;> fraction and exponent becomes an exact integer. Any other becomes the nearest inexact number if
;;;> `:decimals` is `inexact`, the default, or keeps its value if it is `exact`. Arrays and objects
;;;> may be nested `:depth` levels deep, by default 400. With `:repeated` `last`, the last value of
;;;> a key that an object repeats counts; the default is `error`.
;;;>
;;;> Fails with `json-error`, which has a line and a column, if the text is not JSON, repeats a key
;;;> in an object, has half of a surrogate pair, is nested too deep, has a number beyond the doubles
;;;> with `:decimals 'inexact`, an exponent beyond ±10000 with `:decimals 'exact`, or more digits
;;;> than a number may have: an exact integer has at most 2097152 bits, which is 631305 digits.
;;;> Source: RFC 8259.
(define (json->value text . options)
  (if (not (string? text)) (%wrong-type 'json->value "a string" text))
  (%read-text 'json->value text options))

(define (%read-text procedure text options)
  (%check-options procedure options '(:decimals :depth :repeated))
  (let ((decimals (%option options :decimals 'inexact))
        (depth (%option options :depth %depth-max))
        (repeated (%option options :repeated 'error)))
    (if (not (memq decimals '(exact inexact)))
        (%wrong-type procedure "`exact` or `inexact`" decimals))
    (if (not (memq repeated '(error last)))
        (%wrong-type procedure "`error` or `last`" repeated))
    (%check-depth procedure depth)
    (%parse procedure text (eq? decimals 'exact) depth (eq? repeated 'last))))

(define (%check-depth procedure depth)
  (if (not (and (exact-integer? depth) (>= depth 0)))
      (%wrong-type procedure "a number of levels after :depth" depth)))

;;; Parses a text. `at` is the index behind what has been read. The character 0, which no value
;;; contains outside of strings, stands for the end.
(define (%parse procedure text is-exact depth-max may-repeat)
  (define end (string-length text))
  (define at 0)

  (define (fail where message) (%text-failure procedure text where message))

  (define (unexpected where wanted)
    (fail where (string-append "expected " wanted ", found " (%found text where))))

  (define (at-index i) (if (< i end) (string-ref text i) #\null))

  ;; Moves behind white space and returns the character there.
  (define (skip)
    (let loop ((i at))
      (if (< i end)
          (let ((char (string-ref text i)))
            (if (and (char<=? char #\space)
                     (or (char=? char #\space) (char=? char #\newline) (char=? char #\return)
                       (char=? char #\tab)))
                (loop (+ i 1))
                (begin (set! at i) char)))
          (begin (set! at end) #\null))))

  (define (value char depth)
    (cond ((char=? char #\") (text-value))
          ((char=? char #\{) (object (+ depth 1)))
          ((char=? char #\[) (array (+ depth 1)))
          ((or (char=? char #\-) (and (char<=? #\0 char) (char<=? char #\9))) (number char))
          ((char=? char #\t) (word "true" #t))
          ((char=? char #\f) (word "false" #f))
          ((char=? char #\n) (word "null" 'null))
          (else (unexpected at "a value"))))

  (define (word name meaning)
    (let loop ((i 0))
      (cond ((= i (string-length name))
             (set! at (+ at i))
             meaning)
            ((char=? (at-index (+ at i)) (string-ref name i)) (loop (+ i 1)))
            (else (unexpected (+ at i) (string-append "`" name "`"))))))

  (define (check-depth depth)
    (if (> depth depth-max)
        (fail at (string-append "nested more than " (number->string depth-max) " levels deep"))))

  (define (array depth)
    (check-depth depth)
    (set! at (+ at 1))
    (let ((char (skip)))
      (if (char=? char #\])
          (begin (set! at (+ at 1)) '())
          (let loop ((char char) (items '()))
            (let* ((items (cons (value char depth) items)) (char (skip)))
              (cond ((char=? char #\,) (set! at (+ at 1)) (loop (skip) items))
                    ((char=? char #\]) (set! at (+ at 1)) (reverse items))
                    (else (unexpected at "`,` or `]`"))))))))

  (define (object depth)
    (check-depth depth)
    (set! at (+ at 1))
    (let ((char (skip)) (entries (dictionary)))
      (if (char=? char #\})
          (begin (set! at (+ at 1)) entries)
          (let loop ((char char) (count 1))
            (if (not (char=? char #\")) (unexpected at "a key"))
            (let* ((place at) (key (%key (text-value))))
              (if (not (char=? (skip) #\:)) (unexpected at "`:`"))
              (set! at (+ at 1))
              (dictionary-set! entries key (value (skip) depth))
              (if (and (not may-repeat) (< (dictionary-count entries) count))
                  (fail place (string-append "the key \"" (%key-text key) "\" is repeated")))
              (let ((char (skip)))
                (cond ((char=? char #\,) (set! at (+ at 1)) (loop (skip) (+ count 1)))
                      ((char=? char #\}) (set! at (+ at 1)) entries)
                      (else (unexpected at "`,` or `}`")))))))))

  ;; Reads a string; the quotation mark is at `at`.
  (define (text-value)
    (let ((start (+ at 1)))
      (let ((i (plain-end start)))
        (if (char=? (string-ref text i) #\")
            (begin (set! at (+ i 1)) (substring text start i))
            (text-with-escapes start i)))))

  ;; Returns the index of the next quotation mark or backslash.
  (define (plain-end start)
    (let loop ((i start))
      (if (< i end)
          (let ((char (string-ref text i)))
            (cond ((char<? #\\ char) (loop (+ i 1)))
                  ((char=? char #\") i)
                  ((char=? char #\\) i)
                  ((char<? char #\space)
                   (fail i (string-append "a string has " (%code-point char) " only as an escape")))
                  (else (loop (+ i 1)))))
          (fail at "the string has no end"))))

  (define (text-with-escapes start i)
    (let ((out (open-output-string)))
      (let loop ((start start) (i i))
        (write-string text out start i)
        (if (char=? (string-ref text i) #\")
            (begin (set! at (+ i 1)) (get-output-string out))
            (let ((next (escape (+ i 1) out))) (loop next (plain-end next)))))))

  ;; Writes the character of an escape, whose backslash is before `i`; returns the index behind it.
  (define (escape i out)
    (let* ((char (at-index i)) (simple (assv char %escapes)))
      (cond (simple (write-char (cdr simple) out) (+ i 1))
            ((char=? char #\u) (unicode-escape i out))
            ((>= i end) (fail at "the string has no end"))
            (else (unexpected i "one of \" \\ / b f n r t u after a backslash")))))

  (define (unicode-escape i out)
    (let ((code (code-unit (+ i 1))))
      (cond ((or (< code #xd800) (> code #xdfff))
             (write-char (integer->char code) out)
             (+ i 5))
            ((and (< code #xdc00) (char=? (at-index (+ i 5)) #\\) (char=? (at-index (+ i 6)) #\u))
             (let ((low (code-unit (+ i 7))))
               (if (not (<= #xdc00 low #xdfff)) (lone i))
               (write-char (integer->char (+ #x10000 (* (- code #xd800) 1024) (- low #xdc00))) out)
               (+ i 11)))
            (else (lone i)))))

  (define (lone i) (fail (- i 1) "half of a surrogate pair is no character"))

  (define (code-unit start)
    (let loop ((i start) (code 0))
      (if (= i (+ start 4))
          code
          (let ((digit (%hex-digit (at-index i))))
            (if digit (loop (+ i 1) (+ (* code 16) digit)) (unexpected i "a hexadecimal digit"))))))

  ;; Reads a number; `char` is its first character. Adds up to 15 digits, which are a fixnum.
  (define (number char)
    (let* ((start at) (is-negative (char=? char #\-)) (first (if is-negative (+ at 1) at)))
      (let loop ((i first) (n 0))
        (let ((char (at-index i)))
          (cond ((and (char<=? #\0 char) (char<=? char #\9))
                 (if (< (- i first) 15)
                     (loop (+ i 1) (+ (* n 10) (- (char->integer char) 48)))
                     (number-end start first (digits-end i) #f)))
                ((= i first) (unexpected i "a digit"))
                (else (number-end start first i (if is-negative (- n) n))))))))

  (define (digits-end i) (if (%digit (at-index i)) (digits-end (+ i 1)) i))

  ;; Reads the rest of a number behind its integer part, which begins at `first` and ends before `i`;
  ;; `n` is its value, if that is known.
  (define (number-end start first i n)
    (if (and (char=? (string-ref text first) #\0) (> (- i first) 1))
        (fail first "a number has no 0 in front"))
    (let ((char (at-index i)))
      (cond ((or (char=? char #\.) (char=? char #\e) (char=? char #\E)) (decimal start i char))
            (else
             (set! at i)
             (or n (number-of start (substring text start i)))))))

  ;; Returns the number that a token at `start` writes.
  (define (number-of start token)
    (or (string->number token) (fail start "the number has too many digits")))

  (define (some-digits i) (if (%digit (at-index i)) (digits-end i) (unexpected i "a digit")))

  (define (decimal start i char)
    (let* ((i (if (char=? char #\.) (some-digits (+ i 1)) i)) (char (at-index i)))
      (if (or (char=? char #\e) (char=? char #\E))
          (let* ((from (if (memv (at-index (+ i 1)) '(#\+ #\-)) (+ i 2) (+ i 1)))
                 (after (some-digits from)))
            (decimal-value start after (substring text from after)))
          (decimal-value start i "0"))))

  (define (decimal-value start i exponent)
    (set! at i)
    (let ((token (substring text start i)))
      (if is-exact
          (if (and (< (string-length exponent) 9) (<= (string->number exponent) %exponent-max))
              (number-of start (string-append "#e" token))
              (fail start "the exponent is beyond ±10000"))
          (let ((n (number-of start token)))
            (if (< -inf.0 n +inf.0)
                n
                (fail start "the number is beyond the doubles; `:decimals 'exact` keeps it"))))))

  (let ((whole (value (skip) 0)))
    (skip)
    (if (< at end) (unexpected at "the end of the text"))
    whole))

(define %escapes
  '((#\" . #\") (#\\ . #\\) (#\/ . #\/) (#\b . #\backspace) (#\f . #\page) (#\n . #\newline)
    (#\r . #\return) (#\t . #\tab)))

(define (%digit char)
  (and (char<=? #\0 char) (char<=? char #\9) (- (char->integer char) 48)))

(define (%hex-digit char)
  (cond ((%digit char))
        ((and (char<=? #\a char) (char<=? char #\f)) (- (char->integer char) 87))
        ((and (char<=? #\A char) (char<=? char #\F)) (- (char->integer char) 55))
        (else #f)))

;;; Returns the key of a dictionary for the name of a member. The dataspace reads a symbol that
;;; begins with a colon as a keyword.
(define (%key name)
  (if (and (< 0 (string-length name)) (char=? (string-ref name 0) #\:))
      (symbol->keyword (string->symbol (substring name 1 (string-length name))))
      (string->symbol name)))

;;; Returns the name of a member for the key of a dictionary, or `#f`.
(define (%key-text key)
  (cond ((symbol? key) (symbol->string key))
        ((string? key) key)
        ((keyword? key) (string-append ":" (symbol->string (keyword->symbol key))))
        (else #f)))

;;;> Reads one JSON value from a port: `(read-json [port] [:decimals exactness] [:depth levels])`,
;;;> with the options of `json->value`. Leaves the port behind the value, so values can follow one
;;;> another, as in JSON Lines; numbers and words need a character of white space between them.
;;;> Returns the end-of-file object if only white space is left. Lines and columns of mistakes count
;;;> from where the call began to read.
;;;>
;;;> Fails with `json-error` like `json->value`; the port is then behind the brackets, the string or
;;;> the word in which the mistake is.
(define (read-json . arguments)
  (let* ((has-port (and (pair? arguments) (not (keyword? (car arguments)))))
         (port (if has-port (car arguments) (current-input-port)))
         (text (begin (%check-input port) (%value-text port))))
    (if (eof-object? text)
        text
        (%read-text 'read-json text (if has-port (cdr arguments) arguments)))))

(define (%check-input port)
  (if (not (and (textual-port? port) (input-port? port)))
      (%wrong-type 'read-json "a textual input port" port)))

;;; Reads the characters of one value with the white space in front.
(define (%value-text port)
  (let ((out (open-output-string)))
    (define (take) (write-char (read-char port) out))
    (define (rest-of-string)
      (let ((char (read-char port)))
        (cond ((eof-object? char) #t)
              ((char=? char #\\)
               (write-char char out)
               (if (not (eof-object? (peek-char port))) (take))
               (rest-of-string))
              (else
               (write-char char out)
               (if (not (char=? char #\")) (rest-of-string))))))
    (define (rest-of-brackets depth)
      (let ((char (read-char port)))
        (if (not (eof-object? char))
            (begin
              (write-char char out)
              (case char
                ((#\") (rest-of-string) (rest-of-brackets depth))
                ((#\[ #\{) (rest-of-brackets (+ depth 1)))
                ((#\] #\}) (if (> depth 1) (rest-of-brackets (- depth 1))))
                (else (rest-of-brackets depth)))))))
    (define (rest-of-word)
      (let ((char (peek-char port)))
        (if (not (or (eof-object? char)
                   (memv char '(#\space #\newline #\return #\tab #\, #\: #\" #\[ #\] #\{ #\}))))
            (begin (take) (rest-of-word)))))
    (let begin-value ()
      (let ((char (peek-char port)))
        (cond ((eof-object? char) char)
              (else
               (take)
               (case char
                 ((#\space #\newline #\return #\tab) (begin-value))
                 ((#\") (rest-of-string) (get-output-string out))
                 ((#\[ #\{) (rest-of-brackets 1) (get-output-string out))
                 (else (rest-of-word) (get-output-string out)))))))))
