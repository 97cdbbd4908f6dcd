;;; Tokens of NeuroScript.
;;;
;;; A token has a kind, a value, and the line and column, from 1, at which it begins:
;;;
;;;   kind      value
;;;   newline   #f
;;;   name      a string, the identifier
;;;   word      a symbol, the keyword
;;;   mark      a symbol, such as `+` or `==`
;;;   number    a flonum
;;;   string    a string
;;;   raw       a string in which `{{name}}` stands for a variable
;;;   variable  a string, the name in `{{name}}` outside of strings
;;;   note      a string, the text of a line of metadata behind `::`
;;;   end       #f

(define-record-type <token>
  (%make-token kind value line column)
  %token?
  (kind %token-kind)
  (value %token-value)
  (line %token-line)
  (column %token-column))

(define %keywords
  (list->set
    '("acos" "and" "as" "asin" "ask" "atan" "break" "call" "clear" "clear_error" "command"
      "continue" "cos" "do" "each" "else" "emit" "endcommand" "endfor" "endfunc" "endif" "endon"
      "endwhile" "error" "eval" "event" "fail" "false" "for" "func" "fuzzy" "if" "in" "into" "last"
      "len" "ln" "log" "means" "must" "mustbe" "named" "needs" "nil" "no" "not" "on" "optional" "or"
      "promptuser" "return" "returns" "set" "sin" "some" "tan" "timedate" "tool" "true" "typeof"
      "whisper" "while" "with")))

;;; The marks, the longer ones first.
(define %marks
  '("**" "==" "!=" ">=" "<=" "+" "-" "*" "/" "%" "&" "|" "^" "~" "(" ")" "," "[" "]" "{" "}" ":"
    "." "=" ">" "<"))

;;; Raises the condition of a mistake in a text.
(define (%syntax-failure line column message)
  (raise
    (%make-condition 'neuroscript-syntax
      (string-append "line " (number->string line) ", column " (number->string column) ": "
        message)
      (list line column))))

