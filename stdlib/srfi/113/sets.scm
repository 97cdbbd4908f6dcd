;;; A set is a table from elements to themselves.
(define-record-type set-type
  (%set comparator table)
  ;;;> Returns whether an object is a set.
  set?
  ;;;> Returns the comparator of a set.
  (comparator set-element-comparator)
  (table %table-of))

(define (%table-by comparator)
  (%make-table 'set (comparator-equality-predicate comparator)
               (and (comparator-hashable? comparator) (comparator-hash-function comparator))))

(define (%empty-set comparator) (%set comparator (%table-by comparator)))
(define (%like set) (%empty-set (set-element-comparator set)))

(define (%add! set element)
  (comparator-check-type (set-element-comparator set) element)
  (if (not (%table-find 'set (%table-of set) element))
      (%table-put! 'set (%table-of set) element element)))

;;;> Makes a set of elements by a comparator.
(define (set comparator . elements) (list->set comparator elements))

;;;> Makes a set of the elements of a list by a comparator.
(define (list->set comparator elements) (list->set! (%empty-set comparator) elements))

;;;> Adds the elements of a list to a set; returns the set.
(define (list->set! set elements)
  (for-each (lambda (element) (%add! set element)) elements)
  set)

;;; Makes `set-unfold` or `bag-unfold`, whose caller may pass the comparator first or, as in the
;;; SRFI, last.
(define (%unfolder empty add!)
  (define (unfold comparator stop? element next seed)
    (let ((collection (empty comparator)))
      (let loop ((seed seed))
        (if (stop? seed)
            collection
            (begin (add! collection (element seed)) (loop (next seed)))))))
  (lambda (a b c d e)
    (if (comparator? a) (unfold a b c d e) (unfold e a b c d))))

;;;> Makes a set by a comparator, which comes last, of the elements `(element seed)`, for seeds
;;;> `(next seed)`, until `(stop? seed)`.
(define set-unfold (%unfolder %empty-set %add!))

;;;> Returns a list of the elements, in the order of their insertion.
(define (set->list set) (map cdr (%table-entries 'set->list (%table-of set))))

;;; Raises an error unless the other sets or bags have the comparator of the first.
(define (%check-comparators comparator-of first others)
  (let ((comparator (comparator-of first)))
    (for-each
      (lambda (other)
        (if (not (eq? comparator (comparator-of other)))
            (error "sets and bags that are combined or compared must have the same comparator"
                   first
                   other)))
      others)))

;;;> Returns whether an object is an element.
(define (set-contains? set object) (if (%table-find 'set-contains? (%table-of set) object) #t #f))
;;;> Returns whether a set has no elements.
(define (set-empty? set) (= (set-size set) 0))
;;;> Returns whether two sets have no element in common.
(define (set-disjoint? a b)
  (%check-comparators set-element-comparator a (list b))
  (not (set-any? (lambda (element) (set-contains? b element)) a)))
;;;> Returns the element that is equal to an object, or `default`.
(define (set-member set object default)
  (let ((entry (%table-find 'set-member (%table-of set) object))) (if entry (cdr entry) default)))
;;;> Returns how many elements a set has.
(define (set-size set) (hash-table-size (%table-of set)))

;;;> Returns a set of the same elements.
(define (set-copy set) (%set (set-element-comparator set) (%table-copy 'set-copy (%table-of set))))

;;;> Returns a set with more elements.
(define (set-adjoin set . elements) (list->set! (set-copy set) elements))
;;;> Adds elements to a set; returns the set.
(define (set-adjoin! set . elements) (list->set! set elements))
;;;> Returns a set with an element in place of the one that is equal to it.
(define (set-replace set element) (set-replace! (set-copy set) element))
;;;> Replaces the element that is equal to `element`, if there is one, by it; returns the set.
(define (set-replace! set element)
  (if (%table-remove! 'set-replace! (%table-of set) element)
      (%table-put! 'set-replace! (%table-of set) element element))
  set)
;;;> Returns a set with fewer elements.
(define (set-delete set . elements) (set-delete-all! (set-copy set) elements))
;;;> Removes elements from a set; returns the set.
(define (set-delete! set . elements) (set-delete-all! set elements))
;;;> Returns a set without the elements of a list.
(define (set-delete-all set elements) (set-delete-all! (set-copy set) elements))
;;;> Removes the elements of a list from a set; returns the set.
(define (set-delete-all! set elements)
  (let ((table (%table-of set)))
    (for-each (lambda (element) (%table-remove! 'set-delete-all! table element)) elements)
    set))

;;;> Looks for an element and calls `(failure insert ignore)` or `(success element update remove)`.
;;;> Returns two values: the set, and the object passed to the continuation.
(define (set-search! set element failure success)
  (let ((entry (%table-find 'set-search! (%table-of set) element)))
    (if entry
        (success (cdr entry)
                 (lambda (new object)
                   (%table-remove! 'set-search! (%table-of set) element)
                   (%add! set new)
                   (values set object))
                 (lambda (object)
                   (%table-remove! 'set-search! (%table-of set) element)
                   (values set object)))
        (failure (lambda (object) (%add! set element) (values set object))
                 (lambda (object) (values set object))))))

;;;> Returns the first element that satisfies a predicate, or the value of `failure`.
(define (set-find wanted? set failure)
  (%table-walk 'set-find (%table-of set) failure
    (lambda (entry next) (if (wanted? (cdr entry)) (cdr entry) (next)))))
;;;> Returns how many elements satisfy a predicate.
(define (set-count wanted? set) (length (filter wanted? (set->list set))))
;;;> Returns whether any element satisfies a predicate.
(define (set-any? wanted? set)
  (%table-walk 'set-any? (%table-of set)
    (lambda () #f)
    (lambda (entry next) (if (wanted? (cdr entry)) #t (next)))))
;;;> Returns whether all elements satisfy a predicate.
(define (set-every? wanted? set) (not (set-any? (lambda (element) (not (wanted? element))) set)))
;;;> Returns the set by a comparator of the values of `procedure` for the elements.
(define (set-map comparator procedure set) (list->set comparator (map procedure (set->list set))))
;;;> Calls `procedure` with the elements.
(define (set-for-each procedure set) (for-each procedure (set->list set)))
;;;> Combines the elements: `(combine element accumulated)`.
(define (set-fold combine initial set) (fold combine initial (set->list set)))
;;;> Returns the set of the elements that satisfy a predicate.
(define (set-filter wanted? set) (list->set! (%like set) (filter wanted? (set->list set))))
;;;> Removes the elements that do not satisfy a predicate; returns the set.
(define (set-filter! wanted? set) (set-delete-all! set (remove wanted? (set->list set))))
;;;> Returns the set of the elements that do not satisfy a predicate.
(define (set-remove unwanted? set) (list->set! (%like set) (remove unwanted? (set->list set))))
;;;> Removes the elements that satisfy a predicate; returns the set.
(define (set-remove! unwanted? set) (set-delete-all! set (filter unwanted? (set->list set))))
;;;> Returns two values: the set of the elements that satisfy a predicate, and that of the others.
(define (set-partition wanted? set) (values (set-filter wanted? set) (set-remove wanted? set)))
;;;> Like `set-partition`, but the first value is the set itself, changed.
(define (set-partition! wanted? set)
  (let ((others (set-remove wanted? set))) (values (set-filter! wanted? set) others)))

(define (%neighbours holds? first rest)
  (%check-comparators (if (set? first) set-element-comparator bag-element-comparator) first rest)
  (let loop ((first first) (rest rest))
    (or (null? rest)
        (and (holds? first (car rest)) (loop (car rest) (cdr rest))))))
(define (%subset? a b)
  (and (<= (set-size a) (set-size b)) (set-every? (lambda (element) (set-contains? b element)) a)))

;;;> Returns whether all sets have the same elements.
(define (set=? set . sets)
  (%neighbours (lambda (a b) (and (= (set-size a) (set-size b)) (%subset? a b))) set sets))
;;;> Returns whether each set is included in the next.
(define (set<=? set . sets) (%neighbours %subset? set sets))
;;;> Returns whether each set includes the next.
(define (set>=? set . sets) (%neighbours (lambda (a b) (%subset? b a)) set sets))
;;;> Returns whether each set is included in the next, which has more entries elements.
(define (set<? set . sets)
  (%neighbours (lambda (a b) (and (< (set-size a) (set-size b)) (%subset? a b))) set sets))
;;;> Returns whether each set includes the next, and has more elements.
(define (set>? set . sets)
  (%neighbours (lambda (a b) (and (> (set-size a) (set-size b)) (%subset? b a))) set sets))

;;;> Returns the elements of any of the sets.
(define (set-union set . sets) (apply set-union! (set-copy set) sets))
;;;> Adds the elements of the other sets to the first, and returns that.
(define (set-union! set . sets)
  (%check-comparators set-element-comparator set sets)
  (for-each (lambda (other) (list->set! set (set->list other))) sets)
  set)
;;;> Returns the elements that are in all sets.
(define (set-intersection set . sets) (apply set-intersection! (set-copy set) sets))
;;;> Keeps the elements of the first set that are in all others; returns the first set.
(define (set-intersection! set . sets)
  (%check-comparators set-element-comparator set sets)
  (set-filter! (lambda (element) (every (lambda (other) (set-contains? other element)) sets)) set))
;;;> Returns the elements of the first set that are in none of the others.
(define (set-difference set . sets) (apply set-difference! (set-copy set) sets))
;;;> Removes the elements of the other sets from the first, and returns that.
(define (set-difference! set . sets)
  (%check-comparators set-element-comparator set sets)
  (set-remove! (lambda (element) (any (lambda (other) (set-contains? other element)) sets)) set))
;;;> Returns the elements that only one of two sets has.
(define (set-xor a b) (set-union (set-difference a b) (set-difference b a)))
;;;> Like `set-xor`, but changes the first set.
(define (set-xor! a b)
  (let ((others (set-difference b a))) (set-union! (set-difference! a b) others)))

;;;> The comparator of sets: by their elements; without an ordering.
(define set-comparator
  (make-comparator set? set=? #f
    (lambda (set)
      (set-fold
        (lambda (element hash)
          (modulo (+ hash (comparator-hash (set-element-comparator set) element)) (hash-bound)))
        0 set))))
