(define (%range-of char) (let ((code (char->integer char))) (cons code code)))

;;;> Makes the set of the characters of a list, and of another set.
(define list->char-set
  (case-lambda
    ((chars) (%of-ranges (%normal (map %range-of chars))))
    ((chars set) (%union (list->char-set chars) set))))

;;;> Makes the set of the characters of a string, and of another set.
(define (string->char-set string . set) (apply list->char-set (string->list string) set))

;;;> Makes the set of the arguments.
(define (char-set . chars) (list->char-set chars))

;;;> Makes the set of the characters with code points from `start` up to `end`, exclusive, and of
;;;> another set.
(define (ucs-range->char-set start end . options)
  (if (not (<= 0 start end))
      (%out-of-range 'ucs-range->char-set "expected 0 <= start <= end" start end))
  (let ((range (%of-ranges (if (< start end) (%common %all (list (cons start (- end 1)))) '()))))
    (if (and (pair? options) (pair? (cdr options))) (%union range (cadr options)) range)))

;;;> Returns the set of the characters of `set` that satisfy a predicate, and of another set. Calls
;;;> the predicate with every character of `set` before it returns.
(define (char-set-filter wanted? set . base)
  (apply char-set-union (%of-ranges (%scan wanted? (%ranges set))) base))

;;;> Converts a set, a string, a character or a predicate to a set.
(define (->char-set object)
  (cond ((char-set? object) object)
        ((string? object) (string->char-set object))
        ((char? object) (char-set object))
        ((procedure? object) (%of-predicate object))
        (else
         (error "->char-set: expected a set of characters, a string, a character or a predicate"
                object))))

;;;> The empty set.
(define char-set:empty (%of-ranges '()))
;;;> The set of all characters.
(define char-set:full (%of-ranges %all))
;;; The characters of some general categories.
(define (%of-categories . categories)
  (%of-predicate (lambda (char) (and (memq (char-general-category char) categories) #t))))

;;;> The lower-case letters, general category Ll.
(define char-set:lower-case (%of-categories 'Ll))
;;;> The upper-case letters, general category Lu.
(define char-set:upper-case (%of-categories 'Lu))
;;;> The letters that are titlecase.
(define char-set:title-case (%of-categories 'Lt))
;;;> The letters, general categories L*; `char-alphabetic?` holds for some marks and numbers too.
(define char-set:letter (%of-categories 'Ll 'Lu 'Lt 'Lm 'Lo))
;;;> The decimal digits of all scripts.
(define char-set:digit (%of-predicate char-numeric?))
;;;> The letters and digits.
(define char-set:letter+digit (%union char-set:letter char-set:digit))
;;;> The characters that are white space: general categories Z*, and those from tab to carriage return.
(define char-set:whitespace (%union (%of-ranges '((9 . 13))) (%of-categories 'Zs 'Zl 'Zp)))
;;;> The control characters.
(define char-set:iso-control (%of-ranges '((0 . #x1F) (#x7F . #x9F))))
;;;> The punctuation.
(define char-set:punctuation (%of-categories 'Pc 'Pd 'Ps 'Pe 'Pi 'Pf 'Po))
;;;> The symbols.
(define char-set:symbol (%of-categories 'Sm 'Sc 'Sk 'So))
;;;> The hexadecimal digits of ASCII.
(define char-set:hex-digit (string->char-set "0123456789abcdefABCDEF"))
;;;> Horizontal white space.
(define char-set:blank (%union (char-set #\tab) (%of-categories 'Zs)))
;;;> The characters of ASCII.
(define char-set:ascii (%of-ranges '((0 . 127))))
;;;> The visible characters: letters, marks such as accents, numbers, punctuation, symbols.
(define char-set:graphic
  (char-set-union char-set:letter
                  (%of-categories 'Mn 'Mc 'Me 'Nd 'Nl 'No)
                  char-set:punctuation
                  char-set:symbol))
;;;> The visible characters, and white space.
(define char-set:printing (char-set-union char-set:graphic char-set:whitespace))

;;;> Combines the characters of a set, in order: `(combine char accumulated)`.
(define (char-set-fold combine initial set)
  (fold (lambda (range accumulated)
          (let loop ((code (car range)) (accumulated accumulated))
            (if (> code (cdr range))
                accumulated
                (loop (+ code 1) (combine (integer->char code) accumulated)))))
        initial
        (%ranges set)))

;;;> Returns a list of the characters of a set, in order.
(define (char-set->list set) (reverse (char-set-fold cons '() set)))

;;;> Returns a string of the characters of a set, in order.
(define (char-set->string set) (list->string (char-set->list set)))

;;;> Returns how many characters a set has.
(define (char-set-size set)
  (fold (lambda (range size) (+ size 1 (- (cdr range) (car range)))) 0 (%ranges set)))

;;;> Returns how many characters of a set satisfy a predicate.
(define (char-set-count wanted? set)
  (char-set-fold (lambda (char count) (if (wanted? char) (+ count 1) count)) 0 set))

;;;> Returns the first true value of a predicate for the characters of a set, or #f.
(define (char-set-any wanted? set)
  (let loop ((cursor (char-set-cursor set)))
    (and (not (end-of-char-set? cursor))
         (let ((next (char-set-cursor-next set cursor)))
           (if (end-of-char-set? next)
               (wanted? (char-set-ref set cursor))
               (or (wanted? (char-set-ref set cursor)) (loop next)))))))

;;;> Returns the last value of a predicate for the characters of a set if all are true, otherwise
;;;> #f.
(define (char-set-every wanted? set)
  (let loop ((cursor (char-set-cursor set)))
    (or (end-of-char-set? cursor)
        (let ((next (char-set-cursor-next set cursor)))
          (if (end-of-char-set? next)
              (wanted? (char-set-ref set cursor))
              (and (wanted? (char-set-ref set cursor)) (loop next)))))))

;;;> Calls `procedure` with each character of a set.
(define (char-set-for-each procedure set) (for-each procedure (char-set->list set)))

;;;> Returns the set of the values of `procedure` for the characters of a set.
(define (char-set-map procedure set) (list->char-set (map procedure (char-set->list set))))

;;;> Makes the set of the characters `(char seed)`, for seeds `(next seed)`, until `(stop? seed)`;
;;;> and of another set.
(define (char-set-unfold stop? char next seed . base)
  (let loop ((seed seed) (chars '()))
    (if (stop? seed)
        (apply list->char-set chars base)
        (loop (next seed) (cons (char seed) chars)))))

;;;> Returns the set itself, because sets are immutable.
(define (char-set-copy set) set)

;;;> Returns a set with more characters.
(define (char-set-adjoin set . chars) (list->char-set chars set))

;;;> Returns a set with fewer characters.
(define (char-set-delete set . chars) (char-set-difference set (list->char-set chars)))

;;; Returns whether every two neighbours in a list satisfy a relation.
(define (%neighbours holds? list)
  (or (null? list)
      (null? (cdr list))
      (and (holds? (car list) (cadr list)) (%neighbours holds? (cdr list)))))

;;; Returns the ranges of the sets that the procedure `name` has received.
(define (%all-ranges name sets)
  (map (lambda (set) (if (char-set? set) (%ranges set) (%wrong-type name "a char-set" set))) sets))

;;;> Returns whether all sets have the same characters.
(define (char-set= . sets) (%neighbours equal? (%all-ranges 'char-set= sets)))

;;;> Returns whether each set is included in the next.
(define (char-set<= . sets)
  (%neighbours (lambda (a b) (equal? (%common a b) a)) (%all-ranges 'char-set<= sets)))

;;;> Returns a hash that equal sets share; below `bound`, if given.
(define (char-set-hash set . bound)
  (let ((hash (%hash (%ranges set))))
    (if (and (pair? bound) (> (car bound) 0)) (modulo hash (car bound)) hash)))

;;; A cursor is the ranges of the characters from its place on.

;;;> Returns a cursor at the first character of a set.
(define (char-set-cursor set) (%ranges set))
;;;> Returns the character at a cursor.
(define (char-set-ref set cursor) (integer->char (car (car cursor))))
;;;> Returns the next cursor.
(define (char-set-cursor-next set cursor)
  (let ((first (car (car cursor))) (last (cdr (car cursor))))
    (if (= first last) (cdr cursor) (cons (cons (+ first 1) last) (cdr cursor)))))
;;;> Returns whether a cursor is after the last character.
(define (end-of-char-set? cursor) (null? cursor))
