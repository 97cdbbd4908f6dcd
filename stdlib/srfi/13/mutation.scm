;;; Procedures that change a string, or a part of it, in place.

;;; Replaces part of a string by the value of `change` for it, which has the same length.
(define (%change! string range change)
  (let* ((part (%part string range)) (changed (change part)))
    (if (not (= (string-length part) (string-length changed)))
        (error "the string would not have the same length" string))
    (string-copy! string (if (pair? range) (car range) 0) changed)))

;;;> Reverses the characters in place.
(define (string-reverse! string . range) (%change! string range string-reverse))
;;;> Replaces each character by its upper-case form.
(define (string-upcase! string . range) (%change! string range string-upcase))
;;;> Replaces each character by its lower-case form.
(define (string-downcase! string . range) (%change! string range string-downcase))
;;;> Makes the first letter of each word upper-case, the others lower-case.
(define (string-titlecase! string . range) (%change! string range string-titlecase))
;;;> Replaces each character by the value of `procedure` for it.
(define (string-map! procedure string . range)
  (%change! string range (lambda (part) (string-map procedure part))))

;;;> Like `xsubstring`, but writes the characters into `to` from the index `at` on.
(define string-xcopy!
  (case-lambda
    ((to at string from) (string-xcopy! to at string from (+ from (string-length string))))
    ((to at string from end . range)
     (string-copy! to at (apply xsubstring string from end range)))))
