;;; The default comparator: types in a fixed order, each with an ordering of its own, then the
;;; registered comparators.

(define %registered '())

;;;> Registers a comparator, which the default comparator uses for the objects that it accepts.
(define (comparator-register-default! comparator)
  (set! %registered (append %registered (list comparator))))

;;; The place of an object's type in the order of types.
(define (%rank object)
  (cond ((null? object) 0)
        ((pair? object) 1)
        ((boolean? object) 2)
        ((char? object) 3)
        ((string? object) 4)
        ((symbol? object) 5)
        ((number? object) 6)
        ((vector? object) 7)
        ((bytevector? object) 8)
        (else
         (let loop ((comparators %registered) (rank 9))
           (cond ((null? comparators) -1)
                 ((comparator-test-type (car comparators) object) rank)
                 (else (loop (cdr comparators) (+ rank 1))))))))

(define (%registered-for rank) (list-ref %registered (- rank 9)))

(define (%complex<? a b)
  (if (= (real-part a) (real-part b))
      (< (imag-part a) (imag-part b))
      (< (real-part a) (real-part b))))

;;; Returns -1, 0 or 1: the order of two vectors, or of two bytevectors.
(define (%vector-order a b size ref)
  (let ((end (size a)))
    (if (= end (size b))
        (let loop ((index 0))
          (if (= index end)
              0
              (let ((first (%order (ref a index) (ref b index))))
                (if (= first 0) (loop (+ index 1)) first))))
        (if (< end (size b)) -1 1))))

;;; Returns -1, 0 or 1: the order of two objects.
(define (%order a b)
  (let ((rank-a (%rank a)) (rank-b (%rank b)))
    (define (by less? same?) (cond ((same? a b) 0) ((less? a b) -1) (else 1)))
    (cond ((not (= rank-a rank-b)) (if (< rank-a rank-b) -1 1))
          ((= rank-a 0) 0)
          ((= rank-a 1)
           (let ((first (%order (car a) (car b))))
             (if (= first 0) (%order (cdr a) (cdr b)) first)))
          ((= rank-a 2) (by (lambda (a b) (not a)) eq?))
          ((= rank-a 3) (by char<? char=?))
          ((= rank-a 4) (by string<? string=?))
          ((= rank-a 5) (by (lambda (a b) (string<? (symbol->string a) (symbol->string b))) eq?))
          ((= rank-a 6) (by (if (and (real? a) (real? b)) < %complex<?) =))
          ((< rank-a 0)
           (if (equal? a b) 0 (error "the default comparator has no order for these" a b)))
          ((= rank-a 7) (%vector-order a b vector-length vector-ref))
          ((= rank-a 8) (%vector-order a b bytevector-length bytevector-u8-ref))
          (else (comparator-if<=> (%registered-for rank-a) a b -1 0 1)))))

(define (%default=? a b)
  (let ((rank (%rank a)))
    (cond ((not (= rank (%rank b))) #f)
          ((< rank 0) (equal? a b))
          ((>= rank 9) ((comparator-equality-predicate (%registered-for rank)) a b))
          (else (= (%order a b) 0)))))

;;;> Returns the hash of an object by the default comparator.
(define (default-hash object)
  (let ((rank (%rank object)))
    (cond ((= rank 1) (%mixed (default-hash (car object)) (default-hash (cdr object))))
          ((= rank 6) (number-hash object))
          ((= rank 7)
           (let loop ((rest (vector->list object)) (hash 7))
             (if (null? rest) hash (loop (cdr rest) (%mixed hash (default-hash (car rest)))))))
          ((>= rank 9) (comparator-hash (%registered-for rank) object))
          (else (%hash object)))))

(define %default (make-comparator #t %default=? (lambda (a b) (< (%order a b) 0)) default-hash))

;;;> Returns the comparator of numbers, characters, strings, symbols, booleans, pairs, vectors and
;;;> bytevectors, and of the objects of registered comparators: first by type, then in each type's
;;;> order.
(define (make-default-comparator) %default)
