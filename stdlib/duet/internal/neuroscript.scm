;;; The values of NeuroScript and what its operators do with them.
;;;
;;; A number is a flonum, a string a string, a boolean a boolean, nil the symbol `null`, a list a
;;; vector, and a map a dictionary with strings as keys. Nobody changes a value: an assignment to an
;;; element makes a new list or map.
;;; Source: decisions, section 2.

;;; Raises an error of a running program. The codes are the reference's: 1 `fail`, 2 no such
;;; procedure, 3 no such tool, 4 number of arguments, 6 operands and `must`, 7 type, 8 bounds, 14
;;; division by zero, 36 counts, 37 too many rounds of a loop.
(define (ns-error code message) (raise (%make-condition 'neuroscript-error message (list code))))

;;; Raises the condition of a program that uses too much of something.
(define (ns-quota message) (raise (%make-condition 'neuroscript-quota message '())))

;;; The maximum length of a string, in characters, and of a list, in elements.
(define %length-max 4194304)

(define (%check-length length)
  (if (> length %length-max) (ns-quota "a string or a list would be too long")))

(define (ns-type value)
  (cond ((flonum? value) "number")
    ((string? value) "string")
    ((boolean? value) "boolean")
    ((eq? value 'null) "nil")
    ((vector? value) "list")
    (else "map")))

;; Numbers and texts.

;;; The nearest flonum to a decimal number, or #f if the text is longer than that of any number.
;;; Without a dot it would be read as an exact integer, which takes long if it has many digits.
(define (%text->number text)
  (let* ((text (string-downcase text))
         (number
           (string->number
             (if (or (string-index text #\.) (string-index text #\e))
                 text
                 (string-append text ".")))))
    (and number (inexact number))))

;;; Returns whether a text is a decimal number: a sign, digits, a fraction, an exponent.
(define (%numeric-text? text)
  (define end (string-length text))
  (define (digit? i)
    (and (< i end) (char<=? #\0 (string-ref text i)) (char<=? (string-ref text i) #\9)))
  (define (is? i chars) (and (< i end) (memv (string-ref text i) chars)))
  (define (skip i) (if (digit? i) (skip (+ i 1)) i))
  (let* ((start (if (is? 0 '(#\+ #\-)) 1 0))
         (whole (skip start))
         (fraction (if (is? whole '(#\.)) (skip (+ whole 1)) whole))
         (digits (if (is? fraction '(#\e #\E))
                     (if (is? (+ fraction 1) '(#\+ #\-)) (+ fraction 2) (+ fraction 1))
                     #f)))
    (and (or (< start whole) (< (+ whole 1) fraction))
         (if digits
             (and (digit? digits) (= (skip digits) end))
             (= fraction end)))))

;;; Returns the number that a value is or that its text is, or #f.
(define (%numeric value)
  (cond ((flonum? value) value)
        ((and (string? value) (%numeric-text? value)) (%text->number value))
        (else #f)))

;;; Returns the exact integer that a value is, or #f.
(define (%integral value)
  (let ((number (%numeric value)))
    (and number (< (abs number) 9.3e18) (= number (floor number)) (exact number))))

;;; Returns the shortest decimal text of a number, without exponent.
(define (%number-text number)
  (cond
    ((not (= number number)) "NaN")
    ((= number +inf.0) "+Inf")
    ((= number -inf.0) "-Inf")
    (else
     (let* ((text (number->string number)) (mark (string-index text #\e)))
       (if mark
           (%without-exponent (substring text 0 mark)
             (string->number (substring text (+ mark 1) (string-length text))))
           (%without-dot text))))))

;;; Removes a fraction that is zero.
(define (%without-dot text)
  (cond ((string-suffix? ".0" text) (substring text 0 (- (string-length text) 2)))
        ((string-suffix? "." text) (substring text 0 (- (string-length text) 1)))
        ((string-prefix? "." text) (string-append "0" text))
        ((string-prefix? "-." text) (string-append "-0" (substring text 1 (string-length text))))
        (else text)))

(define (%without-exponent mantissa exponent)
  (let* ((is-negative (string-prefix? "-" mantissa))
         (plain (if is-negative (substring mantissa 1 (string-length mantissa)) mantissa))
         (dot (or (string-index plain #\.) (string-length plain)))
         (fraction
           (if (< dot (string-length plain)) (substring plain (+ dot 1) (string-length plain)) ""))
         (fraction (if (string=? fraction "0") "" fraction))
         (digits (string-append (substring plain 0 dot) fraction))
         (point (+ dot exponent))
         (count (string-length digits)))
    (string-append (if is-negative "-" "")
      (cond
        ((<= point 0) (string-append "0." (make-string (- point) #\0) digits))
        ((>= point count) (string-append digits (make-string (- point count) #\0)))
        (else (string-append (substring digits 0 point) "." (substring digits point count)))))))

;;; Returns the text that `emit` writes of a value; nil has none.
(define (ns-text value)
  (cond ((string? value) value) ((eq? value 'null) "") (else (%literal value))))

;;; Returns the text of a value as a part of another one.
(define (%literal value)
  (let ((port (open-output-string)))
    (%write-literal value port)
    (get-output-string port)))

(define (%write-literal value port)
  (cond
    ((string? value) (%write-quoted value port))
    ((flonum? value) (write-string (%number-text value) port))
    ((boolean? value) (write-string (if value "true" "false") port))
    ((eq? value 'null) (write-string "nil" port))
    ((vector? value)
     (%write-items "[" "]" (vector->list value) %write-literal port))
    (else
     (%write-items "{" "}" (dictionary->alist value)
       (lambda (entry port)
         (%write-quoted (car entry) port)
         (write-string ": " port)
         (%write-literal (cdr entry) port))
       port))))

(define (%write-items opening closing items write-item port)
  (write-string opening port)
  (let loop ((items items) (separator ""))
    (if (pair? items)
        (begin
          (write-string separator port)
          (write-item (car items) port)
          (loop (cdr items) ", "))))
  (write-string closing port))

(define %quoted
  '((#\" . "\\\"") (#\\ . "\\\\") (#\newline . "\\n") (#\return . "\\r") (#\tab . "\\t")
    (#\backspace . "\\b") (#\x0C . "\\f") (#\x0B . "\\v") (#\alarm . "\\a")))

(define (%write-quoted text port)
  (write-char #\" port)
  (string-for-each
    (lambda (char)
      (let ((escape (assv char %quoted)))
        (cond (escape (write-string (cdr escape) port))
              ((or (char<? char #\space) (char=? char #\delete))
               (write-string (if (char<? char #\x10) "\\x0" "\\x") port)
               (write-string (number->string (char->integer char) 16) port))
              (else (write-char char port)))))
    text)
  (write-char #\" port))

;;; Replaces each `{{name}}` of a text by the text of what `lookup` returns for the name, and
;;; `{{@nl}}` and its like by a character. Nothing is evaluated.
(define (ns-interpolate text lookup)
  (let ((port (open-output-string)) (end (string-length text)))
    (let loop ((from 0))
      (let* ((open (%position text "{{" from)) (close (and open (%position text "}}" (+ open 2)))))
        (write-string (substring text from (if close open end)) port)
        (if close
            (begin
              (write-string (%placeholder (string-trim (substring text (+ open 2) close)) lookup)
                port)
              (loop (+ close 2))))))
    (let ((result (get-output-string port)))
      (%check-length (string-length result))
      result)))

(define %placeholders
  '(("@nl" . "\n") ("@tab" . "\t") ("@dq" . "\"") ("@sq" . "'") ("@bt" . "`") ("@tbt" . "```")
    ("@cr" . "\r")))

(define (%placeholder name lookup)
  (let ((known (assoc name %placeholders))) (if known (cdr known) (ns-text (lookup name)))))

(define (%position text part from)
  (let ((last (- (string-length text) (string-length part))))
    (let loop ((i from))
      (cond ((> i last) #f)
            ((string=? (substring text i (+ i (string-length part))) part) i)
            (else (loop (+ i 1)))))))

;; Operators.

;;; Returns whether a value counts as true.
(define (ns-true? value)
  (not (or (memq value '(#f null)) (and (flonum? value) (= value 0.0)) (equal? value "")
           (equal? value #()) (and (dictionary? value) (= (dictionary-count value) 0)))))

(define (ns-and a b) (and (ns-true? a) (ns-true? b)))
(define (ns-or a b) (or (ns-true? a) (ns-true? b)))
(define (ns-not a) (not (ns-true? a)))

(define (%bad-operands operator a b)
  (ns-error 6
    (string-append "operator '" operator "' cannot be applied to " (ns-type a) " and "
      (ns-type b))))

(define (%with-numbers operator a b compute)
  (let ((x (%numeric a)) (y (%numeric b)))
    (if (and x y) (compute x y) (%bad-operands operator a b))))

(define (%join a b)
  (%check-length (+ (string-length a) (string-length b)))
  (string-append a b))

(define (ns-add a b)
  (let ((x (%numeric a)) (y (%numeric b)))
    (cond ((and x y) (+ x y))
          ((or (string? a) (string? b)) (%join (ns-text a) (ns-text b)))
          (else (%bad-operands "+" a b)))))

(define (ns-subtract a b) (%with-numbers "-" a b -))

(define (ns-multiply a b)
  (let ((x (%numeric a)) (y (%numeric b)))
    (cond ((and x y) (* x y))
          ((and (string? a) y) (%repeated a b))
          ((and (string? b) x) (%repeated b a))
          (else (%bad-operands "*" a b)))))

(define (%repeated text count)
  (let ((count (%integral count)))
    (if (not (and count (>= count 0)))
        (ns-error 6 "operator '*' repeats a string an integer number of times"))
    (%check-length (* count (string-length text)))
    (if (string=? text "")
        ""
        (let ((port (open-output-string)))
          (do ((i 0 (+ i 1))) ((= i count) (get-output-string port)) (write-string text port))))))

(define (ns-divide a b)
  (%with-numbers "/" a b
    (lambda (x y) (if (= y 0.0) (ns-error 14 "division by zero") (/ x y)))))

(define (%with-integers operator a b compute)
  (let ((x (%integral a)) (y (%integral b)))
    (if (and x y)
        (inexact (compute x y))
        (ns-error 6 (string-append "operator '" operator "' needs integers, got " (ns-type a)
                      " and " (ns-type b))))))

(define (ns-remainder a b)
  (%with-integers "%" a b
    (lambda (x y) (if (= y 0) (ns-error 14 "modulo by zero") (truncate-remainder x y)))))

(define (ns-power a b)
  (%with-numbers "**" a b (lambda (x y) (%real (expt x y)))))

;;; Mathematics of real numbers: what has no real result is not a number.
(define (%real value) (if (real? value) (inexact value) +nan.0))

(define (ns-bit-and a b) (%with-integers "&" a b bitwise-and))
(define (ns-bit-or a b) (%with-integers "|" a b bitwise-ior))
(define (ns-bit-xor a b) (%with-integers "^" a b bitwise-xor))

(define (ns-bit-not a)
  (let ((x (%integral a)))
    (if x (inexact (- -1 x)) (ns-error 6 "operator '~' needs an integer"))))

(define (ns-negate a)
  (let ((x (%numeric a)))
    (if x (- x) (ns-error 6 (string-append "operator '-' needs a number, got " (ns-type a))))))

(define (ns-equal? a b)
  (let ((x (%numeric a)) (y (%numeric b)))
    (if (and x y) (= x y) (%same? a b))))

;;; Compares parts of values, among which a number equals no text.
(define (%same? a b)
  (cond
    ((and (flonum? a) (flonum? b)) (= a b))
    ((and (vector? a) (vector? b))
     (and (= (vector-length a) (vector-length b))
          (let loop ((i 0))
            (or (= i (vector-length a))
                (and (%same? (vector-ref a i) (vector-ref b i)) (loop (+ i 1)))))))
    ((and (dictionary? a) (dictionary? b))
     (and (= (dictionary-count a) (dictionary-count b))
          (let loop ((entries (dictionary->alist a)))
            (or (null? entries)
                (and (dictionary-contains? b (caar entries))
                     (%same? (cdar entries) (dictionary-ref b (caar entries) #f))
                     (loop (cdr entries)))))))
    (else (equal? a b))))

(define (ns-unequal? a b) (not (ns-equal? a b)))
(define (ns-less? a b) (%with-numbers "<" a b <))
(define (ns-greater? a b) (%with-numbers ">" a b >))
(define (ns-at-most? a b) (%with-numbers "<=" a b <=))
(define (ns-at-least? a b) (%with-numbers ">=" a b >=))

;; Lists and maps.

(define (ns-list . items) (list->vector items))

;;; Returns the map of keys and values that alternate; a later key replaces an equal one.
(define (ns-map . keys-and-values)
  (let ((map (dictionary)))
    (let loop ((rest keys-and-values))
      (if (null? rest)
          map
          (begin
            (dictionary-set! map (ns-text (car rest)) (cadr rest))
            (loop (cddr rest)))))))

(define (%list-index index)
  (or (%integral index)
      (ns-error 7 (string-append "a list index must be an integer, got " (ns-type index)))))

(define (ns-element collection index)
  (cond
    ((vector? collection)
     (let ((i (%list-index index)))
       (if (< -1 i (vector-length collection))
           (vector-ref collection i)
           (ns-error 8 "list index out of bounds"))))
    ((dictionary? collection) (dictionary-ref collection (ns-text index) 'null))
    (else
     (ns-error 7 (string-append "cannot access elements on type " (ns-type collection))))))

;;; Returns a value whose element at a path is another one: `path` is a list of indices. A list
;;; replaces any other value if the index is a number, else a map does.
(define (ns-updated value path element)
  (cond
    ((null? path) element)
    ((vector? value)
     (let ((i (%list-index (car path))))
       (if (< i 0) (ns-error 8 "a list index cannot be negative"))
       (%check-length i)
       (let ((copy (make-vector (max (+ i 1) (vector-length value)) 'null)))
         (vector-copy! copy 0 value)
         (vector-set! copy i (ns-updated (vector-ref copy i) (cdr path) element))
         copy)))
    ((dictionary? value)
     (let* ((key (ns-text (car path))) (copy (dictionary-copy value)))
       (dictionary-set! copy key
         (ns-updated (dictionary-ref value key 'null) (cdr path) element))
       copy))
    ((and (flonum? (car path)) (%integral (car path))) (ns-updated #() path element))
    (else (ns-updated (dictionary) path element))))

;;; Returns the items of a list for several targets.
(define (ns-destructured value count)
  (cond ((not (vector? value)) (ns-error 7 "several targets need a list"))
        ((not (= (vector-length value) count))
         (ns-error 36
           (string-append (number->string count) " targets do not fit a list of "
             (number->string (vector-length value)))))
        (else (vector->list value))))

;;; Returns what `for each` runs over, as a list.
(define (ns-items value name)
  (cond ((vector? value) (vector->list value))
        ((string? value) (map string (string->list value)))
        ((eq? value 'null) '())
        (else
         (ns-error 7
           (string-append "cannot iterate over type " (ns-type value) " for FOR EACH " name)))))

;;; The maximum number of rounds of a loop.
(define %rounds-max 100000)

;;; Fails if a loop has had as many rounds as it may.
(define (ns-check-round round)
  (if (>= round %rounds-max) (ns-error 37 "exceeded max iterations (100000)")))

;; Statements and procedures.

(define (ns-must value) (if (ns-not value) (ns-error 6 "must condition evaluated to false")))

(define (ns-fail . value)
  (ns-error 1 (if (null? value) "fail statement executed" (ns-text (car value)))))

;;; Calls `thunk`; gives the code and the message of an error of the program to `handler`, and
;;; raises the error again, at the line where it was, unless the handler returns true.
(define (ns-try thunk handler line!)
  (let ((problem
          (guard (object ((and (condition? object)
                               (eq? (condition-kind object) 'neuroscript-error))
                          object))
            (thunk)
            #f)))
    (if problem
        (let ((line (line! #f)))
          (if (not (handler (inexact (car (condition-irritants problem)))
                     (condition-message problem)))
              (begin
                (line! line)
                (raise problem)))))))

(define (ns-no-procedure name)
  (ns-error 2 (string-append "procedure '" name "' not found")))

(define (ns-bad-count name)
  (ns-error 4 (string-append "procedure '" name "' takes one argument")))

(define (ns-length value)
  (inexact
    (cond ((string? value) (string-length value))
      ((vector? value) (vector-length value))
      ((dictionary? value) (dictionary-count value))
      ((eq? value 'null) 0)
      (else 1))))

;;; Returns a procedure of one real number.
(define (%of-real name compute)
  (lambda (value)
    (let ((x (%numeric value)))
      (if x
          (%real (compute x))
          (ns-error 6 (string-append "procedure '" name "' needs a number, got "
                        (ns-type value)))))))

(define (%log x) (cond ((= x 0.0) -inf.0) ((< x 0.0) +nan.0) (else (log x))))

;;; Base 10, exact for powers of ten.
(define (%log10 x)
  (if (and (> x 0.0) (< x +inf.0))
      (let* ((estimate (/ (log x) (log 10.0))) (nearest (round estimate)))
        (if (and (< (abs nearest) 309.0) (= (expt 10.0 nearest) x)) nearest estimate))
      (%log x)))

(define (%within-one compute) (lambda (x) (if (<= -1.0 x 1.0) (compute x) +nan.0)))

(define ns-ln (%of-real "ln" %log))
(define ns-log (%of-real "log" %log10))
(define ns-sin (%of-real "sin" sin))
(define ns-cos (%of-real "cos" cos))
(define ns-tan (%of-real "tan" tan))
(define ns-asin (%of-real "asin" (%within-one asin)))
(define ns-acos (%of-real "acos" (%within-one acos)))
(define ns-atan (%of-real "atan" atan))

;;; Procedures that tell the type of a value.
(define (ns-is-string? value) (string? value))
(define (ns-is-number? value) (flonum? value))
(define (ns-is-bool? value) (boolean? value))
(define (ns-is-list? value) (vector? value))
(define (ns-is-map? value) (dictionary? value))
(define (ns-is-nil? value) (eq? value 'null))
(define (ns-is-int? value) (and (flonum? value) (= value (truncate value))))
(define (ns-is-float? value) (and (flonum? value) (not (= value (truncate value)))))

;; Values at the edge.

;;; Returns the value for a tool: integral numbers are exact, maps have symbols as keys.
(define (ns->value value)
  (cond
    ((flonum? value)
     (if (and (< (abs value) 9007199254740992.0) (= value (floor value))) (exact value) value))
    ((vector? value) (map ns->value (vector->list value)))
    ((dictionary? value)
     (let ((copy (dictionary)))
       (for-each (lambda (entry) (dictionary-set! copy (%key (car entry)) (ns->value (cdr entry))))
         (dictionary->alist value))
       copy))
    (else value)))

;;; A key that begins with a colon is a keyword, as in JSON texts that Duet reads.
(define (%key text)
  (if (and (< 1 (string-length text)) (char=? (string-ref text 0) #\:))
      (symbol->keyword (string->symbol (substring text 1 (string-length text))))
      (string->symbol text)))

;;; Returns the value of NeuroScript that a result of a tool is; raises an error of the program, of
;;; type, for what NeuroScript has not, such as a record.
(define (value->ns value)
  (cond
    ((number? value)
     (if (real? value) (inexact value) (ns-error 7 "a tool returned no real number")))
    ((or (string? value) (boolean? value)) value)
    ((eq? value 'null) 'null)
    ((symbol? value) (symbol->string value))
    ((keyword? value) (string-append ":" (symbol->string (keyword->symbol value))))
    ((or (null? value) (list? value)) (list->vector (map value->ns value)))
    ((vector? value) (vector-map value->ns value))
    ((dictionary? value)
     (let ((copy (dictionary)))
       (for-each
         (lambda (entry)
           (dictionary-set! copy (ns-text (value->ns (car entry))) (value->ns (cdr entry))))
         (dictionary->alist value))
       copy))
    (else (ns-error 7 "a tool returned a value that NeuroScript does not have"))))
