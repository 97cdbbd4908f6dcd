;;; Regular expressions of ECMA-262, as JSON Schema uses them, in the form of SRFI 115. They are
;;; those with the flag `u`: an escaped punctuation mark stands for itself, whatever it is. Property
;;; escapes are limited to `%properties`.

(define %word-set
  (char-set-union (ucs-range->char-set 48 58) (ucs-range->char-set 65 91)
    (ucs-range->char-set 97 123)
    (char-set #\_)))

(define %digit-set (ucs-range->char-set 48 58))

(define %line-ends (char-set #\newline #\return #\x2028 #\x2029))

;;; The white space of ECMA-262: that of Unicode without U+0085, and the byte order mark.
(define %space-set
  (char-set-adjoin (char-set-delete char-set:whitespace #\x85) #\xfeff))

(define %properties
  `(("L" . ,char-set:letter) ("Letter" . ,char-set:letter)
    ("Nd" . ,char-set:digit) ("Decimal_Number" . ,char-set:digit)
    ("P" . ,char-set:punctuation) ("Punctuation" . ,char-set:punctuation)
    ("S" . ,char-set:symbol) ("Symbol" . ,char-set:symbol)
    ("White_Space" . ,char-set:whitespace) ("Any" . ,char-set:full) ("ASCII" . ,char-set:ascii)))

(define %word-boundary
  `(or (: (neg-look-behind ,%word-set) (look-ahead ,%word-set))
       (: (look-behind ,%word-set) (neg-look-ahead ,%word-set))))

(define %no-word-boundary
  `(or (: (neg-look-behind ,%word-set) (neg-look-ahead ,%word-set))
       (: (look-behind ,%word-set) (look-ahead ,%word-set))))

;;; Returns the regular expression of a pattern; `fail` receives the reason why it has none.
;;; Source: ECMA-262, section 22.2.1.
(define (%pattern->regexp pattern fail)
  (define end (string-length pattern))
  (define at 0)
  (define refers-back #f)

  (define (peek) (and (< at end) (string-ref pattern at)))
  (define (next? char) (eqv? (peek) char))
  (define (take) (let ((char (peek))) (set! at (+ at 1)) char))
  (define (wrong message)
    (fail (string-append message " at position " (number->string at) " of the pattern")))
  (define (need char)
    (if (next? char) (take) (wrong (string-append "`" (string char) "` is missing"))))
  (define (ahead? text)
    (let ((stop (+ at (string-length text))))
      (and (<= stop end) (string=? (substring pattern at stop) text))))
  (define (pass text) (set! at (+ at (string-length text))))

  (define (alternatives)
    (let loop ((branches (list (branch))))
      (cond ((next? #\|) (take) (loop (cons (branch) branches)))
            ((null? (cdr branches)) (car branches))
            (else (cons 'or (reverse branches))))))

  (define (branch)
    (let loop ((terms '()))
      (if (or (not (peek)) (memv (peek) '(#\| #\))))
          (cons ': (reverse terms))
          (loop (cons (term) terms)))))

  (define (term)
    (let ((char (take)))
      (case char
        ((#\^) 'bos)
        ((#\$) 'eos)
        ((#\() (group))
        ((#\.) (quantified (char-set-complement %line-ends)))
        ((#\[) (quantified (class)))
        ((#\\) (escaped-term))
        ((#\* #\+ #\? #\{ #\} #\])
         (wrong (string-append "`" (string char) "` has nothing to repeat or close")))
        (else (quantified (char-set char))))))

  (define (group)
    (cond ((ahead? "?:") (pass "?:") (quantified (closed (alternatives))))
          ((ahead? "?=") (pass "?=") (list 'look-ahead (closed (alternatives))))
          ((ahead? "?!") (pass "?!") (list 'neg-look-ahead (closed (alternatives))))
          ((ahead? "?<=") (pass "?<=") (list 'look-behind (closed (alternatives))))
          ((ahead? "?<!") (pass "?<!") (list 'neg-look-behind (closed (alternatives))))
          ((ahead? "?<")
           (pass "?<")
           (let ((name (name-until #\>))) (quantified (list '-> name (closed (alternatives))))))
          ((ahead? "?") (wrong "a group of this kind does not exist"))
          (else (quantified (list '$ (closed (alternatives)))))))

  (define (closed sre) (need #\)) sre)

  (define (text-until char)
    (let ((stop (string-index pattern char at)))
      (if (not stop) (wrong (string-append "`" (string char) "` is missing")))
      (let ((text (substring pattern at stop)))
        (set! at (+ stop 1))
        text)))

  (define (name-until char) (string->symbol (text-until char)))

  (define (quantified sre)
    (let ((repeated
            (cond ((next? #\*) (take) (list '* sre))
                  ((next? #\+) (take) (list '+ sre))
                  ((next? #\?) (take) (list '? sre))
                  ((next? #\{) (take) (counted sre))
                  (else #f))))
      (cond ((not repeated) sre)
            ((next? #\?) (take) repeated)
            (else repeated))))

  (define (counted sre)
    (let* ((least (count))
           (most (cond ((not (next? #\,)) least)
                       (else (take) (if (next? #\}) #f (count))))))
      (need #\})
      (if (and most (< most least)) (wrong "a repetition has its larger number first"))
      (if most (list '** least most sre) (list '>= least sre))))

  (define (count)
    (let loop ((n #f))
      (let ((digit (and (peek) (%digit (peek)))))
        (cond (digit (take) (loop (+ (* 10 (or n 0)) digit)))
              ((not n) (wrong "a number is missing"))
              ((> n 1000) (wrong "more than 1000 repetitions are counted"))
              (else n)))))

  (define (escaped-term)
    (let ((char (peek)))
      (cond ((eqv? char #\b) (take) %word-boundary)
            ((eqv? char #\B) (take) %no-word-boundary)
            ((eqv? char #\k)
             (take)
             (need #\<)
             (set! refers-back #t)
             (quantified (list 'backref (name-until #\>))))
            ((and char (char<=? #\1 char #\9))
             (set! refers-back #t)
             (quantified (list 'backref (count))))
            (else (quantified (escaped-set))))))

  ;; Reads what follows a backslash; returns a set of characters.
  (define (escaped-set)
    (let ((char (take)))
      (case char
        ((#\d) %digit-set)
        ((#\D) (char-set-complement %digit-set))
        ((#\w) %word-set)
        ((#\W) (char-set-complement %word-set))
        ((#\s) %space-set)
        ((#\S) (char-set-complement %space-set))
        ((#\p) (property))
        ((#\P) (char-set-complement (property)))
        ((#\t) (char-set #\tab))
        ((#\n) (char-set #\newline))
        ((#\r) (char-set #\return))
        ((#\f) (char-set #\page))
        ((#\v) (char-set #\x0b))
        ((#\0) (char-set #\null))
        ((#\c)
         (let ((letter (or (take) (wrong "a letter is missing"))))
           (char-set (integer->char (remainder (char->integer letter) 32)))))
        ((#\x) (char-set (character (hexadecimal 2))))
        ((#\u) (char-set (unicode)))
        ((#f) (wrong "a backslash is at the end"))
        (else
         (if (or (char-alphabetic? char) (char-numeric? char))
             (wrong (string-append "the escape \\" (string char) " does not exist")))
         (char-set char)))))

  (define (property)
    (need #\{)
    (let* ((name (text-until #\})) (known (assoc name %properties)))
      (if known
          (cdr known)
          (wrong (string-append "the property " name " is not one of "
                   (string-join (map car %properties) ", "))))))

  (define (hexadecimal count)
    (let loop ((count count) (code 0))
      (let ((digit (and (> count 0) (peek) (%hex-digit (peek)))))
        (cond ((= count 0) code)
              (digit (take) (loop (- count 1) (+ (* 16 code) digit)))
              (else (wrong "a hexadecimal digit is missing"))))))

  (define (unicode)
    (if (next? #\{)
        (let ((code (begin (take) (string->number (text-until #\}) 16))))
          (character (or code (wrong "hexadecimal digits are missing"))))
        (let ((code (hexadecimal 4)))
          (if (and (<= #xd800 code #xdbff) (ahead? "\\u"))
              (begin
                (pass "\\u")
                (character (+ #x10000 (* (- code #xd800) 1024) (- (hexadecimal 4) #xdc00))))
              (character code)))))

  (define (character code)
    (if (and (exact-integer? code) (or (<= 0 code #xd7ff) (<= #xe000 code #x10ffff)))
        (integer->char code)
        (wrong "an escape names no character")))

  ;; Reads a class behind its bracket.
  (define (class)
    (let* ((is-negated (and (next? #\^) (take) #t))
           (set (let loop ((set char-set:empty))
                  (if (next? #\])
                      (begin (take) set)
                      (loop (char-set-union set (class-part)))))))
      (if is-negated (char-set-complement set) set)))

  (define (class-part)
    (let ((low (class-atom)))
      (if (and (next? #\-) (not (ahead? "-]")))
          (let* ((high (begin (take) (class-atom)))
                 (from (the-only low))
                 (to (the-only high)))
            (if (char<? to from) (wrong "a range has its larger character first"))
            (ucs-range->char-set (char->integer from) (+ (char->integer to) 1)))
          low)))

  (define (class-atom)
    (let ((char (or (take) (wrong "`]` is missing"))))
      (cond ((not (char=? char #\\)) (char-set char))
            ((next? #\b) (take) (char-set #\backspace))
            (else (escaped-set)))))

  (define (the-only set)
    (if (= (char-set-size set) 1)
        (car (char-set->list set))
        (wrong "an end of a range is one character")))

  (let ((sre (alternatives)))
    (if (peek) (wrong "`)` closes nothing"))
    (guard (failure ((error-object? failure) (fail (error-object-message failure))))
      (regexp (if refers-back sre (list 'w/nocapture sre))))))
