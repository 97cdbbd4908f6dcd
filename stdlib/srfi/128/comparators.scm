(define-record-type comparator
  (%make-comparator type-test equality ordering hash is-ordered is-hashable)
  ;;;> Returns whether an object is a comparator.
  comparator?
  ;;;> Returns the predicate of the objects that a comparator accepts.
  (type-test comparator-type-test-predicate)
  ;;;> Returns the equality of a comparator.
  (equality comparator-equality-predicate)
  ;;;> Returns the ordering of a comparator, which fails if there is none.
  (ordering comparator-ordering-predicate)
  ;;;> Returns the hash function of a comparator, which fails if there is none.
  (hash comparator-hash-function)
  ;;;> Returns whether a comparator has an ordering.
  (is-ordered comparator-ordered?)
  ;;;> Returns whether a comparator has a hash function.
  (is-hashable comparator-hashable?))

;;;> Makes a comparator of a type test, an equality or `#t` for that of the ordering, an ordering or
;;;> `#f`, and a hash function or `#f`.
(define (make-comparator type-test equality ordering hash)
  (%make-comparator
    (if (eq? type-test #t) (lambda (object) #t) type-test)
    (if (eq? equality #t)
        (lambda (a b) (not (or (ordering a b) (ordering b a))))
        equality)
    (or ordering (lambda (a b) (error "this comparator has no ordering" a b)))
    (or hash (lambda (object) (error "this comparator has no hash function" object)))
    (if ordering #t #f)
    (if hash #t #f)))

;;;> Returns an upper bound of all hashes, exclusive.
(define-syntax hash-bound (syntax-rules () ((_) 1152921504606846976)))

;;;> Returns an initial value for hash functions; the same in every run, so that runs can be
;;;> replayed.
(define-syntax hash-salt (syntax-rules () ((_) 16064047)))

(define (%mixed a b) (modulo (+ (* a 31) b 17) (hash-bound)))

;;;> Returns the hash of a boolean.
(define (boolean-hash object) (%hash object))
;;;> Returns the hash of a character.
(define (char-hash char) (%hash char))
;;;> Returns the hash of a character, the same for its other case.
(define (char-ci-hash char) (%hash (char-foldcase char)))
;;;> Returns the hash of a symbol.
(define (symbol-hash symbol) (%hash symbol))
;;;> Returns the hash of a number, the same for numbers that are `=`.
(define (number-hash number)
  (if (real? number)
      (%hash (if (and (inexact? number) (rational? number)) (exact number) number))
      (%mixed (number-hash (real-part number)) (number-hash (imag-part number)))))

;;;> Makes a comparator of all objects by `eq?`; the hash of an object stays the same while the
;;;> object does not change.
(define (make-eq-comparator) (make-comparator #t eq? #f default-hash))
;;;> Makes a comparator of all objects by `eqv?`; the hash of an object stays the same while the
;;;> object does not change.
(define (make-eqv-comparator) (make-comparator #t eqv? #f default-hash))
;;;> Makes a comparator of all objects by `equal?`.
(define (make-equal-comparator) (make-comparator #t equal? #f default-hash))

;;;> Makes a comparator of pairs, by their first parts with one comparator, then by their second
;;;> parts with another.
(define (make-pair-comparator first second)
  (let ((first=? (comparator-equality-predicate first))
        (first<? (comparator-ordering-predicate first))
        (second<? (comparator-ordering-predicate second)))
    (make-comparator
      (lambda (object)
        (and (pair? object)
             (comparator-test-type first (car object))
             (comparator-test-type second (cdr object))))
      (lambda (a b)
        (and (first=? (car a) (car b)) ((comparator-equality-predicate second) (cdr a) (cdr b))))
      (and (comparator-ordered? first)
           (comparator-ordered? second)
           (lambda (a b)
             (if (first=? (car a) (car b)) (second<? (cdr a) (cdr b)) (first<? (car a) (car b)))))
      (and (comparator-hashable? first)
           (comparator-hashable? second)
           (lambda (pair)
             (%mixed (comparator-hash first (car pair)) (comparator-hash second (cdr pair))))))))

;;;> Makes a comparator of lists, or of objects that the other arguments take apart like lists,
;;;> element by element; a prefix comes before the whole.
(define make-list-comparator
  (case-lambda
    ((element) (make-list-comparator element list? null? car cdr))
    ((element type-test empty? head tail)
     (let ((same? (comparator-equality-predicate element))
           (before? (comparator-ordering-predicate element)))
       (make-comparator
         (lambda (object)
           (and (type-test object)
                (let loop ((rest object))
                  (or (empty? rest)
                      (and (comparator-test-type element (head rest)) (loop (tail rest)))))))
         (lambda (a b)
           (let loop ((a a) (b b))
             (cond ((empty? a) (empty? b))
                   ((empty? b) #f)
                   (else (and (same? (head a) (head b)) (loop (tail a) (tail b)))))))
         (and (comparator-ordered? element)
              (lambda (a b)
                (let loop ((a a) (b b))
                  (cond ((empty? a) (not (empty? b)))
                        ((empty? b) #f)
                        ((same? (head a) (head b)) (loop (tail a) (tail b)))
                        (else (before? (head a) (head b)))))))
         (and (comparator-hashable? element)
              (lambda (list)
                (let loop ((rest list) (hash 0))
                  (if
                    (empty? rest)
                    hash
                    (loop (tail rest) (%mixed hash (comparator-hash element (head rest)))))))))))))

;;;> Makes a comparator of vectors, or of objects that the other arguments read like vectors;
;;;> shorter ones come first, equal lengths are compared element by element.
(define make-vector-comparator
  (case-lambda
    ((element) (make-vector-comparator element vector? vector-length vector-ref))
    ((element type-test size ref)
     (let ((same? (comparator-equality-predicate element))
           (before? (comparator-ordering-predicate element)))
       (define (elements vector)
         (let loop ((index (- (size vector) 1)) (list '()))
           (if (< index 0) list (loop (- index 1) (cons (ref vector index) list)))))
       (make-comparator
         (lambda (object)
           (and (type-test object)
                (every (lambda (part) (comparator-test-type element part)) (elements object))))
         (lambda (a b)
           (and (= (size a) (size b)) (every same? (elements a) (elements b))))
         (and (comparator-ordered? element)
              (lambda (a b)
                (if (= (size a) (size b))
                    (let loop ((a (elements a)) (b (elements b)))
                      (cond ((null? a) #f)
                            ((same? (car a) (car b)) (loop (cdr a) (cdr b)))
                            (else (before? (car a) (car b)))))
                    (< (size a) (size b)))))
         (and (comparator-hashable? element)
              (lambda (vector)
                (let loop ((rest (elements vector)) (hash (size vector)))
                  (if (null? rest)
                      hash
                      (loop (cdr rest) (%mixed hash (comparator-hash element (car rest)))))))))))))

;;;> Returns whether a comparator accepts an object.
(define (comparator-test-type comparator object)
  ((comparator-type-test-predicate comparator) object))

;;;> Fails unless a comparator accepts an object.
(define (comparator-check-type comparator object)
  (if (comparator-test-type comparator object)
      #t
      (error "the comparator does not accept this object" object)))

;;;> Returns the hash of an object by a comparator.
(define (comparator-hash comparator object) ((comparator-hash-function comparator) object))

;;; Returns whether every two neighbours satisfy a relation.
(define (%chained holds? a b rest)
  (and (holds? a b)
       (or (null? rest) (%chained holds? b (car rest) (cdr rest)))))

;;;> Returns whether objects are equal by a comparator.
(define (=? comparator a b . rest) (%chained (comparator-equality-predicate comparator) a b rest))
;;;> Returns whether objects increase by a comparator.
(define (<? comparator a b . rest) (%chained (comparator-ordering-predicate comparator) a b rest))
;;;> Returns whether objects decrease by a comparator.
(define (>? comparator a b . rest)
  (%chained (lambda (a b) ((comparator-ordering-predicate comparator) b a)) a b rest))
;;;> Returns whether objects never decrease by a comparator.
(define (<=? comparator a b . rest)
  (%chained (lambda (a b) (not ((comparator-ordering-predicate comparator) b a))) a b rest))
;;;> Returns whether objects never increase by a comparator.
(define (>=? comparator a b . rest)
  (%chained (lambda (a b) (not ((comparator-ordering-predicate comparator) a b))) a b rest))

;;;> Evaluates one of three expressions, for less, equal and greater; by the default comparator if
;;;> none is given.
(define-syntax comparator-if<=>
  (syntax-rules ()
    ((_ a b less equal greater) (comparator-if<=> (make-default-comparator) a b less equal greater))
    ((_ comparator a b less equal greater)
     (let ((by comparator) (x a) (y b))
       (cond ((=? by x y) equal)
             ((<? by x y) less)
             (else greater))))))
