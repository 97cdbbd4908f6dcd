;;; A bag is a table from elements to how often they are in it.
(define-record-type bag-type
  (%bag comparator table)
  ;;;> Whether an object is a bag.
  bag?
  ;;;> The comparator of a bag.
  (comparator bag-element-comparator)
  (table %counts))

(define (%empty-bag comparator) (%bag comparator (%table-by comparator)))
(define (%bag-like bag) (%empty-bag (bag-element-comparator bag)))

;;;> How often an element is in a bag.
(define (bag-element-count bag element)
  (let ((entry (%table-find (%counts bag) element))) (if entry (cdr entry) 0)))

(define (%set-count! bag element count)
  (if (> count 0)
      (%table-put! (%counts bag) element count)
      (%table-remove! (%counts bag) element))
  bag)

;;;> Puts an element into a bag `count` times; the bag.
(define (bag-increment! bag element count)
  (comparator-check-type (bag-element-comparator bag) element)
  (%set-count! bag element (+ (bag-element-count bag element) count)))
;;;> Takes an element out of a bag `count` times at most; the bag.
(define (bag-decrement! bag element count)
  (%set-count! bag element (- (bag-element-count bag element) count)))

;;;> Makes a bag of elements by a comparator.
(define (bag comparator . elements) (list->bag comparator elements))
;;;> Makes a bag of the elements of a list by a comparator.
(define (list->bag comparator elements) (list->bag! (%empty-bag comparator) elements))
;;;> Puts the elements of a list into a bag; the bag.
(define (list->bag! bag elements)
  (for-each (lambda (element) (bag-increment! bag element 1)) elements)
  bag)
;;;> Makes a bag by a comparator, which comes last, of the elements `(element seed)`, for seeds `(next seed)`, until `(stop? seed)`.
(define bag-unfold
  (%comparator-first
    (lambda (comparator stop? element next seed)
      (let ((bag (%empty-bag comparator)))
        (let loop ((seed seed))
          (if (stop? seed)
              bag
              (begin (bag-increment! bag (element seed) 1) (loop (next seed)))))))))

;;;> An association list of the elements and how often they are in a bag.
(define (bag->alist bag)
  (map (lambda (entry) (cons (car entry) (cdr entry))) (%table-entries (%counts bag))))
;;;> Makes a bag by a comparator of elements and how often each is to be in it.
(define (alist->bag comparator alist)
  (let ((bag (%empty-bag comparator)))
    (for-each (lambda (entry) (bag-increment! bag (car entry) (cdr entry))) alist)
    bag))

;;;> A list of the elements, each as often as it is in a bag.
(define (bag->list bag)
  (apply append (map (lambda (entry) (make-list (cdr entry) (car entry))) (bag->alist bag))))
;;;> Whether an object is an element.
(define (bag-contains? bag object) (> (bag-element-count bag object) 0))
;;;> Whether a bag has no elements.
(define (bag-empty? bag) (= (bag-unique-size bag) 0))
;;;> Whether two bags have no element in common.
(define (bag-disjoint? a b)
  (%check-comparators bag-element-comparator a (list b))
  (not (any (lambda (entry) (bag-contains? b (car entry))) (bag->alist a))))
;;;> The element that is equal to an object, or `default`.
(define (bag-member bag object default)
  (let ((entry (%table-find (%counts bag) object))) (if entry (car entry) default)))
;;;> How many elements a bag has.
(define (bag-size bag) (apply + (map cdr (bag->alist bag))))
;;;> How many different elements a bag has.
(define (bag-unique-size bag) (%table-count (%counts bag)))
;;;> A bag of the same elements.
(define (bag-copy bag) (%bag (bag-element-comparator bag) (%table-copy (%counts bag))))
;;;> A bag with more elements.
(define (bag-adjoin bag . elements) (list->bag! (bag-copy bag) elements))
;;;> Puts elements into a bag; the bag.
(define (bag-adjoin! bag . elements) (list->bag! bag elements))
;;;> A bag with each of the elements once less.
(define (bag-delete bag . elements) (bag-delete-all! (bag-copy bag) elements))
;;;> Takes elements out of a bag, each once; the bag.
(define (bag-delete! bag . elements) (bag-delete-all! bag elements))
;;;> A bag with each of the elements of a list once less.
(define (bag-delete-all bag elements) (bag-delete-all! (bag-copy bag) elements))
;;;> Takes the elements of a list out of a bag, each once; the bag.
(define (bag-delete-all! bag elements)
  (for-each (lambda (element) (bag-decrement! bag element 1)) elements)
  bag)

