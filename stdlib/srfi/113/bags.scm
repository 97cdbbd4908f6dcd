;;; A bag is a table from elements to their numbers of occurrences.
(define-record-type bag-type
  (%bag comparator table)
  ;;;> Returns whether an object is a bag.
  bag?
  ;;;> Returns the comparator of a bag.
  (comparator bag-element-comparator)
  (table %counts))

(define (%empty-bag comparator) (%bag comparator (%table-by comparator)))
(define (%bag-like bag) (%empty-bag (bag-element-comparator bag)))

;;;> Returns the number of occurrences of an element in a bag.
(define (bag-element-count bag element)
  (let ((entry (%table-find 'bag-element-count (%counts bag) element))) (if entry (cdr entry) 0)))

(define (%set-count! bag element count)
  (if (> count 0)
      (%table-put! 'bag (%counts bag) element count)
      (%table-remove! 'bag (%counts bag) element))
  bag)

;;;> Adds an element to a bag `count` times; returns the bag.
(define (bag-increment! bag element count)
  (comparator-check-type (bag-element-comparator bag) element)
  (%set-count! bag element (+ (bag-element-count bag element) count)))
;;;> Removes an element from a bag at most `count` times; returns the bag.
(define (bag-decrement! bag element count)
  (%set-count! bag element (- (bag-element-count bag element) count)))

;;;> Makes a bag of elements by a comparator.
(define (bag comparator . elements) (list->bag comparator elements))
;;;> Makes a bag of the elements of a list by a comparator.
(define (list->bag comparator elements) (list->bag! (%empty-bag comparator) elements))
;;;> Adds the elements of a list to a bag; returns the bag.
(define (list->bag! bag elements)
  (for-each (lambda (element) (bag-increment! bag element 1)) elements)
  bag)
;;;> Makes a bag by a comparator, which comes last, of the elements `(element seed)`, for seeds
;;;> `(next seed)`, until `(stop? seed)`.
(define bag-unfold (%unfolder %empty-bag (lambda (bag element) (bag-increment! bag element 1))))

;;;> Returns an association list of the elements and their numbers of occurrences.
(define (bag->alist bag)
  (map (lambda (entry) (cons (car entry) (cdr entry))) (%table-entries 'bag->alist (%counts bag))))
;;;> Makes a bag by a comparator from an association list of elements and their numbers of
;;;> occurrences.
(define (alist->bag comparator alist)
  (let ((bag (%empty-bag comparator)))
    (for-each (lambda (entry) (bag-increment! bag (car entry) (cdr entry))) alist)
    bag))

;;;> Returns a list of the elements, each as often as it occurs in the bag.
(define (bag->list bag)
  (concatenate (map (lambda (entry) (make-list (cdr entry) (car entry))) (bag->alist bag))))
;;;> Returns whether an object is an element.
(define (bag-contains? bag object) (> (bag-element-count bag object) 0))
;;;> Returns whether a bag has no elements.
(define (bag-empty? bag) (= (bag-unique-size bag) 0))
;;;> Returns whether two bags have no element in common.
(define (bag-disjoint? a b)
  (%check-comparators bag-element-comparator a (list b))
  (not (bag-any? (lambda (element) (bag-contains? b element)) a)))
;;;> Returns the element that is equal to an object, or `default`.
(define (bag-member bag object default)
  (let ((entry (%table-find 'bag-member (%counts bag) object))) (if entry (car entry) default)))
;;;> Returns how many elements a bag has.
(define (bag-size bag)
  (fold (lambda (entry size) (+ size (cdr entry))) 0 (%table-entries 'bag-size (%counts bag))))
;;;> Returns how many different elements a bag has.
(define (bag-unique-size bag) (hash-table-size (%counts bag)))
;;;> Returns a bag of the same elements.
(define (bag-copy bag) (%bag (bag-element-comparator bag) (%table-copy 'bag-copy (%counts bag))))
;;;> Returns a bag with more elements.
(define (bag-adjoin bag . elements) (list->bag! (bag-copy bag) elements))
;;;> Adds elements to a bag; returns the bag.
(define (bag-adjoin! bag . elements) (list->bag! bag elements))
;;;> Returns a bag with one occurrence less of each of the elements.
(define (bag-delete bag . elements) (bag-delete-all! (bag-copy bag) elements))
;;;> Removes one occurrence of each of the elements from a bag; returns the bag.
(define (bag-delete! bag . elements) (bag-delete-all! bag elements))
;;;> Returns a bag with one occurrence less of each element of a list.
(define (bag-delete-all bag elements) (bag-delete-all! (bag-copy bag) elements))
;;;> Removes one occurrence of each element of a list from a bag; returns the bag.
(define (bag-delete-all! bag elements)
  (for-each (lambda (element) (bag-decrement! bag element 1)) elements)
  bag)

;;; Replaces the elements of a bag by those of another with the same comparator; returns the bag.
(define (%become! bag other)
  (let ((entries (bag->alist other)))
    (%table-clear! 'bag (%counts bag))
    (for-each (lambda (entry) (%set-count! bag (car entry) (cdr entry))) entries)
    bag))

;;;> Returns a bag with an element in place of those that are equal to it.
(define (bag-replace bag element) (bag-replace! (bag-copy bag) element))
;;;> Replaces all occurrences equal to `element` by it; returns the bag.
(define (bag-replace! bag element)
  (let ((entry (%table-remove! 'bag-replace! (%counts bag) element)))
    (if entry (%set-count! bag element (cdr entry)))
    bag))

;;;> Looks for an element and calls `(failure insert ignore)` or `(success element update remove)`.
;;;> Returns two values: the bag, and the object passed to the continuation.
(define (bag-search! bag element failure success)
  (let ((entry (%table-find 'bag-search! (%counts bag) element)))
    (if entry
        (success (car entry)
                 (lambda (new object)
                   (bag-decrement! bag element 1)
                   (bag-increment! bag new 1)
                   (values bag object))
                 (lambda (object)
                   (bag-decrement! bag element 1)
                   (values bag object)))
        (failure (lambda (object) (bag-increment! bag element 1) (values bag object))
                 (lambda (object) (values bag object))))))

;;;> Returns an element that satisfies a predicate, or the value of `failure`.
(define (bag-find wanted? bag failure)
  (%table-walk 'bag-find (%counts bag) failure
    (lambda (entry next) (if (wanted? (car entry)) (car entry) (next)))))
;;;> Returns how many elements satisfy a predicate.
(define (bag-count wanted? bag) (length (filter wanted? (bag->list bag))))
;;;> Returns whether any element satisfies a predicate.
(define (bag-any? wanted? bag)
  (%table-walk 'bag-any? (%counts bag)
    (lambda () #f)
    (lambda (entry next) (if (wanted? (car entry)) #t (next)))))
;;;> Returns whether all elements satisfy a predicate.
(define (bag-every? wanted? bag) (not (bag-any? (lambda (element) (not (wanted? element))) bag)))
;;;> Returns the bag by a comparator of the values of `procedure` for the elements.
(define (bag-map comparator procedure bag) (list->bag comparator (map procedure (bag->list bag))))
;;;> Calls `procedure` with the elements, each as often as it occurs in the bag.
(define (bag-for-each procedure bag) (for-each procedure (bag->list bag)))
;;;> Calls `procedure` with each different element and its number of occurrences.
(define (bag-for-each-unique procedure bag)
  (for-each (lambda (entry) (procedure (car entry) (cdr entry))) (bag->alist bag)))
;;;> Combines the elements: `(combine element accumulated)`.
(define (bag-fold combine initial bag) (fold combine initial (bag->list bag)))
;;;> Combines the different elements: `(combine element count accumulated)`.
(define (bag-fold-unique combine initial bag)
  (fold (lambda (entry accumulated) (combine (car entry) (cdr entry) accumulated))
        initial
        (bag->alist bag)))
;;;> Returns the bag of the elements that satisfy a predicate.
(define (bag-filter wanted? bag) (list->bag! (%bag-like bag) (filter wanted? (bag->list bag))))
;;;> Returns the bag of the elements that do not satisfy a predicate.
(define (bag-remove unwanted? bag) (list->bag! (%bag-like bag) (remove unwanted? (bag->list bag))))
;;;> Returns two values: the bag of the elements that satisfy a predicate, and that of the others.
(define (bag-partition wanted? bag) (values (bag-filter wanted? bag) (bag-remove wanted? bag)))
;;;> Removes the elements that do not satisfy a predicate; returns the bag.
(define (bag-filter! wanted? bag) (%become! bag (bag-filter wanted? bag)))
;;;> Removes the elements that satisfy a predicate; returns the bag.
(define (bag-remove! unwanted? bag) (%become! bag (bag-remove unwanted? bag)))
;;;> Like `bag-partition`, but the first value is the bag itself, changed.
(define (bag-partition! wanted? bag)
  (let ((others (bag-remove wanted? bag))) (values (bag-filter! wanted? bag) others)))

(define (%sub-bag? a b)
  (%table-walk 'bag (%counts a)
    (lambda () #t)
    (lambda (entry next) (and (<= (cdr entry) (bag-element-count b (car entry))) (next)))))

;;;> Returns whether all bags have the same elements with the same numbers of occurrences.
(define (bag=? bag . bags)
  (%neighbours (lambda (a b) (and (%sub-bag? a b) (%sub-bag? b a))) bag bags))
;;;> Returns whether each element of a bag occurs in the next bag at least as often.
(define (bag<=? bag . bags) (%neighbours %sub-bag? bag bags))
;;;> Returns whether each element of a bag occurs in the previous bag at least as often.
(define (bag>=? bag . bags) (%neighbours (lambda (a b) (%sub-bag? b a)) bag bags))
(define (%less-bag? a b) (and (%sub-bag? a b) (not (%sub-bag? b a))))
;;;> Returns whether each element of a bag occurs in the next bag at least as often, and some more
;;;> often.
(define (bag<? bag . bags) (%neighbours %less-bag? bag bags))
;;;> Returns whether each element of a bag occurs in the previous bag at least as often, and some
;;;> more often.
(define (bag>? bag . bags) (%neighbours (lambda (a b) (%less-bag? b a)) bag bags))

;;; Combines bags from the first on: an element occurs `(combine count-in-first count-in-other)`
;;; times.
(define (%combined combine bag bags)
  (%check-comparators bag-element-comparator bag bags)
  (fold (lambda (other result)
          (let ((combined (%bag-like bag)))
            (for-each
              (lambda (element)
                (%set-count! combined element
                  (combine (bag-element-count result element) (bag-element-count other element))))
              (append (map car (bag->alist result)) (map car (bag->alist other))))
            combined))
        (bag-copy bag)
        bags))

;;;> Returns a bag in which each element has its greatest number of occurrences in the bags.
(define (bag-union bag . bags) (%combined max bag bags))
;;;> Returns a bag in which each element has its least number of occurrences in the bags.
(define (bag-intersection bag . bags) (%combined min bag bags))
;;;> Returns a bag in which each element has its occurrences in the first bag minus those in the
;;;> others.
(define (bag-difference bag . bags) (%combined - bag bags))
;;;> Returns a bag in which each element has the difference of its occurrences in two bags.
(define (bag-xor a b) (%combined (lambda (m n) (abs (- m n))) a (list b)))
;;;> Like `bag-union`, but changes the first bag.
(define (bag-union! bag . bags) (%become! bag (apply bag-union bag bags)))
;;;> Like `bag-intersection`, but changes the first bag.
(define (bag-intersection! bag . bags) (%become! bag (apply bag-intersection bag bags)))
;;;> Like `bag-difference`, but changes the first bag.
(define (bag-difference! bag . bags) (%become! bag (apply bag-difference bag bags)))
;;;> Like `bag-xor`, but changes the first bag.
(define (bag-xor! a b) (%become! a (bag-xor a b)))
;;;> Returns a bag in which each element has the sum of its occurrences in the bags.
(define (bag-sum bag . bags) (%combined + bag bags))
;;;> Adds the elements of the other bags to the first, and returns that.
(define (bag-sum! bag . bags)
  (%check-comparators bag-element-comparator bag bags)
  (for-each (lambda (other) (list->bag! bag (bag->list other))) bags)
  bag)
;;;> Returns a bag in which each element occurs `count` times as often.
(define (bag-product count bag)
  (alist->bag (bag-element-comparator bag)
    (map (lambda (entry) (cons (car entry) (* count (cdr entry)))) (bag->alist bag))))
;;;> Multiplies the occurrences of each element of a bag by `count`; returns the bag.
(define (bag-product! count bag)
  (for-each
    (lambda (entry)
      (if (= count 0)
          (bag-decrement! bag (car entry) (cdr entry))
          (bag-increment! bag (car entry) (* (- count 1) (cdr entry)))))
    (bag->alist bag))
  bag)

;;;> Returns the set of the elements of a bag.
(define (bag->set bag) (list->set (bag-element-comparator bag) (map car (bag->alist bag))))
;;;> Returns the bag with each element of a set once.
(define (set->bag set) (list->bag (set-element-comparator set) (set->list set)))

;;;> Adds each element of a set to a bag; returns the bag.
(define (set->bag! bag set) (list->bag! bag (set->list set)))

;;;> The comparator of bags: by their elements; without an ordering.
(define bag-comparator
  (make-comparator bag? bag=? #f
    (lambda (bag)
      (bag-fold
        (lambda (element hash)
          (modulo (+ hash (comparator-hash (bag-element-comparator bag) element)) (hash-bound)))
        0 bag))))