(define (%blank? char) (or (char=? char #\space) (char=? char #\tab)))
(define (%line-end? char) (or (char=? char #\newline) (char=? char #\return)))
(define (%digit? char) (and (char<=? #\0 char) (char<=? char #\9)))
(define (%name-start? char)
  (or (and (char<=? #\a char) (char<=? char #\z)) (and (char<=? #\A char) (char<=? char #\Z))
    (char=? char #\_)))
(define (%name-part? char) (or (%name-start? char) (%digit? char)))

;;; A text that is read: where reading is, the line there, and where that line begins. `absent`
;;; lists closing texts that do not come any more, so that no search for one is repeated.
(define-record-type <scanner>
  (%make-scanner text end at line line-start tokens absent)
  %scanner?
  (text %scanner-text)
  (end %scanner-end)
  (at %scanner-at %set-at!)
  (line %scanner-line %set-line!)
  (line-start %line-start %set-line-start!)
  (tokens %scanner-tokens %set-tokens!)
  (absent %scanner-absent %set-absent!))

;;; Returns the character at an index, or the character 0 behind the end.
(define (%char scanner index)
  (if (< index (%scanner-end scanner)) (string-ref (%scanner-text scanner) index) #\null))

(define (%column scanner index) (+ (- index (%line-start scanner)) 1))

(define (%fail-at scanner index message)
  (%syntax-failure (%scanner-line scanner) (%column scanner index) message))

(define (%starts-with? scanner index word)
  (let ((length (string-length word)))
    (let loop ((i 0))
      (or (= i length)
          (and (char=? (%char scanner (+ index i)) (string-ref word i)) (loop (+ i 1)))))))

;;; Adds a token that ends before an index and begins where reading is.
(define (%add! scanner kind value index)
  (%set-tokens! scanner
    (cons
      (%make-token kind value (%scanner-line scanner) (%column scanner (%scanner-at scanner)))
      (%scanner-tokens scanner)))
  (%set-at! scanner index))

;;; Returns the first index from which on no character satisfies a predicate.
(define (%skip scanner index predicate)
  (if (and (< index (%scanner-end scanner)) (predicate (%char scanner index)))
      (%skip scanner (+ index 1) predicate)
      index))

(define (%in-line? char) (not (%line-end? char)))

;;; Returns the index behind a line's end.
(define (%behind-line-end scanner index)
  (if (and (char=? (%char scanner index) #\return) (char=? (%char scanner (+ index 1)) #\newline))
      (+ index 2)
      (+ index 1)))

(define (%begin-line! scanner index)
  (%set-line! scanner (+ (%scanner-line scanner) 1))
  (%set-line-start! scanner index))

;;; Counts the lines that end between two indices.
(define (%count-lines! scanner from to)
  (let loop ((i from))
    (cond ((>= i to) #t)
          ((%line-end? (%char scanner i))
           (let ((next (%behind-line-end scanner i)))
             (%begin-line! scanner next)
             (loop next)))
          (else (loop (+ i 1))))))

(define (%scan-newline! scanner index)
  (let ((next (%behind-line-end scanner index)))
    (%add! scanner 'newline #f next)
    (%begin-line! scanner next)))

(define (%scan-word! scanner index)
  (let* ((end (%skip scanner index %name-part?))
         (name (substring (%scanner-text scanner) index end)))
    (if (set-contains? %keywords name)
        (%add! scanner 'word (string->symbol name) end)
        (%add! scanner 'name name end))))

(define (%scan-number! scanner index)
  (let* ((whole (%skip scanner index %digit?))
         (fraction
           (if (and (char=? (%char scanner whole) #\.) (%digit? (%char scanner (+ whole 1))))
               (%skip scanner (+ whole 1) %digit?)
               whole))
         (end (%exponent-end scanner fraction))
         (digits (substring (%scanner-text scanner) index end)))
    (%add! scanner 'number (%text->number digits) end)))

(define (%exponent-end scanner index)
  (if (memv (%char scanner index) '(#\e #\E))
      (let ((digits
              (if (memv (%char scanner (+ index 1)) '(#\+ #\-)) (+ index 2) (+ index 1))))
        (if (%digit? (%char scanner digits)) (%skip scanner digits %digit?) index))
      index))

;;; Reads a string between quotation marks.
(define (%scan-string! scanner index closing)
  (let ((out (open-output-string)))
    (let loop ((i (+ index 1)))
      (let ((char (%char scanner i)))
        (cond
          ((or (>= i (%scanner-end scanner)) (%line-end? char))
           (%fail-at scanner index "the string has no end in its line"))
          ((char=? char closing) (%add! scanner 'string (get-output-string out) (+ i 1)))
          ((char=? char #\\) (loop (%scan-escape! scanner (+ i 1) out)))
          (else (write-char char out) (loop (+ i 1))))))))

(define %plain-escapes
  '((#\" . #\") (#\' . #\') (#\\ . #\\) (#\b . #\backspace) (#\t . #\tab) (#\n . #\newline)
    (#\f . #\x0C) (#\r . #\return) (#\v . #\x0B) (#\~ . #\~) (#\` . #\`)))

;;; Writes what an escape behind a backslash stands for, and returns the index behind it.
(define (%scan-escape! scanner index out)
  (define (digits count radix start)
    (let ((code (string->number
                  (substring (%scanner-text scanner) start
                    (min (%scanner-end scanner) (+ start count)))
                  radix)))
      (if (not (and (exact-integer? code) (>= code 0) (<= (+ start count) (%scanner-end scanner))
                 (not (memv (%char scanner start) '(#\+ #\-)))
                 (or (< code #xD800) (> code #xDFFF))))
          (%fail-at scanner (- index 1) "the escape stands for no character"))
      (write-char (integer->char code) out)
      (+ start count)))
  (let* ((char (%char scanner index)) (plain (assv char %plain-escapes)))
    (define (octal? i) (and (char<=? #\0 (%char scanner i)) (char<=? (%char scanner i) #\7)))
    (cond
      (plain (write-char (cdr plain) out) (+ index 1))
      ((char=? char #\u) (digits 4 16 (+ index 1)))
      ((char=? char #\x) (digits 2 16 (+ index 1)))
      ((and (octal? index) (char<=? char #\3) (octal? (+ index 1)) (octal? (+ index 2)))
       (digits 3 8 index))
      ((and (octal? index) (octal? (+ index 1))) (digits 2 8 index))
      (else (%fail-at scanner (- index 1) "a string has no such escape")))))

;;; Returns the index at which a closing text begins, or #f.
(define (%find scanner index closing)
  (cond ((>= index (%scanner-end scanner)) #f)
        ((%starts-with? scanner index closing) index)
        (else (%find scanner (+ index 1) closing))))

;;; Reads a raw string; returns whether there is one.
(define (%scan-raw! scanner index opening closing)
  (let* ((from (+ index (string-length opening)))
         (to (and (not (member closing (%scanner-absent scanner)))
                  (%find scanner from closing))))
    (if (not to) (%set-absent! scanner (cons closing (%scanner-absent scanner))))
    (and to
         (begin
           (%add! scanner 'raw (substring (%scanner-text scanner) from to)
             (+ to (string-length closing)))
           (%count-lines! scanner from to)
           #t))))

;;; Reads `{{name}}`; returns whether it stands there.
(define (%scan-variable! scanner index)
  (let* ((from (%skip scanner (+ index 2) %blank?))
         (to (%skip scanner from %name-part?))
         (end (%skip scanner to %blank?)))
    (and (< from to) (%name-start? (%char scanner from)) (%starts-with? scanner end "}}")
         (begin
           (%add! scanner 'variable (substring (%scanner-text scanner) from to) (+ end 2))
           #t))))

(define (%scan-mark! scanner index)
  (let ((mark (find (lambda (mark) (%starts-with? scanner index mark)) %marks)))
    (if mark
        (%add! scanner 'mark (string->symbol mark) (+ index (string-length mark)))
        (%fail-at scanner index
          (string-append "NeuroScript has no `" (string (%char scanner index)) "` here")))))

;;; Reads one token, or skips white space or a comment.
(define (%scan! scanner)
  (let* ((index (%scanner-at scanner)) (char (%char scanner index)))
    (define (starts? word) (%starts-with? scanner index word))
    (cond
      ((%blank? char) (%set-at! scanner (%skip scanner index %blank?)))
      ((%line-end? char) (%scan-newline! scanner index))
      ((and (starts? "::") (%blank? (%char scanner (+ index 2))))
       (let ((end (%skip scanner index %in-line?)))
         (%add! scanner 'note (substring (%scanner-text scanner) (+ index 3) end) end)))
      ((or (char=? char #\#) (starts? "--") (starts? "//"))
       (%set-at! scanner (%skip scanner index %in-line?)))
      ((and (char=? char #\\) (%line-end? (%char scanner (+ index 1))))
       (let ((next (%behind-line-end scanner (+ index 1))))
         (%begin-line! scanner next)
         (%set-at! scanner next)))
      ((%name-start? char) (%scan-word! scanner index))
      ((%digit? char) (%scan-number! scanner index))
      ((and (starts? "```") (%scan-raw! scanner index "```" "```")) #t)
      ((and (starts? "'''") (%scan-raw! scanner index "'''" "'''")) #t)
      ((and (starts? "[[") (%scan-raw! scanner index "[[" "]]")) #t)
      ((and (starts? "{{") (%scan-variable! scanner index)) #t)
      ((or (char=? char #\") (char=? char #\')) (%scan-string! scanner index char))
      (else (%scan-mark! scanner index)))))

;;; Returns the tokens of a text, in order.
(define (%tokens text)
  (let ((scanner (%make-scanner text (string-length text) 0 1 0 '() '())))
    (let loop ()
      (if (< (%scanner-at scanner) (%scanner-end scanner))
          (begin (%scan! scanner) (loop))
          (begin
            (%add! scanner 'end #f (%scanner-end scanner))
            (reverse (%scanner-tokens scanner)))))))
