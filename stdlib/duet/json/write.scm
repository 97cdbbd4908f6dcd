;;; Writing values as JSON texts.

;;;> Returns the JSON text of a value: `(value->json value [:indent spaces] [:depth levels])`. A
;;;> dictionary becomes an object in its order, a list or vector an array, a string or symbol a
;;;> string, but the symbol `null` becomes `null`; `#t` and `#f` become `true` and `false`. An exact
;;;> number keeps its value, an inexact one has a fraction or exponent, so that `json->value` reads
;;;> it as inexact. With `:indent` each element and member has a line of its own, indented by that
;;;> number of spaces per level; without it the text has no white space.
;;;>
;;;> Fails with `json-error`, which names the part by its JSON Pointer, for everything else:
;;;> records, sets, bytevectors, characters, procedures, numbers that are infinite, no numbers,
;;;> complex or ratios without a finite decimal fraction, two keys with the same text, and a value
;;;> that is nested more than `:depth` levels deep, by default 400, or contains itself.
(define (value->json value . options)
  (let ((port (open-output-string)))
    (%write-json 'value->json value port options)
    (get-output-string port)))

;;;> Writes the JSON text of a value: `(write-json value [port] [:indent spaces] [:depth levels])`,
;;;> with the options and failures of `value->json`. Writes nothing if it fails.
(define (write-json value . arguments)
  (let* ((has-port (and (pair? arguments) (not (keyword? (car arguments)))))
         (port (if has-port (car arguments) (current-output-port)))
         (text (open-output-string)))
    (if (not (and (textual-port? port) (output-port? port)))
        (%wrong-type 'write-json "a textual output port" port))
    (%write-json 'write-json value text (if has-port (cdr arguments) arguments))
    (write-string (get-output-string text) port)))

(define (%write-json procedure value port options)
  (%check-options procedure options '(:indent :depth))
  (let ((indent (%option options :indent #f)) (depth (%option options :depth %depth-max)))
    (if (not (or (not indent) (and (exact-integer? indent) (>= indent 0))))
        (%wrong-type procedure "a number of spaces after :indent" indent))
    (%check-depth procedure depth)
    (%write-value procedure value port indent depth)))

(define (%write-value procedure value port indent depth-max)
  ;; `path` has the keys that lead to a part, the innermost first.
  (define (refuse path message object)
    (%json-failure procedure
      (string-append
        (if (null? path) "the value" (path->json-pointer (reverse path))) message)
      object))

  (define (new-line depth)
    (if indent
        (begin
          (write-char #\newline port)
          (write-string (make-string (* indent depth) #\space) port))))

  (define (check-depth depth path)
    (if (> depth depth-max)
        (refuse (%last-keys path)
          (string-append " is the end of a path that is more than " (number->string depth-max)
            " levels deep")
          depth-max)))

  (define (emit value depth path)
    (cond ((string? value) (%write-text value port))
          ((symbol? value)
           (if (eq? value 'null)
               (write-string "null" port)
               (%write-text (symbol->string value) port)))
          ((number? value) (write-string (number-text value path) port))
          ((boolean? value) (write-string (if value "true" "false") port))
          ((dictionary? value) (emit-object value (+ depth 1) path))
          ((null? value) (write-string "[]" port))
          ((pair? value)
           (if (not (list? value)) (refuse path " is an improper or circular list" '()))
           (emit-array value (+ depth 1) path))
          ((vector? value)
           (if (= (vector-length value) 0)
               (write-string "[]" port)
               (emit-array (vector->list value) (+ depth 1) path)))
          ((keyword? value) (%write-text (%key-text value) port))
          (else (refuse path " has no form in JSON" value))))

  (define (number-text n path)
    (cond ((exact-integer? n) (number->string n))
          ((not (real? n)) (refuse path " is a complex number" n))
          ((exact? n) (or (%exact-decimal n) (refuse path " is no finite decimal fraction" n)))
          ((< -inf.0 n +inf.0) (number->string n))
          (else (refuse path " is no finite number" n))))

  (define (emit-array items depth path)
    (check-depth depth path)
    (write-char #\[ port)
    (let loop ((items items) (index 0))
      (new-line depth)
      (emit (car items) depth (cons index path))
      (if (pair? (cdr items))
          (begin (write-char #\, port) (loop (cdr items) (+ index 1)))))
    (new-line (- depth 1))
    (write-char #\] port))

  (define (emit-object entries depth path)
    (check-depth depth path)
    (write-char #\{ port)
    (let ((members (dictionary->alist entries)))
      (if (pair? members)
          (begin
            (let loop ((members members))
              (let* ((key (caar members)) (name (%key-text key)))
                (if (not name) (refuse path " has a key that is no symbol or string" key))
                (if (%is-repeated? entries key name)
                    (refuse path " has two keys with the same text" name))
                (new-line depth)
                (%write-text name port)
                (write-string (if indent ": " ":") port)
                (emit (cdar members) depth (cons name path)))
              (if (pair? (cdr members))
                  (begin (write-char #\, port) (loop (cdr members)))))
            (new-line (- depth 1)))))
    (write-char #\} port))

  (emit value 0 '()))

;;; Returns the first keys of a long path, of which the innermost is the first.
(define (%last-keys path) (let ((n (length path))) (if (> n 8) (list-tail path (- n 8)) path)))

;;; Says whether a dictionary has another key with the same text.
(define (%is-repeated? entries key name)
  (and (not (eq? key (%key name)))
       (or (dictionary-contains? entries (%key name))
           (and (symbol? key) (dictionary-contains? entries name)))))

;;; Returns the decimal text of an exact ratio, or `#f` if it has none of finite length.
(define (%exact-decimal n)
  (let loop ((rest (denominator n)) (twos 0) (fives 0))
    (cond ((even? rest) (loop (quotient rest 2) (+ twos 1) fives))
          ((= (remainder rest 5) 0) (loop (quotient rest 5) twos (+ fives 1)))
          ((> rest 1) #f)
          (else
           (let* ((places (max twos fives))
                  (digits (number->string (abs (* n (expt 10 places)))))
                  (padded
                    (string-append (make-string (max 0 (- (+ places 1) (string-length digits))) #\0)
                      digits))
                  (point (- (string-length padded) places)))
             (string-append
               (if (< n 0) "-" "")
               (substring padded 0 point) "." (substring padded point (string-length padded))))))))

;;; Writes a string with quotation marks and escapes.
(define (%write-text text port)
  (let ((end (string-length text)))
    (write-char #\" port)
    (let loop ((start 0) (i 0))
      (if (< i end)
          (let ((char (string-ref text i)))
            (if (or (char<? #\\ char)
                    (and (char<=? #\space char) (not (char=? char #\")) (not (char=? char #\\))))
                (loop start (+ i 1))
                (begin
                  (write-string text port start i)
                  (write-string (%escape-of char) port)
                  (loop (+ i 1) (+ i 1)))))
          (write-string text port start end)))
    (write-char #\" port)))

(define (%escape-of char)
  (case char
    ((#\") "\\\"")
    ((#\\) "\\\\")
    ((#\newline) "\\n")
    ((#\return) "\\r")
    ((#\tab) "\\t")
    ((#\backspace) "\\b")
    ((#\page) "\\f")
    (else
     (let ((digits (number->string (char->integer char) 16)))
       (string-append "\\u" (make-string (- 4 (string-length digits)) #\0) digits)))))