;;; Makes a bag have the elements of another that is like it; the bag.
(define (%become! bag other)
  (let ((entries (bag->alist other)))
    (%table-clear! (%counts bag))
    (for-each (lambda (entry) (%set-count! bag (car entry) (cdr entry))) entries)
    bag))

;;;> A bag with an element in place of those that are equal to it.
(define (bag-replace bag element) (bag-replace! (bag-copy bag) element))
;;;> Replaces the elements that are equal to `element`, if there are any, by it, as often; the bag.
(define (bag-replace! bag element)
  (let ((entry (%table-remove! (%counts bag) element)))
    (if entry (%set-count! bag element (cdr entry)))
    bag))

;;;> Looks for an element: `(failure insert ignore)` or `(success element update remove)` is called to go on. Two values: the bag, and what they say.
(define (bag-search! bag element failure success)
  (let ((entry (%table-find (%counts bag) element)))
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

;;;> An element that satisfies a predicate, or what `failure` answers.
(define (bag-find wanted? bag failure)
  (let loop ((entries (bag->alist bag)))
    (cond ((null? entries) (failure))
          ((wanted? (car (car entries))) (car (car entries)))
          (else (loop (cdr entries))))))
;;;> How many elements satisfy a predicate.
(define (bag-count wanted? bag) (length (filter wanted? (bag->list bag))))
;;;> Whether any element satisfies a predicate.
(define (bag-any? wanted? bag) (if (any wanted? (bag->list bag)) #t #f))
;;;> Whether all elements satisfy a predicate.
(define (bag-every? wanted? bag) (if (every wanted? (bag->list bag)) #t #f))
;;;> The bag by a comparator of what `procedure` answers for the elements.
(define (bag-map comparator procedure bag) (list->bag comparator (map procedure (bag->list bag))))
;;;> Calls `procedure` with the elements, each as often as it is in the bag.
(define (bag-for-each procedure bag) (for-each procedure (bag->list bag)))
;;;> Calls `procedure` with each different element and how often it is in the bag.
(define (bag-for-each-unique procedure bag)
  (for-each (lambda (entry) (procedure (car entry) (cdr entry))) (bag->alist bag)))
;;;> Combines the elements: `(combine element accumulated)`.
(define (bag-fold combine initial bag) (fold combine initial (bag->list bag)))
;;;> Combines the different elements: `(combine element count accumulated)`.
(define (bag-fold-unique combine initial bag)
  (fold (lambda (entry accumulated) (combine (car entry) (cdr entry) accumulated)) initial (bag->alist bag)))
;;;> The bag of the elements that satisfy a predicate.
(define (bag-filter wanted? bag) (list->bag! (%bag-like bag) (filter wanted? (bag->list bag))))
;;;> The bag of the elements that do not satisfy a predicate.
(define (bag-remove unwanted? bag) (list->bag! (%bag-like bag) (remove unwanted? (bag->list bag))))
;;;> Two values: the bag of the elements that satisfy a predicate, and that of the others.
(define (bag-partition wanted? bag) (values (bag-filter wanted? bag) (bag-remove wanted? bag)))
;;;> Removes the elements that do not satisfy a predicate; the bag.
(define (bag-filter! wanted? bag) (%become! bag (bag-filter wanted? bag)))
;;;> Removes the elements that satisfy a predicate; the bag.
(define (bag-remove! unwanted? bag) (%become! bag (bag-remove unwanted? bag)))
;;;> As `bag-partition`; the first is the bag itself.
(define (bag-partition! wanted? bag)
  (let ((others (bag-remove wanted? bag))) (values (bag-filter! wanted? bag) others)))

(define (%sub-bag? a b)
  (every (lambda (entry) (<= (cdr entry) (bag-element-count b (car entry)))) (bag->alist a)))

;;;> Whether all bags have the same elements equally often.
(define (bag=? bag . bags)
  (%neighbours (lambda (a b) (and (%sub-bag? a b) (%sub-bag? b a))) bag bags))
;;;> Whether each element of a bag is in the next at least as often.
(define (bag<=? bag . bags) (%neighbours %sub-bag? bag bags))
;;;> Whether each element of a bag is in the one before at least as often.
(define (bag>=? bag . bags) (%neighbours (lambda (a b) (%sub-bag? b a)) bag bags))
(define (%less-bag? a b) (and (%sub-bag? a b) (not (%sub-bag? b a))))
;;;> Whether each element of a bag is in the next at least as often, and some more often.
(define (bag<? bag . bags) (%neighbours %less-bag? bag bags))
;;;> Whether each element of a bag is in the one before at least as often, and some more often.
(define (bag>? bag . bags) (%neighbours (lambda (a b) (%less-bag? b a)) bag bags))

;;; The bag like the first with each element of any as often as `(combine count-in-first count-in-other)` says, other by other.
(define (%combined combine bag bags)
  (%check-comparators bag-element-comparator bag bags)
  (fold (lambda (other result)
          (let ((combined (%bag-like bag)))
            (for-each
              (lambda (element)
                (%set-count! combined element (combine (bag-element-count result element) (bag-element-count other element))))
              (append (map car (bag->alist result)) (map car (bag->alist other))))
            combined))
        (bag-copy bag)
        bags))

;;;> The bag with each element as often as in the bag that has it most.
(define (bag-union bag . bags) (%combined max bag bags))
;;;> The bag with each element as often as in the bag that has it least.
(define (bag-intersection bag . bags) (%combined min bag bags))
;;;> The bag with each element of the first as often as it is in it more than in the others.
(define (bag-difference bag . bags) (%combined - bag bags))
;;;> The bag with each element as often as it is in one of two bags more than in the other.
(define (bag-xor a b) (%combined (lambda (m n) (abs (- m n))) a (list b)))
;;;> As `bag-union`, in the first bag.
(define (bag-union! bag . bags) (%become! bag (apply bag-union bag bags)))
;;;> As `bag-intersection`, in the first bag.
(define (bag-intersection! bag . bags) (%become! bag (apply bag-intersection bag bags)))
;;;> As `bag-difference`, in the first bag.
(define (bag-difference! bag . bags) (%become! bag (apply bag-difference bag bags)))
;;;> As `bag-xor`, in the first bag.
(define (bag-xor! a b) (%become! a (bag-xor a b)))
;;;> The bag with each element as often as in all bags together.
(define (bag-sum bag . bags) (%combined + bag bags))
;;;> Puts the elements of the other bags into the first, which it answers.
(define (bag-sum! bag . bags)
  (%check-comparators bag-element-comparator bag bags)
  (for-each (lambda (other) (list->bag! bag (bag->list other))) bags)
  bag)
;;;> The bag with each element `count` times as often.
(define (bag-product count bag)
  (alist->bag (bag-element-comparator bag) (map (lambda (entry) (cons (car entry) (* count (cdr entry)))) (bag->alist bag))))
;;;> Makes each element of a bag occur `count` times as often; the bag.
(define (bag-product! count bag)
  (for-each
    (lambda (entry)
      (if (= count 0)
          (bag-decrement! bag (car entry) (cdr entry))
          (bag-increment! bag (car entry) (* (- count 1) (cdr entry)))))
    (bag->alist bag))
  bag)

;;;> The set of the elements of a bag.
(define (bag->set bag) (list->set (bag-element-comparator bag) (map car (bag->alist bag))))
;;;> The bag with each element of a set once.
(define (set->bag set) (list->bag (set-element-comparator set) (set->list set)))

;;;> Puts each element of a set into a bag once more; the bag.
(define (set->bag! bag set) (list->bag! bag (set->list set)))

;;;> The comparator of bags: by their elements, without an order.
(define bag-comparator
  (make-comparator bag? bag=? #f
    (lambda (bag)
      (bag-fold (lambda (element hash) (modulo (+ hash (comparator-hash (bag-element-comparator bag) element)) (hash-bound))) 0 bag))))
