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
;;; Calls `use` with start and end of the parts of two strings, for a procedure that was called with
;;; these optional arguments.
(define (%with-parts procedure a b range use)
  (let ((both? (> (length range) 2)))
    (%range procedure (if both? (list (car range) (cadr range)) range) (string-length a)
      (lambda (start-a end-a)
        (%range procedure (if both? (cddr range) '()) (string-length b)
          (lambda (start-b end-b) (use start-a end-a start-b end-b)))))))

;;; Returns the indices at which parts of two strings first differ, as two values.
(define (%first-difference same? a i end-a b j end-b)
  (if (and (< i end-a) (< j end-b) (same? (string-ref a i) (string-ref b j)))
      (%first-difference same? a (+ i 1) end-a b (+ j 1) end-b)
      (values i j)))

;;; Makes a procedure that counts the characters that two strings have in common at their start.
(define (%common-prefix procedure same?)
  (lambda (a b . range)
    (%with-parts procedure a b range
      (lambda (start-a end-a start-b end-b)
        (call-with-values (lambda () (%first-difference same? a start-a end-a b start-b end-b))
          (lambda (i j) (- i start-a)))))))

;;; Makes a procedure that counts the characters that two strings have in common at their end.
(define (%common-suffix procedure same?)
  (lambda (a b . range)
    (%with-parts procedure a b range
      (lambda (start-a end-a start-b end-b)
        (let loop ((i (- end-a 1)) (j (- end-b 1)))
          (if (and (>= i start-a) (>= j start-b) (same? (string-ref a i) (string-ref b j)))
              (loop (- i 1) (- j 1))
              (- end-a 1 i)))))))

;;;> Returns the number of characters that two strings, or parts of them, have in common at their
;;;> start.
(define string-prefix-length (%common-prefix 'string-prefix-length char=?))
;;;> Returns the number of characters that two strings, or parts of them, have in common at their
;;;> end.
(define string-suffix-length (%common-suffix 'string-suffix-length char=?))
;;;> Like `string-prefix-length`, ignoring case.
(define string-prefix-length-ci (%common-prefix 'string-prefix-length-ci char-ci=?))
;;;> Like `string-suffix-length`, ignoring case.
(define string-suffix-length-ci (%common-suffix 'string-suffix-length-ci char-ci=?))

;;; Makes a predicate of two strings that have all of the first, or of the part of it, in common.
(define (%all-in-common common)
  (lambda (a b . range)
    (let ((start (if (pair? range) (car range) 0))
          (end (if (and (pair? range) (pair? (cdr range))) (cadr range) (string-length a))))
      (= (apply common a b range) (- end start)))))

;;;> Returns whether the second string, or part of it, begins with the first, or part of it.
(define string-prefix?
  (let ((of-parts? (%all-in-common (%common-prefix 'string-prefix? char=?))))
    (lambda (a b . range) (if (null? range) (%string-prefix? a b) (apply of-parts? a b range)))))
;;;> Returns whether the second string, or part of it, ends with the first, or part of it.
(define string-suffix?
  (let ((of-parts? (%all-in-common (%common-suffix 'string-suffix? char=?))))
    (lambda (a b . range) (if (null? range) (%string-suffix? a b) (apply of-parts? a b range)))))
;;;> Like `string-prefix?`, ignoring case.
(define string-prefix-ci? (%all-in-common (%common-prefix 'string-prefix-ci? char-ci=?)))
;;;> Like `string-suffix?`, ignoring case.
(define string-suffix-ci? (%all-in-common (%common-suffix 'string-suffix-ci? char-ci=?)))

;;; Makes a procedure that calls one of three others with the index at which two strings first
;;; differ.
(define (%three-way procedure same? before?)
  (lambda (a b less equal greater . range)
    (%with-parts procedure a b range
      (lambda (start-a end-a start-b end-b)
        (call-with-values (lambda () (%first-difference same? a start-a end-a b start-b end-b))
          (lambda (i j)
            (cond ((= j end-b) ((if (= i end-a) equal greater) i))
                  ((or (= i end-a) (before? (string-ref a i) (string-ref b j))) (less i))
                  (else (greater i)))))))))

;;;> Calls one of three procedures with the index at which the strings, or parts of them, first
;;;> differ: the first if the first string is less, the second if they are equal, else the third.
(define string-compare (%three-way 'string-compare char=? char<?))
;;;> Like `string-compare`, ignoring case.
(define string-compare-ci (%three-way 'string-compare-ci char-ci=? char-ci<?))

;;; Makes a predicate of two strings that ignores case, character by character: ß is not ss.
(define (%folding procedure less equal greater)
  (let ((order (%three-way procedure char-ci=? char-ci<?)))
    (lambda (a b . range)
      (apply order
             a
             b
             (lambda (index) less)
             (lambda (index) equal)
             (lambda (index) greater)
             range))))

;;;> Like `string=`, ignoring case.
(define string-ci= (%folding 'string-ci= #f #t #f))
;;;> Like `string<>`, ignoring case.
(define string-ci<> (%folding 'string-ci<> #t #f #t))
;;;> Like `string<`, ignoring case.
(define string-ci< (%folding 'string-ci< #t #f #f))
;;;> Like `string>`, ignoring case.
(define string-ci> (%folding 'string-ci> #f #f #t))
;;;> Like `string<=`, ignoring case.
(define string-ci<= (%folding 'string-ci<= #t #t #f))
;;;> Like `string>=`, ignoring case.
(define string-ci>= (%folding 'string-ci>= #f #t #t))
