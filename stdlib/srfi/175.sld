;;; SRFI 175: ASCII. Where a character is asked for, its code will do, and the answer is of the same kind.
(define-library (srfi 175)
  (export
    ascii-codepoint? ascii-bytevector? ascii-char? ascii-string? ascii-control? ascii-non-control? ascii-space-or-tab? ascii-whitespace?
    ascii-other-graphic? ascii-alphanumeric? ascii-alphabetic? ascii-numeric? ascii-upper-case? ascii-lower-case?
    ascii-digit-value ascii-upper-case-value ascii-lower-case-value ascii-nth-digit ascii-nth-upper-case ascii-nth-lower-case
    ascii-upcase ascii-downcase ascii-control->graphic ascii-graphic->control ascii-mirror-bracket
    ascii-ci=? ascii-ci<? ascii-ci>? ascii-ci<=? ascii-ci>=? ascii-string-ci=? ascii-string-ci<? ascii-string-ci>? ascii-string-ci<=? ascii-string-ci>=?)
  (on-demand)
  (import (scheme base))
  (begin
    (define (%code x) (if (char? x) (char->integer x) x))
    ;;; A code as what `like` is, or #f.
    (define (%like like code) (and code (if (char? like) (integer->char code) code)))
    (define (%within? first last) (lambda (x) (<= first (%code x) last)))

    ;;;> Whether an object is an integer from 0 to 127.
    (define (ascii-codepoint? object) (and (exact-integer? object) (<= 0 object 127)))
    ;;;> Whether an object is a character of ASCII.
    (define (ascii-char? object) (and (char? object) (<= (char->integer object) 127)))
    ;;;> Whether an object is a bytevector of bytes below 128.
    (define (ascii-bytevector? object)
      (and (bytevector? object)
           (let loop ((index 0))
             (or (= index (bytevector-length object))
                 (and (< (bytevector-u8-ref object index) 128) (loop (+ index 1)))))))
    ;;;> Whether an object is a string of characters of ASCII.
    (define (ascii-string? object)
      (and (string? object)
           (let loop ((index 0))
             (or (= index (string-length object))
                 (and (ascii-char? (string-ref object index)) (loop (+ index 1)))))))
    ;;;> Whether a character is a control character.
    (define (ascii-control? x) (let ((code (%code x))) (or (<= 0 code 31) (= code 127))))
    ;;;> Whether a character is a space or leaves ink.
    (define ascii-non-control? (%within? 32 126))
    ;;;> Whether a character is a space or a tab.
    (define (ascii-space-or-tab? x) (and (memv (%code x) '(9 32)) #t))
    ;;;> Whether a character is white space.
    (define (ascii-whitespace? x) (let ((code (%code x))) (or (<= 9 code 13) (= code 32))))
    ;;;> Whether a character leaves ink and is neither letter nor digit.
    (define (ascii-other-graphic? x)
      (let ((code (%code x))) (or (<= 33 code 47) (<= 58 code 64) (<= 91 code 96) (<= 123 code 126))))
    ;;;> Whether a character is a letter or a digit.
    (define (ascii-alphanumeric? x) (or (ascii-alphabetic? x) (ascii-numeric? x)))
    ;;;> Whether a character is a letter.
    (define (ascii-alphabetic? x) (or (ascii-upper-case? x) (ascii-lower-case? x)))
    ;;;> Whether a character is a digit.
    (define ascii-numeric? (%within? 48 57))
    ;;;> Whether a character is an upper-case letter.
    (define ascii-upper-case? (%within? 65 90))
    ;;;> Whether a character is a lower-case letter.
    (define ascii-lower-case? (%within? 97 122))

    (define (%value x first offset limit)
      (let ((place (- (%code x) first)))
        (and (<= 0 place) (< place (min limit (if (= first 48) 10 26))) (+ place offset))))
    ;;;> The value of a digit below `limit`, or #f.
    (define (ascii-digit-value x limit) (%value x 48 0 limit))
    ;;;> The place of one of the first `limit` upper-case letters, from `offset` on, or #f.
    (define (ascii-upper-case-value x offset limit) (%value x 65 offset limit))
    ;;;> The place of one of the first `limit` lower-case letters, from `offset` on, or #f.
    (define (ascii-lower-case-value x offset limit) (%value x 97 offset limit))
    ;;;> The digit of a value from 0 to 9, or #f.
    (define (ascii-nth-digit n) (and (<= 0 n 9) (integer->char (+ 48 n))))
    ;;;> The upper-case letter at a place, counted from 0 and around.
    (define (ascii-nth-upper-case n) (integer->char (+ 65 (modulo n 26))))
    ;;;> The lower-case letter at a place, counted from 0 and around.
    (define (ascii-nth-lower-case n) (integer->char (+ 97 (modulo n 26))))
    ;;;> The upper-case form.
    (define (ascii-upcase x) (if (ascii-lower-case? x) (%like x (- (%code x) 32)) x))
    ;;;> The lower-case form.
    (define (ascii-downcase x) (if (ascii-upper-case? x) (%like x (+ (%code x) 32)) x))
    ;;;> The character that stands for a control character behind a circumflex, or #f.
    (define (ascii-control->graphic x)
      (let ((code (%code x)))
        (%like x (cond ((<= 0 code 31) (+ code 64)) ((= code 127) 63) (else #f)))))
    ;;;> The control character that a character stands for behind a circumflex, or #f.
    (define (ascii-graphic->control x)
      (let ((code (%code x)))
        (%like x (cond ((<= 64 code 95) (- code 64)) ((= code 63) 127) (else #f)))))
    ;;;> The bracket that belongs to a bracket, or #f.
    (define (ascii-mirror-bracket x)
      (let ((pair (assv (%code x) '((40 . 41) (41 . 40) (60 . 62) (62 . 60) (91 . 93) (93 . 91) (123 . 125) (125 . 123)))))
        (%like x (and pair (cdr pair)))))

    (define (%folded x) (let ((code (%code x))) (if (<= 65 code 90) (+ code 32) code)))
    ;;;> Whether two characters are equal, whatever their case.
    (define (ascii-ci=? a b) (= (%folded a) (%folded b)))
    ;;;> Whether a character comes before another, whatever their case.
    (define (ascii-ci<? a b) (< (%folded a) (%folded b)))
    ;;;> Whether a character comes after another, whatever their case.
    (define (ascii-ci>? a b) (> (%folded a) (%folded b)))
    ;;;> Whether a character does not come after another, whatever their case.
    (define (ascii-ci<=? a b) (<= (%folded a) (%folded b)))
    ;;;> Whether a character does not come before another, whatever their case.
    (define (ascii-ci>=? a b) (>= (%folded a) (%folded b)))

    ;;; Negative, zero or positive as a string comes before, with or after another.
    (define (%compared a b)
      (let ((end (min (string-length a) (string-length b))))
        (let loop ((index 0))
          (if (= index end)
              (- (string-length a) (string-length b))
              (let ((difference (- (%folded (string-ref a index)) (%folded (string-ref b index)))))
                (if (= difference 0) (loop (+ index 1)) difference))))))
    ;;;> Whether two strings are equal, whatever the case of letters of ASCII.
    (define (ascii-string-ci=? a b) (= (%compared a b) 0))
    ;;;> Whether a string comes before another, whatever the case of letters of ASCII.
    (define (ascii-string-ci<? a b) (< (%compared a b) 0))
    ;;;> Whether a string comes after another, whatever the case of letters of ASCII.
    (define (ascii-string-ci>? a b) (> (%compared a b) 0))
    ;;;> Whether a string does not come after another, whatever the case of letters of ASCII.
    (define (ascii-string-ci<=? a b) (<= (%compared a b) 0))
    ;;;> Whether a string does not come before another, whatever the case of letters of ASCII.
    (define (ascii-string-ci>=? a b) (>= (%compared a b) 0))))
