;;;> Returns a pair of the second argument and the first.
(define (xcons tail head) (cons head tail))

;;;> Returns the list of the values of `procedure` for the indices below `count`.
(define (list-tabulate count procedure)
  (%check-natural 'list-tabulate "number of elements" count)
  (let loop ((index (- count 1)) (tail '()))
    (if (< index 0) tail (loop (- index 1) (cons (procedure index) tail)))))

;;;> Makes a circular list of the arguments, at least one.
(define (circular-list first . rest)
  (let ((list (cons first rest)))
    (set-cdr! (last-pair list) list)
    list))

;;; Returns the tail of the last pair of a chain, or the object `circular` if it has none.
(define (%chain-end chain circular)
  (let loop ((slow chain) (fast chain))
    (if (pair? fast)
        (let ((fast (cdr fast)))
          (if (pair? fast)
              (let ((slow (cdr slow)) (fast (cdr fast)))
                (if (eq? slow fast) circular (loop slow fast)))
              fast))
        fast)))

(define %circular (list 'circular))

;;;> Returns whether an object is a list that ends.
(define (proper-list? object) (list? object))

;;;> Returns whether an object is a circular list.
(define (circular-list? object) (eq? (%chain-end object %circular) %circular))

;;;> Returns whether an object is a chain of pairs, possibly none, that ends in an object other than
;;;> the empty list.
(define (dotted-list? object)
  (let ((end (%chain-end object %circular)))
    (not (or (null? end) (eq? end %circular)))))

;;;> Returns whether an object is not a pair.
(define (not-pair? object) (not (pair? object)))

;;;> Returns whether a list is empty. Fails if the argument is neither a pair nor the empty list.
(define (null-list? list)
  (cond ((pair? list) #f)
        ((null? list) #t)
        (else (error "null-list?: expected a list" list))))

;;;> Returns whether lists have equal elements at the same indices, by `(same? a b)`.
(define (list= same? . lists)
  (define (equal a b)
    (cond ((null? a) (null? b))
          ((null? b) #f)
          (else (and (same? (car a) (car b)) (equal (cdr a) (cdr b))))))
  (or (null? lists)
      (let loop ((first (car lists)) (rest (cdr lists)))
        (or (null? rest)
            (and (or (eq? first (car rest)) (equal first (car rest)))
                 (loop (car rest) (cdr rest)))))))

;;;> Returns the first element.
(define (first list) (car list))
;;;> Returns the second element.
(define (second list) (cadr list))
;;;> Returns the third element.
(define (third list) (caddr list))
;;;> Returns the fourth element.
(define (fourth list) (cadddr list))
;;;> Returns the fifth element.
(define (fifth list) (list-ref list 4))
;;;> Returns the sixth element.
(define (sixth list) (list-ref list 5))
;;;> Returns the seventh element.
(define (seventh list) (list-ref list 6))
;;;> Returns the eighth element.
(define (eighth list) (list-ref list 7))
;;;> Returns the ninth element.
(define (ninth list) (list-ref list 8))
;;;> Returns the tenth element.
(define (tenth list) (list-ref list 9))

;;;> Returns two values: both parts of a pair.
(define (car+cdr pair) (values (car pair) (cdr pair)))

;;; Returns the number of pairs in a chain that ends.
(define (%pairs chain)
  (let loop ((chain chain) (count 0))
    (if (pair? chain) (loop (cdr chain) (+ count 1)) count)))

;;;> Returns the last `count` elements, with the tail of the last pair; shared, not copied.
(define (take-right list count)
  (%check-natural 'take-right "number of elements" count)
  (list-tail list (- (%pairs list) count)))

;;;> Returns the list without its last `count` elements.
(define (drop-right list count)
  (%check-natural 'drop-right "number of elements" count)
  (take list (- (%pairs list) count)))

;;;> Returns two values: the first `count` elements, and the rest.
(define (split-at list count)
  (%check-natural 'split-at "number of elements" count)
  (values (take list count) (list-tail list count)))

;;;> Returns how many elements a list has, or #f if it is circular. Fails if the argument is no list.
(define (length+ list)
  (let ((end (%chain-end list %circular)))
    (cond ((eq? end %circular) #f)
          ((null? end) (length list))
          (else (%wrong-type 'length+ "a proper or circular list" list)))))

;;;> Returns the list of lists of the elements at the same indices.
(define (zip list . lists) (apply map (lambda elements elements) list lists))

;;;> Returns the first elements of the lists in a list.
(define (unzip1 lists) (map first lists))
;;;> Returns two values: the first and the second elements of the lists in a list.
(define (unzip2 lists) (values (map first lists) (map second lists)))
;;;> Returns three values: the first elements of the lists in a list, the second, the third.
(define (unzip3 lists) (values (map first lists) (map second lists) (map third lists)))
;;;> Returns four values, like `unzip3`.
(define (unzip4 lists)
  (values (map first lists) (map second lists) (map third lists) (map fourth lists)))
;;;> Returns five values, like `unzip3`.
(define (unzip5 lists)
  (values (map first lists)
          (map second lists)
          (map third lists)
          (map fourth lists)
          (map fifth lists)))

;;;> Makes a list from the front: elements `(element seed)`, seeds `(next seed)`, until `(stop?
;;;> seed)`; its tail is `(tail seed)`, by default `()`.
(define unfold
  (case-lambda
    ((stop? element next seed) (unfold stop? element next seed (lambda (seed) '())))
    ((stop? element next seed tail)
     (let loop ((seed seed) (elements '()))
       (if (stop? seed)
           (append-reverse elements (tail seed))
           (let ((new (element seed))) (loop (next seed) (cons new elements))))))))

;;;> Makes a list from its end: elements `(element seed)`, seeds `(next seed)`, until `(stop?
;;;> seed)`; its tail is `tail`, by default `()`.
(define unfold-right
  (case-lambda
    ((stop? element next seed) (unfold-right stop? element next seed '()))
    ((stop? element next seed tail)
     (let loop ((seed seed) (list tail))
       (if (stop? seed) list (loop (next seed) (cons (element seed) list)))))))

;;; The first pairs of lists, or #f if one of them has none.
(define (%heads procedure lists)
  (if (every pair? lists) lists (begin (%check-rests procedure lists) #f)))

;;;> Combines the pairs of one or more lists from the left: `(combine pair … accumulated)`.
(define pair-fold
  (case-lambda
    ((combine initial list)
     (let loop ((accumulated initial) (rest list))
       (if (pair? rest)
           (let ((next (cdr rest))) (loop (combine rest accumulated) next))
           (begin (%check-rest 'pair-fold rest) accumulated))))
    ((combine initial list . lists)
     (let loop ((accumulated initial) (lists (cons list lists)))
       (if (%heads 'pair-fold lists)
           (let ((next (%cdrs lists)))
             (loop (apply combine (append lists (cons accumulated '()))) next))
           accumulated)))))

;;;> Combines the pairs of one or more lists from the right: `(combine pair … accumulated)`.
(define (pair-fold-right combine initial list . lists)
  (let loop ((lists (cons list lists)))
    (if (%heads 'pair-fold-right lists)
        (apply combine (append lists (cons (loop (%cdrs lists)) '())))
        initial)))

;;;> Combines the elements of a list from the right; returns `initial` if it has none.
(define (reduce-right combine initial list)
  (if (pair? list)
      (let ((reversed (reverse list))) (fold combine (car reversed) (cdr reversed)))
      (begin (%check-rest 'reduce-right list) initial)))

;;;> Calls `procedure` for the pairs of one or more lists in order; it may change their cdrs.
(define (pair-for-each procedure list . lists)
  (let loop ((lists (cons list lists)))
    (if (%heads 'pair-for-each lists)
        (let ((next (%cdrs lists)))
          (apply procedure lists)
          (loop next)))))

;;;> Returns the longest prefix of a list whose elements satisfy a predicate.
(define (take-while wanted? list)
  (call-with-values (lambda () (%span 'take-while wanted? list)) (lambda (taken rest) taken)))

;;;> Returns the rest of a list after the longest prefix whose elements satisfy a predicate.
(define (drop-while wanted? list)
  (let loop ((rest list))
    (cond ((not (pair? rest)) (%check-rest 'drop-while rest) rest)
          ((wanted? (car rest)) (loop (cdr rest)))
          (else rest))))

;;; Returns the values of `span`.
(define (%span procedure wanted? list)
  (let loop ((rest list) (taken '()))
    (cond ((not (pair? rest)) (%check-rest procedure rest) (values (reverse taken) rest))
          ((wanted? (car rest)) (loop (cdr rest) (cons (car rest) taken)))
          (else (values (reverse taken) rest)))))

;;;> Returns two values: the longest prefix of a list whose elements satisfy a predicate, and the
;;;> rest.
(define (span wanted? list) (%span 'span wanted? list))

;;;> Returns two values: the longest prefix of a list whose elements do not satisfy a predicate, and
;;;> the rest.
(define (break stop? list) (%span 'break (lambda (element) (not (stop? element))) list))

;;;> Returns an association list with one more entry at the front.
(define (alist-cons key value alist) (cons (cons key value) alist))

;;;> Returns an association list with fresh entries.
(define (alist-copy alist) (map (lambda (entry) (cons (car entry) (cdr entry))) alist))

;;;> Returns an association list without the entries whose key is `key`, by `equal?` or `(same? key
;;;> entry-key)`.
(define alist-delete
  (case-lambda
    ((key alist) (alist-delete key alist equal?))
    ((key alist same?) (remove (lambda (entry) (same? key (car entry))) alist))))
