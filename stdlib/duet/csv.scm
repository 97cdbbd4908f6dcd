;;; One reader serves texts and ports: it looks at one character and takes each once, so it needs
;;; time in proportion to the text.

(define (%csv-failure procedure line message)
  (raise
    (%make-condition 'csv-error
      (string-append (symbol->string procedure) ": line " (number->string line) ": " message)
      (list line))))

;;;> Returns whether an object is the condition, of kind `csv-error`, that a procedure of this
;;;> library raises for a text that is not CSV.
(define (csv-error? object) (and (condition? object) (eq? (condition-kind object) 'csv-error)))

;;;> Returns the line, from 1, at which a text is not CSV.
(define (csv-error-line condition)
  (if (not (csv-error? condition)) (%wrong-type 'csv-error-line "a csv-error" condition))
  (car (condition-irritants condition)))

(define (%csv-separator procedure options)
  (let ((separator (%option options :separator #\,)))
    (if (and (char? separator) (not (memv separator '(#\" #\newline #\return))))
        separator
        (%wrong-type procedure "a character that is no quote and ends no line" separator))))

;;;> Returns the rows of a table, a list of lists of strings: `(csv->rows text [:separator char]
;;;> [:ragged boolean])`. A field in double quotes may have separators, line ends, and double quotes,
;;;> each written twice. Lines end with CR LF or LF. The separator is a comma unless `:separator` is
;;;> another character. Blanks belong to their fields; a byte order mark at the start does not.
;;;>
;;;> Fails with `csv-error`, which has a line, if a quoted field does not end, a quote stands inside
;;;> or behind a field, or a carriage return stands alone; also if a row has another number of fields
;;;> than the first, unless `:ragged` is true.
;;;> Source: RFC 4180.
(define (csv->rows text . options)
  (if (not (string? text)) (%wrong-type 'csv->rows "a string" text))
  (%read-csv 'csv->rows (open-input-string text) options))

;;;> Reads a table from a port to its end, as `csv->rows` does: `(read-csv port [:separator char]
;;;> [:ragged boolean])`.
(define (read-csv port . options)
  (if (not (input-port? port)) (%wrong-type 'read-csv "an input port" port))
  (%read-csv 'read-csv port options))

(define (%read-csv procedure port options)
  (%check-options procedure options '(:separator :ragged))
  (define separator (%csv-separator procedure options))
  (define ragged? (%option options :ragged #f))
  (define line 1)
  (define (fail line message) (%csv-failure procedure line message))
  ;; Takes a line end, whose first character is taken already.
  (define (end-line char)
    (if (and (char=? char #\return) (not (eqv? (read-char port) #\newline)))
        (fail line "a carriage return stands alone"))
    (set! line (+ line 1)))
  (define (text chars) (list->string (reverse chars)))
  ;; Takes a field without quotes, up to its separator or line end.
  (define (plain chars)
    (let ((char (peek-char port)))
      (cond ((or (eof-object? char) (char=? char separator) (memv char '(#\newline #\return)))
             (text chars))
            ((char=? char #\")
             (fail line "a quote stands inside a field that does not begin with one"))
            (else (plain (cons (read-char port) chars))))))
  ;; Takes a field behind its first quote, which stands on the line `start`.
  (define (quoted chars start)
    (let ((char (read-char port)))
      (cond ((eof-object? char) (fail start "the field that begins with this quote does not end"))
            ((not (char=? char #\"))
             (if (char=? char #\newline) (set! line (+ line 1)))
             (quoted (cons char chars) start))
            ((eqv? (peek-char port) #\") (quoted (cons (read-char port) chars) start))
            (else (text chars)))))
  (define (field)
    (cond ((eqv? (peek-char port) #\")
           (read-char port)
           (quoted '() line))
          (else (plain '()))))
  ;; Takes a row and its end.
  (define (row fields)
    (let* ((fields (cons (field) fields)) (char (read-char port)))
      (cond ((eof-object? char) (reverse fields))
            ((char=? char separator) (row fields))
            ((memv char '(#\newline #\return))
             (end-line char)
             (reverse fields))
            (else (fail line "a text follows the closing quote of a field")))))
  (define (rows found width)
    (if (eof-object? (peek-char port))
        (reverse found)
        (let* ((start line) (fields (row '())) (count (length fields)))
          (if (and width (not ragged?) (not (= count width)))
              (fail start
                (string-append "the row has " (number->string count) " fields, the first has "
                  (number->string width))))
          (rows (cons fields found) (or width count)))))
  (if (eqv? (peek-char port) #\xfeff) (read-char port))
  (rows '() #f))

;;;> Returns the text of a table, a list of rows, each a list of at least one string or number:
;;;> `(rows->csv rows [:separator char])`. Each row ends with CR LF. A field is quoted if it has a
;;;> separator, a quote or a line end.
;;;> Source: RFC 4180.
(define (rows->csv rows . options)
  (let ((port (open-output-string)))
    (%write-csv 'rows->csv rows port options)
    (get-output-string port)))

;;;> Writes the text of a table to a port, as `rows->csv` makes it: `(write-csv rows port [:separator
;;;> char])`.
(define (write-csv rows port . options)
  (if (not (output-port? port)) (%wrong-type 'write-csv "an output port" port))
  (%write-csv 'write-csv rows port options))

(define (%write-csv procedure rows port options)
  (%check-options procedure options '(:separator))
  (define separator (%csv-separator procedure options))
  ;; A byte order mark at the start would not be read back.
  (define (special? char)
    (or (char=? char separator) (memv char '(#\" #\newline #\return #\xfeff))))
  (define (write-quoted text)
    (write-char #\" port)
    (string-for-each
      (lambda (char)
        (if (char=? char #\") (write-char #\" port))
        (write-char char port))
      text)
    (write-char #\" port))
  (define (any-special? chars)
    (and (pair? chars) (or (special? (car chars)) (any-special? (cdr chars)))))
  (define (write-field field)
    (let ((text
            (cond ((string? field) field)
                  ((number? field) (number->string field))
                  (else (%wrong-type procedure "a field that is a string or number" field)))))
      (if (any-special? (string->list text)) (write-quoted text) (write-string text port))))
  (define (write-row row)
    (if (not (and (pair? row) (list? row)))
        (%wrong-type procedure "a row that is a list of fields" row))
    (write-field (car row))
    (for-each
      (lambda (field)
        (write-char separator port)
        (write-field field))
      (cdr row))
    (write-string "\r\n" port))
  (if (not (list? rows)) (%wrong-type procedure "a list of rows" rows))
  (for-each write-row rows))
