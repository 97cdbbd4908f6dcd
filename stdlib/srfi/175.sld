;;; SRFI 175: ASCII. An argument is a character or its code, and the result is of the same kind.
(define-library (srfi 175)
  (export
    ascii-codepoint? ascii-bytevector? ascii-char? ascii-string? ascii-control? ascii-non-control?
    ascii-space-or-tab? ascii-whitespace?
    ascii-other-graphic? ascii-alphanumeric? ascii-alphabetic? ascii-numeric? ascii-upper-case?
    ascii-lower-case? ascii-digit-value ascii-upper-case-value ascii-lower-case-value
    ascii-nth-digit ascii-nth-upper-case ascii-nth-lower-case
    ascii-upcase ascii-downcase ascii-control->graphic ascii-graphic->control ascii-mirror-bracket
    ascii-ci=? ascii-ci<? ascii-ci>? ascii-ci<=? ascii-ci>=? ascii-string-ci=? ascii-string-ci<?
    ascii-string-ci>? ascii-string-ci<=? ascii-string-ci>=?)
  (on-demand)
  (import (scheme base))
  (begin
    (define (%code x) (if (char? x) (char->integer x) x))
    ;;; Converts a code to the kind of `like`; #f stays.
    (define (%like like code) (and code (if (char? like) (integer->char code) code)))
    (define (%within? first last) (lambda (x) (<= first (%code x) last)))

    ;;;> Returns whether an object is an integer from 0 to 127.
    (define (ascii-codepoint? object) (and (exact-integer? object) (<= 0 object 127)))
    ;;;> Returns whether an object is a character of ASCII.
    (define (ascii-char? object) (and (char? object) (<= (char->integer object) 127)))
    ;;;> Returns whether an object is a bytevector of bytes below 128.
    (define (ascii-bytevector? object)
      (and (bytevector? object)
           (let loop ((index 0))
             (or (= index (bytevector-length object))
                 (and (< (bytevector-u8-ref object index) 128) (loop (+ index 1)))))))
    ;;;> Returns whether an object is a string of characters of ASCII.
    (define (ascii-string? object)
      (and (string? object)
           (let loop ((index 0))
             (or (= index (string-length object))
                 (and (ascii-char? (string-ref object index)) (loop (+ index 1)))))))
    ;;;> Returns whether a character is a control character.
    (define (ascii-control? x) (let ((code (%code x))) (or (<= 0 code 31) (= code 127))))
    ;;;> Returns whether a character is a space or visible.
    (define ascii-non-control? (%within? 32 126))
    ;;;> Returns whether a character is a space or a tab.
    (define (ascii-space-or-tab? x) (and (memv (%code x) '(9 32)) #t))
    ;;;> Returns whether a character is white space.
    (define (ascii-whitespace? x) (let ((code (%code x))) (or (<= 9 code 13) (= code 32))))
    ;;;> Returns whether a character is visible and neither letter nor digit.
    (define (ascii-other-graphic? x)
      (let ((code (%code x)))
        (or (<= 33 code 47) (<= 58 code 64) (<= 91 code 96) (<= 123 code 126))))
    ;;;> Returns whether a character is a letter or a digit.
    (define (ascii-alphanumeric? x) (or (ascii-alphabetic? x) (ascii-numeric? x)))
    ;;;> Returns whether a character is a letter.
    (define (ascii-alphabetic? x) (or (ascii-upper-case? x) (ascii-lower-case? x)))
    ;;;> Returns whether a character is a digit.
    (define ascii-numeric? (%within? 48 57))
    ;;;> Returns whether a character is an upper-case letter.
    (define ascii-upper-case? (%within? 65 90))
    ;;;> Returns whether a character is a lower-case letter.
    (define ascii-lower-case? (%within? 97 122))

    (define (%value x first offset limit)
      (let ((place (- (%code x) first)))
        (and (<= 0 place) (< place (min limit (if (= first 48) 10 26))) (+ place offset))))
    ;;;> Returns the value of a digit below `limit`, or #f.
    (define (ascii-digit-value x limit) (%value x 48 0 limit))
    ;;;> Returns the index of one of the first `limit` upper-case letters, plus `offset`, or #f.
    (define (ascii-upper-case-value x offset limit) (%value x 65 offset limit))
    ;;;> Returns the index of one of the first `limit` lower-case letters, plus `offset`, or #f.
    (define (ascii-lower-case-value x offset limit) (%value x 97 offset limit))
    ;;;> Returns the digit with a value from 0 to 9, or #f.
    (define (ascii-nth-digit n) (and (<= 0 n 9) (integer->char (+ 48 n))))
    ;;;> Returns the upper-case letter at an index from 0, modulo 26.
    (define (ascii-nth-upper-case n) (integer->char (+ 65 (modulo n 26))))
    ;;;> Returns the lower-case letter at an index from 0, modulo 26.
    (define (ascii-nth-lower-case n) (integer->char (+ 97 (modulo n 26))))
    ;;;> Returns the upper-case form.
    (define (ascii-upcase x) (if (ascii-lower-case? x) (%like x (- (%code x) 32)) x))
    ;;;> Returns the lower-case form.
    (define (ascii-downcase x) (if (ascii-upper-case? x) (%like x (+ (%code x) 32)) x))
    ;;;> Returns the character that represents a control character after a circumflex, or #f.
    (define (ascii-control->graphic x)
      (let ((code (%code x)))
        (%like x (cond ((<= 0 code 31) (+ code 64)) ((= code 127) 63) (else #f)))))
    ;;;> Returns the control character that a character represents after a circumflex, or #f.
    (define (ascii-graphic->control x)
      (let ((code (%code x)))
        (%like x (cond ((<= 64 code 95) (- code 64)) ((= code 63) 127) (else #f)))))
    ;;;> Returns the matching bracket, or #f.
    (define (ascii-mirror-bracket x)
      (let ((pair (assv (%code x)
                    '((40 . 41) (41 . 40) (60 . 62) (62 . 60) (91 . 93) (93 . 91) (123 . 125)
                      (125 . 123)))))
        (%like x (and pair (cdr pair)))))

    (define (%folded x) (let ((code (%code x))) (if (<= 65 code 90) (+ code 32) code)))
    ;;;> Returns whether two characters are equal, ignoring case.
    (define (ascii-ci=? a b) (= (%folded a) (%folded b)))
    ;;;> Returns whether a character comes before another, ignoring case.
    (define (ascii-ci<? a b) (< (%folded a) (%folded b)))
    ;;;> Returns whether a character comes after another, ignoring case.
    (define (ascii-ci>? a b) (> (%folded a) (%folded b)))
    ;;;> Returns whether a character does not come after another, ignoring case.
    (define (ascii-ci<=? a b) (<= (%folded a) (%folded b)))
    ;;;> Returns whether a character does not come before another, ignoring case.
    (define (ascii-ci>=? a b) (>= (%folded a) (%folded b)))

    ;;; Returns a negative number, zero or a positive number if a string comes before, with or after
    ;;; another.
    (define (%compared a b)
      (let ((end (min (string-length a) (string-length b))))
        (let loop ((index 0))
          (if (= index end)
              (- (string-length a) (string-length b))
              (let ((difference (- (%folded (string-ref a index)) (%folded (string-ref b index)))))
                (if (= difference 0) (loop (+ index 1)) difference))))))
    ;;;> Returns whether two strings are equal, ignoring case of letters of ASCII.
    (define (ascii-string-ci=? a b) (= (%compared a b) 0))
    ;;;> Returns whether a string comes before another, ignoring case of letters of ASCII.
    (define (ascii-string-ci<? a b) (< (%compared a b) 0))
    ;;;> Returns whether a string comes after another, ignoring case of letters of ASCII.
    (define (ascii-string-ci>? a b) (> (%compared a b) 0))
    ;;;> Returns whether a string does not come after another, ignoring case of letters of ASCII.
    (define (ascii-string-ci<=? a b) (<= (%compared a b) 0))
    ;;;> Returns whether a string does not come before another, ignoring case of letters of ASCII.
    (define (ascii-string-ci>=? a b) (>= (%compared a b) 0))))
