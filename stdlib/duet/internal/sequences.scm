;;; Checks that a list ends here.
(define (%check-end procedure tail)
  (if (not (null? tail)) (%wrong-type procedure "a proper list" tail)))

;;; Checks that the rest of a list, where a procedure stops reading it, is a list so far.
(define (%check-rest procedure tail)
  (if (not (pair? tail)) (%check-end procedure tail)))

;;; Returns the first elements of lists, or #f if one of them has none.
(define (%cars lists)
  (let loop ((lists lists) (cars '()))
    (cond ((null? lists) (reverse cars))
          ((pair? (car lists)) (loop (cdr lists) (cons (car (car lists)) cars)))
          (else #f))))

(define (%cdrs lists)
  (let loop ((lists lists) (cdrs '()))
    (if (null? lists) (reverse cdrs) (loop (cdr lists) (cons (cdr (car lists)) cdrs)))))

;;;> Returns the list of the values of `procedure` for the elements of one or more lists, up to the
;;;> end of the shortest.
(define map
  (case-lambda
    ((procedure list)
     (let loop ((rest list))
       (if (pair? rest)
           (let ((first (procedure (car rest))))
             (cons first (loop (cdr rest))))
           (begin (%check-end 'map rest) '()))))
    ((procedure a b)
     (let loop ((a a) (b b))
       (if (and (pair? a) (pair? b))
           (let ((first (procedure (car a) (car b))))
             (cons first (loop (cdr a) (cdr b))))
           (begin (%check-rest 'map a) (%check-rest 'map b) '()))))
    ((procedure list . lists)
     (let loop ((lists (cons list lists)))
       (let ((cars (%cars lists)))
         (if cars
             (let ((first (apply procedure cars)))
               (cons first (loop (%cdrs lists))))
             (begin (%check-rests 'map lists) '())))))))

(define (%check-rests procedure lists)
  (for-each (lambda (rest) (%check-rest procedure rest)) lists))

;;;> Calls `procedure` for the elements of one or more lists in order, up to the end of the
;;;> shortest.
(define for-each
  (case-lambda
    ((procedure list)
     (let loop ((rest list))
       (if (pair? rest)
           (begin (procedure (car rest)) (loop (cdr rest)))
           (%check-end 'for-each rest))))
    ((procedure a b)
     (let loop ((a a) (b b))
       (if (and (pair? a) (pair? b))
           (begin (procedure (car a) (car b)) (loop (cdr a) (cdr b)))
           (begin (%check-rest 'for-each a) (%check-rest 'for-each b)))))
    ((procedure list . lists)
     (let loop ((lists (cons list lists)))
       (let ((cars (%cars lists)))
         (if cars
             (begin (apply procedure cars) (loop (%cdrs lists)))
             (%check-rests 'for-each lists)))))))

;;;> Returns the first tail of the list whose first element is the object, by `equal?` or another
;;;> predicate, or #f.
(define member
  (case-lambda
    ((object list) (%member object list))
    ((object list same?)
     (let loop ((rest list))
       (cond ((not (pair? rest)) (%check-end 'member rest) #f)
             ((same? object (car rest)) rest)
             (else (loop (cdr rest))))))))

;;;> Returns the first pair of the list whose car is the object, by `equal?` or another predicate,
;;;> or #f.
(define assoc
  (case-lambda
    ((object list) (%assoc object list))
    ((object list same?)
     (let loop ((rest list))
       (cond ((not (pair? rest)) (%check-end 'assoc rest) #f)
             ((same? object (car (car rest))) (car rest))
             (else (loop (cdr rest))))))))

(define (%shortest lengths)
  (apply min lengths))

;;; Returns the values of `procedure` for each index below `end`, as a list; safe against re-entry.
(define (%collect procedure end)
  (let loop ((index 0) (result '()))
    (if (< index end)
        (loop (+ index 1) (cons (procedure index) result))
        (reverse result))))

;;; Requires that a procedure was called with vectors.
(define (%check-vectors procedure vectors)
  (for-each (lambda (vector) (%check-vector procedure vector)) vectors))

(define (%check-vector procedure object)
  (if (not (vector? object)) (%wrong-type procedure "a vector" object)))

;;; Requires that a procedure was called with strings.
(define (%check-strings procedure strings)
  (for-each (lambda (string) (%check-string procedure string)) strings))

(define (%check-string procedure object)
  (if (not (string? object)) (%wrong-type procedure "a string" object)))

;;;> Returns the vector of the values of `procedure` for the elements of one or more vectors.
(define vector-map
  (case-lambda
    ((procedure vector)
     (%check-vector 'vector-map vector)
     (list->vector
       (%collect (lambda (index) (procedure (vector-ref vector index))) (vector-length vector))))
    ((procedure vector . vectors)
     (let ((vectors (cons vector vectors)))
       (%check-vectors 'vector-map vectors)
       (list->vector
         (%collect (lambda (index)
                     (apply procedure (map (lambda (vector) (vector-ref vector index)) vectors)))
                   (%shortest (map vector-length vectors))))))))

;;;> Calls `procedure` for the elements of one or more vectors in order.
(define vector-for-each
  (case-lambda
    ((procedure vector)
     (%check-vector 'vector-for-each vector)
     (let ((end (vector-length vector)))
       (do ((index 0 (+ index 1))) ((= index end))
         (procedure (vector-ref vector index)))))
    ((procedure vector . vectors)
     (%check-vectors 'vector-for-each (cons vector vectors))
     (let* ((vectors (cons vector vectors)) (end (%shortest (map vector-length vectors))))
       (do ((index 0 (+ index 1))) ((= index end))
         (apply procedure (map (lambda (vector) (vector-ref vector index)) vectors)))))))

;;;> Returns the string of the values of `procedure` for the characters of one or more strings.
(define string-map
  (case-lambda
    ((procedure string)
     (%check-string 'string-map string)
     (list->string
       (%collect (lambda (index) (procedure (string-ref string index))) (string-length string))))
    ((procedure string . strings)
     (%check-strings 'string-map (cons string strings))
     (list->string (apply map procedure (string->list string) (map string->list strings))))))

;;;> Calls `procedure` for the characters of one or more strings in order.
(define string-for-each
  (case-lambda
    ((procedure string)
     (%check-string 'string-for-each string)
     (let ((end (string-length string)))
       (do ((index 0 (+ index 1))) ((= index end))
         (procedure (string-ref string index)))))
    ((procedure string . strings)
     (%check-strings 'string-for-each (cons string strings))
     (apply for-each procedure (string->list string) (map string->list strings)))))
