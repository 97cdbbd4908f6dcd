;; Reading text: a recursive descent over a string port makes trees of formulas and evaluates them.
(import (scheme base) (scheme char) (scheme write))

(define (skip-blanks in)
  (let loop ()
    (let ((char (peek-char in)))
      (when (and (char? char) (char-whitespace? char))
        (read-char in)
        (loop)))))

;; Takes the next character if it is one of those in a string.
(define (taken in chars)
  (skip-blanks in)
  (let ((char (peek-char in)))
    (and (char? char) (memv char chars) (read-char in))))

(define (number in)
  (let loop ((value 0))
    (let ((char (peek-char in)))
      (if (and (char? char) (char-numeric? char))
          (loop (+ (* value 10) (digit-value (read-char in))))
          value))))

(define (name in)
  (let loop ((chars '()))
    (let ((char (peek-char in)))
      (if (and (char? char) (or (char-alphabetic? char) (char-numeric? char)))
          (loop (cons (read-char in) chars))
          (string->symbol (list->string (reverse chars)))))))

(define (factor in)
  (skip-blanks in)
  (let ((char (peek-char in)))
    (cond ((eof-object? char) (error "the formula ends too early"))
          ((taken in '(#\())
           (let ((tree (formula in)))
             (unless (taken in '(#\))) (error "no closing parenthesis"))
             tree))
          ((taken in '(#\-)) (list 'negative (factor in)))
          ((char-numeric? char) (number in))
          ((char-alphabetic? char) (name in))
          (else (error "no formula begins so" char)))))

(define (chain in part operators)
  (let loop ((tree (part in)))
    (let ((operator (taken in operators)))
      (if operator
          (loop (list (string->symbol (string operator)) tree (part in)))
          tree))))

(define (term in) (chain in factor '(#\* #\%)))
(define (formula in) (chain in term '(#\+ #\-)))

(define (value tree names)
  (cond ((number? tree) tree)
        ((symbol? tree) (cdr (assq tree names)))
        (else
         (let ((first (value (cadr tree) names)))
           (case (car tree)
             ((negative) (- first))
             ((+) (+ first (value (list-ref tree 2) names)))
             ((-) (- first (value (list-ref tree 2) names)))
             ((*) (* first (value (list-ref tree 2) names)))
             (else (modulo first (value (list-ref tree 2) names))))))))

(define text
  "17 + alpha * (beta - 4 * -gamma1) % 1009 - (delta + (12 * (3 + alpha)) * 2) % 97 + 1 * 2 * 3 * 4 - beta")

(define (main)
  (let ((names '((alpha . 12) (beta . 345) (gamma1 . 678) (delta . 9))))
    (let repeat ((rounds 15000) (answer 0))
      (cond ((> rounds 0)
             (repeat (- rounds 1) (+ answer (value (formula (open-input-string text)) names))))
            ((= answer (* 15000 -22)) (display "parse ok"))
            (else (error "parse is wrong" answer)))))
  (newline))

(main)
