;;; Makes a procedure that compares two strings, or parts of them: the further arguments are start
;;; and end of the first, then of the second.
(define (%comparing holds?)
  (lambda (a b . range)
    (let* ((count (length range))
           (range-a (if (> count 2) (list (car range) (cadr range)) range))
           (range-b (if (> count 2) (cddr range) '())))
      (holds? (%part a range-a) (%part b range-b)))))

(define (%opposite holds?) (lambda (a b) (not (holds? a b))))

;;;> Returns whether two strings, or parts of them, have the same characters.
(define string= (%comparing string=?))
;;;> Returns whether two strings, or parts of them, differ.
(define string<> (%comparing (%opposite string=?)))
;;;> Returns whether the first string comes before the second.
(define string< (%comparing string<?))
;;;> Returns whether the first string comes after the second.
(define string> (%comparing string>?))
;;;> Returns whether the first string does not come after the second.
(define string<= (%comparing string<=?))
;;;> Returns whether the first string does not come before the second.
(define string>= (%comparing string>=?))
;;; Makes a predicate of two strings that ignores case, character by character: ß is not ss.
(define (%folding holds?)
  (lambda (a b) (holds? (string-map char-foldcase a) (string-map char-foldcase b))))

;;;> Like `string=`, ignoring case.
(define string-ci= (%comparing (%folding string=?)))
;;;> Like `string<>`, ignoring case.
(define string-ci<> (%comparing (%folding (%opposite string=?))))
;;;> Like `string<`, ignoring case.
(define string-ci< (%comparing (%folding string<?)))
;;;> Like `string>`, ignoring case.
(define string-ci> (%comparing (%folding string>?)))
;;;> Like `string<=`, ignoring case.
(define string-ci<= (%comparing (%folding string<=?)))
;;;> Like `string>=`, ignoring case.
(define string-ci>= (%comparing (%folding string>=?)))

;;; Makes a procedure that counts the characters that two strings have in common at their start.
(define (%common-prefix same?)
  (%comparing
    (lambda (a b)
      (let ((end (min (string-length a) (string-length b))))
        (let loop ((index 0))
          (if (and (< index end) (same? (string-ref a index) (string-ref b index)))
              (loop (+ index 1))
              index))))))

;;; Makes a procedure that counts the characters that two strings have in common at their end.
(define (%common-suffix same?)
  (%comparing
    (lambda (a b)
      (let loop ((i (- (string-length a) 1)) (j (- (string-length b) 1)) (count 0))
        (if (and (>= i 0) (>= j 0) (same? (string-ref a i) (string-ref b j)))
            (loop (- i 1) (- j 1) (+ count 1))
            count)))))

;;;> Returns the number of characters that two strings, or parts of them, have in common at their
;;;> start.
(define string-prefix-length (%common-prefix char=?))
;;;> Returns the number of characters that two strings, or parts of them, have in common at their
;;;> end.
(define string-suffix-length (%common-suffix char=?))
;;;> Like `string-prefix-length`, ignoring case.
(define string-prefix-length-ci (%common-prefix char-ci=?))
;;;> Like `string-suffix-length`, ignoring case.
(define string-suffix-length-ci (%common-suffix char-ci=?))

;;;> Returns whether the second string, or part of it, begins with the first, or part of it.
(define string-prefix? (%comparing (lambda (a b) (%string-prefix? a b))))
;;;> Returns whether the second string, or part of it, ends with the first, or part of it.
(define string-suffix? (%comparing (lambda (a b) (%string-suffix? a b))))
;;;> Like `string-prefix?`, ignoring case.
(define string-prefix-ci? (%comparing (%folding (lambda (a b) (%string-prefix? a b)))))
;;;> Like `string-suffix?`, ignoring case.
(define string-suffix-ci? (%comparing (%folding (lambda (a b) (%string-suffix? a b)))))

(define (%three-way common same? less?)
  (lambda (a b less equal greater . range)
    (let ((index (+ (if (pair? range) (car range) 0) (apply common a b range))))
      (cond ((apply same? a b range) (equal index))
            ((apply less? a b range) (less index))
            (else (greater index))))))

;;;> Calls one of three procedures with the index at which the strings, or parts of them, first
;;;> differ: the first if the first string is less, the second if they are equal, else the third.
(define string-compare (%three-way string-prefix-length string= string<))
;;;> Like `string-compare`, ignoring case.
(define string-compare-ci (%three-way string-prefix-length-ci string-ci= string-ci<))
