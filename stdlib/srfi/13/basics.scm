;;; Returns the part of a string that optional start and end select.
(define (%part string range) (if (null? range) string (apply string-copy string range)))

;;; Returns the predicate of a criterion.
(define (%wanted criterion)
  (cond ((procedure? criterion) criterion)
        ((char? criterion) (lambda (char) (char=? char criterion)))
        ((char-set? criterion) (lambda (char) (char-set-contains? criterion char)))
        (else (error "expected a character, a set of characters or a predicate" criterion))))

;;;> Returns whether a string is empty.
(define (string-null? string) (= (string-length string) 0))

;;;> Returns the last value of a criterion for the characters if all are true, otherwise #f.
(define (string-every criterion string . range)
  (let ((wanted? (%wanted criterion)))
    (%range 'string-every range (string-length string)
      (lambda (start end)
        (let loop ((index start))
          (cond ((= index end) #t)
                ((= (+ index 1) end) (wanted? (string-ref string index)))
                (else (and (wanted? (string-ref string index)) (loop (+ index 1))))))))))

;;;> Returns the first true value of a criterion for the characters, or #f.
(define (string-any criterion string . range)
  (let ((wanted? (%wanted criterion)))
    (%range 'string-any range (string-length string)
      (lambda (start end)
        (let loop ((index start))
          (cond ((= index end) #f)
                ((= (+ index 1) end) (wanted? (string-ref string index)))
                (else (or (wanted? (string-ref string index)) (loop (+ index 1))))))))))

;;;> Returns the string of the values of `procedure` for the indices below `length`.
(define (string-tabulate procedure length)
  (%check-natural 'string-tabulate "length" length)
  (let loop ((index (- length 1)) (chars '()))
    (if (< index 0) (list->string chars) (loop (- index 1) (cons (procedure index) chars)))))

;;;> Returns a string of the characters of a list in reverse order.
(define (reverse-list->string chars) (list->string (reverse chars)))

;;;> Concatenates the strings of a list with `delimiter` between them; by `grammar` also after each
;;;> (`suffix`) or before each (`prefix`).
(define string-join
  (case-lambda
    ((strings) (string-join strings " "))
    ((strings delimiter) (string-join strings delimiter 'infix))
    ((strings delimiter grammar)
     (if (not (memq grammar '(infix strict-infix prefix suffix)))
         (error "string-join: there is no such grammar" grammar))
     (if (and (eq? grammar 'strict-infix) (null? strings))
         (error "string-join: there are no strings" strings))
     (let ((port (open-output-string)))
       (let loop ((rest strings))
         (if (not (null? rest))
             (begin
               (if (or (eq? grammar 'prefix)
                       (and (not (eq? grammar 'suffix)) (not (eq? rest strings))))
                   (write-string delimiter port))
               (write-string (car rest) port)
               (if (eq? grammar 'suffix) (write-string delimiter port))
               (loop (cdr rest)))))
       (get-output-string port)))))

;;;> Returns the characters from `start` up to but not including `end`.
(define (substring/shared string start . end) (apply string-copy string start end))
;;;> Returns the first `count` characters.
(define (string-take string count) (string-copy string 0 count))
;;;> Returns the string without its first `count` characters.
(define (string-drop string count) (string-copy string count))
;;;> Returns the last `count` characters.
(define (string-take-right string count) (string-copy string (- (string-length string) count)))
;;;> Returns the string without its last `count` characters.
(define (string-drop-right string count) (string-copy string 0 (- (string-length string) count)))

;;; Returns what a string lacks in length.
(define (%padding string length char) (make-string (max 0 (- length (string-length string))) char))

;;;> Returns the last `length` characters; pads a shorter string at the front with `char`, by
;;;> default a space.
(define string-pad
  (case-lambda
    ((string length) (string-pad string length #\space))
    ((string length char . range)
     (let* ((part (%part string range)) (padding (%padding part length char)))
       (if (string-null? padding) (string-take-right part length) (string-append padding part))))))

;;;> Returns the first `length` characters; pads a shorter string at the end with `char`, by default
;;;> a space.
(define string-pad-right
  (case-lambda
    ((string length) (string-pad-right string length #\space))
    ((string length char . range)
     (let* ((part (%part string range)) (padding (%padding part length char)))
       (if (string-null? padding) (string-take part length) (string-append part padding))))))

(define (%trimmed string options left? right?)
  (let* ((criterion (if (pair? options) (car options) char-whitespace?))
         (part (%part string (if (pair? options) (cdr options) '())))
         (start (if left? (string-skip part criterion) 0)))
    (if start
        (string-copy part
                     start
                     (if right? (+ (string-skip-right part criterion) 1) (string-length part)))
        "")))

;;;> Returns the string without the characters at its start that meet a criterion, by default white
;;;> space.
(define (string-trim string . options) (%trimmed string options #t #f))
;;;> Returns the string without the characters at its end that meet a criterion, by default white
;;;> space.
(define (string-trim-right string . options)
  (let* ((criterion (if (pair? options) (car options) char-whitespace?))
         (part (%part string (if (pair? options) (cdr options) '())))
         (last (string-skip-right part criterion)))
    (if last (string-copy part 0 (+ last 1)) "")))
;;;> Returns the string without the characters at both ends that meet a criterion, by default white
;;;> space.
(define (string-trim-both string . options) (%trimmed string options #t #t))

;;;> Returns the characters in reverse order.
(define (string-reverse string . range) (reverse-list->string (apply string->list string range)))
;;;> Concatenates the strings of a list.
(define (string-concatenate strings)
  (let ((port (open-output-string)))
    (for-each (lambda (string) (write-string string port)) strings)
    (get-output-string port)))
;;;> Concatenates the strings of a list in reverse order, and then the first `end` characters of
;;;> another.
(define string-concatenate-reverse
  (case-lambda
    ((strings) (string-concatenate (reverse strings)))
    ((strings final) (string-concatenate (reverse (cons final strings))))
    ((strings final end) (string-concatenate-reverse strings (string-take final end)))))

;;;> Returns the string in upper case, character by character: ß stays.
(define (string-upcase string . range) (apply string-map char-upcase string range))
;;;> Returns the string in lower case, character by character.
(define (string-downcase string . range) (apply string-map char-downcase string range))

(define (%cased? char)
  (or (char-lower-case? char)
      (char-upper-case? char)
      (char-set-contains? char-set:title-case char)))

;;; Returns the titlecase form of a character: the upper-case form, except of four Latin pairs of
;;; letters and in Georgian.
(define (%titlecase char)
  (let ((code (char->integer char)))
    (cond ((<= #x1C4 code #x1CC) (integer->char (+ #x1C5 (* 3 (quotient (- code #x1C4) 3)))))
          ((<= #x1F1 code #x1F3) #\x1F2)
          ((<= #x10D0 code #x10FF) char)
          (else (char-upcase char)))))

;;;> Returns the string with a letter in titlecase if the character before it has no case, otherwise
;;;> in lower case.
(define (string-titlecase string . range)
  (let loop ((chars (apply string->list string range)) (inside? #f) (result '()))
    (if (null? chars)
        (reverse-list->string result)
        (loop (cdr chars)
              (%cased? (car chars))
              (cons ((if inside? char-downcase %titlecase) (car chars)) result)))))

;;;> Returns the string of the values of `procedure` for the characters.
(define (string-map procedure string . range)
  (list->string (map procedure (apply string->list string range))))
;;;> Calls `procedure` for the characters in order.
(define (string-for-each procedure string . range)
  (for-each procedure (apply string->list string range)))
;;;> Calls `procedure` for the indices in order.
(define (string-for-each-index procedure string . range)
  (%range 'string-for-each-index range (string-length string)
    (lambda (start end) (do ((index start (+ index 1))) ((= index end)) (procedure index)))))
;;;> Combines the characters from the left: `(combine char accumulated)`.
(define (string-fold combine initial string . range)
  (fold combine initial (apply string->list string range)))
;;;> Combines the characters from the right: `(combine char accumulated)`.
(define (string-fold-right combine initial string . range)
  (fold combine initial (reverse (apply string->list string range))))

;;;> Makes a string from the front: `base`, characters `(char seed)` for seeds `(next seed)` until
;;;> `(stop? seed)`, and `(final seed)`.
(define string-unfold
  (case-lambda
    ((stop? char next seed) (string-unfold stop? char next seed ""))
    ((stop? char next seed base) (string-unfold stop? char next seed base (lambda (seed) "")))
    ((stop? char next seed base final)
     (let loop ((seed seed) (chars '()))
       (if (stop? seed)
           (string-append base (reverse-list->string chars) (final seed))
           (loop (next seed) (cons (char seed) chars)))))))

;;;> Makes a string from its end: `base`, before it characters `(char seed)` for seeds `(next seed)`
;;;> until `(stop? seed)`, and `(final seed)` at the front.
(define string-unfold-right
  (case-lambda
    ((stop? char next seed) (string-unfold-right stop? char next seed ""))
    ((stop? char next seed base) (string-unfold-right stop? char next seed base (lambda (seed) "")))
    ((stop? char next seed base final)
     (let loop ((seed seed) (chars '()))
       (if (stop? seed)
           (string-append (final seed) (list->string chars) base)
           (loop (next seed) (cons (char seed) chars)))))))

;;;> Returns the characters at indices from `from` up to `to`, exclusive, of the string repeated
;;;> infinitely in both directions.
(define xsubstring
  (case-lambda
    ((string from) (xsubstring string from (+ from (string-length string))))
    ((string from to . range)
     (let* ((part (%part string range)) (length (string-length part)))
       (if (> from to) (%out-of-range 'xsubstring "the end is before the start" from to))
       (if (and (= length 0) (not (= from to))) (error "xsubstring: the string is empty" string))
       (string-tabulate (lambda (index) (string-ref part (modulo (+ from index) length)))
                        (- to from))))))

;;;> Returns the first string with the characters from `start` up to but not including `end`
;;;> replaced by the second.
(define (string-replace string other start end . range)
  (%range 'string-replace (list start end) (string-length string)
    (lambda (start end)
      (string-append (string-take string start) (%part other range) (string-drop string end)))))
