;;; A hashmap is a tree by hash, whose values are lists of the entries of one hash: pairs of key and
;;; value, which are immutable.
(define-record-type <hashmap>
  (%hashmap comparator buckets size)
  ;;;> Returns whether an object is a hashmap.
  hashmap?
  ;;;> Returns the comparator of a hashmap's keys.
  (comparator hashmap-key-comparator)
  (buckets %buckets)
  ;;;> Returns how many entries it has.
  (size hashmap-size))

(define (%empty comparator)
  (if (not (comparator-hashable? comparator))
      (error "a hashmap needs a comparator with a hash function" comparator))
  (%hashmap comparator #f 0))

(define (%hash-of hashmap key) (comparator-hash (hashmap-key-comparator hashmap) key))

;;; The entry of a key in a list, or #f.
(define (%among same? key entries)
  (cond ((null? entries) #f)
        ((same? key (car (car entries))) (car entries))
        (else (%among same? key (cdr entries)))))

(define (%without entry entries)
  (if (eq? (car entries) entry)
      (cdr entries)
      (cons (car entries) (%without entry (cdr entries)))))

;;; The entries that have the hash of a key.
(define (%bucket hashmap hash)
  (let ((node (%find < (%buckets hashmap) hash))) (if node (%value node) '())))

;;; The entry of a key, or #f.
(define (%entry hashmap key)
  (%among (comparator-equality-predicate (hashmap-key-comparator hashmap)) key
    (%bucket hashmap (%hash-of hashmap key))))

;;; Returns a hashmap with an entry, which replaces one with the same key.
(define (%with hashmap entry)
  (let* ((comparator (hashmap-key-comparator hashmap))
         (hash (%hash-of hashmap (car entry)))
         (bucket (%bucket hashmap hash))
         (known (%among (comparator-equality-predicate comparator) (car entry) bucket))
         (others (if known (%without known bucket) bucket)))
    (%hashmap comparator
      (%insert < (%buckets hashmap) hash (cons entry others))
      (if known (hashmap-size hashmap) (+ (hashmap-size hashmap) 1)))))

;;;> Returns a hashmap by a comparator from alternating keys and values; of equal keys the first
;;;> counts.
(define (hashmap comparator . entries) (%adjoin-all 'hashmap (%empty comparator) entries))
;;;> Returns a hashmap: `(entry seed)` returns two values, key and value; seeds `(next seed)` until
;;;> `(stop? seed)`. Of equal keys the first counts.
(define (hashmap-unfold stop? entry next seed comparator)
  (%unfolded hashmap-adjoin stop? entry next seed (%empty comparator)))

;;;> Returns whether there is a key.
(define (hashmap-contains? hashmap key) (and (%entry hashmap key) #t))
;;;> Returns whether a hashmap has no entries.
(define (hashmap-empty? hashmap) (= (hashmap-size hashmap) 0))
;;;> Returns whether two hashmaps have no key in common.
(define (hashmap-disjoint? a b)
  (not (hashmap-any? (lambda (key value) (hashmap-contains? b key)) a)))

;;;> Returns the value of a key, passed through `success`. Without the key, returns the value of
;;;> `failure`; without `failure`, raises an error.
(define hashmap-ref
  (case-lambda
    ((hashmap key)
     (hashmap-ref hashmap key (lambda () (error "hashmap-ref: there is no such key" key))))
    ((hashmap key failure) (let ((entry (%entry hashmap key))) (if entry (cdr entry) (failure))))
    ((hashmap key failure success)
     (let ((entry (%entry hashmap key))) (if entry (success (cdr entry)) (failure))))))
;;;> Returns the value of a key, or `default`.
(define (hashmap-ref/default hashmap key default)
  (let ((entry (%entry hashmap key))) (if entry (cdr entry) default)))

;;; Returns a hashmap with more entries for a procedure that was called with them.
(define (%adjoin-all procedure hashmap entries)
  (%in-pairs procedure entries hashmap
    (lambda (key value hashmap)
      (if (%entry hashmap key) hashmap (%with hashmap (cons key value))))))

;;;> Returns a hashmap with more entries; a key that is there keeps its value.
(define (hashmap-adjoin hashmap . entries) (%adjoin-all 'hashmap-adjoin hashmap entries))
;;;> Returns a hashmap with keys set to these values.
(define (hashmap-set hashmap . entries)
  (%in-pairs 'hashmap-set entries hashmap
    (lambda (key value hashmap) (%with hashmap (cons key value)))))
;;;> Returns a hashmap with another value for a key, if the key is there.
(define (hashmap-replace hashmap key value)
  (if (%entry hashmap key) (%with hashmap (cons key value)) hashmap))
;;;> Returns a hashmap without these keys.
(define (hashmap-delete hashmap . keys) (hashmap-delete-all hashmap keys))
;;;> Returns a hashmap without the keys of a list.
(define (hashmap-delete-all hashmap keys) (fold %less-key hashmap keys))

(define (%less-key key hashmap)
  (let ((entry (%entry hashmap key)))
    (if entry
        (let* ((hash (%hash-of hashmap key)) (others (%without entry (%bucket hashmap hash))))
          (%hashmap (hashmap-key-comparator hashmap)
            (if (null? others)
                (%remove < (%buckets hashmap) hash)
                (%insert < (%buckets hashmap) hash others))
            (- (hashmap-size hashmap) 1)))
        hashmap)))

;;;> Returns two values: a hashmap in which a key has a value, by default that of `failure`, and the
;;;> value.
(define (hashmap-intern hashmap key failure)
  (let ((entry (%entry hashmap key)))
    (if entry
        (values hashmap (cdr entry))
        (let ((value (failure))) (values (%with hashmap (cons key value)) value)))))
;;;> Returns a hashmap with a key set to the value of `change` for its current value, passed through
;;;> `success`, or for the value of `failure`.
(define hashmap-update
  (case-lambda
    ((hashmap key change)
     (hashmap-update hashmap
                     key
                     change
                     (lambda () (error "hashmap-update: there is no such key" key))))
    ((hashmap key change failure)
     (hashmap-update hashmap key change failure (lambda (value) value)))
    ((hashmap key change failure success)
     (%with hashmap (cons key (change (hashmap-ref hashmap key failure success)))))))
;;;> Returns a hashmap with a key set to the value of `change` for its current value, or for
;;;> `default`.
(define (hashmap-update/default hashmap key change default)
  (hashmap-update hashmap key change (lambda () default)))
;;;> Returns three values: a hashmap without one of its entries, and the key and the value of that.
;;;> For an empty hashmap, returns the value of `failure`.
(define hashmap-pop
  (case-lambda
    ((hashmap)
     (hashmap-pop hashmap (lambda () (error "hashmap-pop: the hashmap is empty" hashmap))))
    ((hashmap failure)
     (if (hashmap-empty? hashmap)
         (failure)
         (let ((entry (car (%value (%first (%buckets hashmap))))))
           (values (%less-key (car entry) hashmap) (car entry) (cdr entry)))))))
;;;> Looks for a key and calls `(failure insert ignore)` or `(success key value update remove)` in a
;;;> tail call. The arguments decide about the entry: `(insert value object)`, `(ignore object)`,
;;;> `(update key value object)`, `(remove object)`. Returns two values: a hashmap, and the object.
(define (hashmap-search hashmap key failure success)
  (let ((entry (%entry hashmap key)))
    (if entry
        (success (car entry) (cdr entry)
          (lambda (new-key value object)
            (values (%with (%less-key key hashmap) (cons new-key value)) object))
          (lambda (object) (values (%less-key key hashmap) object)))
        (failure
          (lambda (value object) (values (%with hashmap (cons key value)) object))
          (lambda (object) (values hashmap object))))))

;;;> Combines the entries: `(combine key value accumulated)`.
(define (hashmap-fold combine initial hashmap)
  (%fold
    (lambda (hash bucket accumulated)
      (fold (lambda (entry accumulated) (combine (car entry) (cdr entry) accumulated))
            accumulated
            bucket))
    initial
    (%buckets hashmap)))
;;;> Returns two values: key and value of an entry that satisfies `(wanted? key value)`; without
;;;> one, returns the value of `failure`.
(define (hashmap-find wanted? hashmap failure) (%found hashmap-fold wanted? hashmap failure))
;;;> Returns the number of entries that satisfy `(wanted? key value)`.
(define (hashmap-count wanted? hashmap) (%counted hashmap-fold wanted? hashmap))
;;;> Returns whether an entry satisfies `(wanted? key value)`.
(define (hashmap-any? wanted? hashmap) (%any? hashmap-fold wanted? hashmap))
;;;> Returns whether all entries satisfy `(wanted? key value)`.
(define (hashmap-every? wanted? hashmap)
  (not (hashmap-any? (lambda (key value) (not (wanted? key value))) hashmap)))

;;;> Returns a list of the keys.
(define (hashmap-keys hashmap) (hashmap-map->list (lambda (key value) key) hashmap))
;;;> Returns a list of the values, in the order of `hashmap-keys`.
(define (hashmap-values hashmap) (hashmap-map->list (lambda (key value) value) hashmap))
;;;> Returns two values: the keys and the values.
(define (hashmap-entries hashmap) (values (hashmap-keys hashmap) (hashmap-values hashmap)))

;;;> Returns a hashmap by a comparator of the keys and values that `(procedure key value)` returns.
(define (hashmap-map procedure comparator hashmap)
  (%mapped hashmap-fold hashmap-adjoin procedure (%empty comparator) hashmap))
;;;> Calls `(procedure key value)` for each entry.
(define (hashmap-for-each procedure hashmap) (%for-each hashmap-fold procedure hashmap))
;;;> Returns a list of the values of `(procedure key value)`.
(define (hashmap-map->list procedure hashmap) (%listed hashmap-fold procedure hashmap))
;;;> Returns the entries that satisfy `(wanted? key value)`.
(define (hashmap-filter wanted? hashmap)
  (hashmap-remove (lambda (key value) (not (wanted? key value))) hashmap))
;;;> Returns the entries that do not satisfy `(unwanted? key value)`.
(define (hashmap-remove unwanted? hashmap)
  (hashmap-fold (lambda (key value left) (if (unwanted? key value) (%less-key key left) left))
                hashmap
                hashmap))
;;;> Returns two values: the entries that satisfy `(wanted? key value)`, and the others.
(define (hashmap-partition wanted? hashmap)
  (values (hashmap-filter wanted? hashmap) (hashmap-remove wanted? hashmap)))

;;;> Returns the hashmap: hashmaps are immutable.
(define (hashmap-copy hashmap) hashmap)
;;;> Returns a list of pairs of key and value.
(define (hashmap->alist hashmap) (hashmap-map->list cons hashmap))
;;;> Returns a hashmap by a comparator of the entries of an association list; of equal keys the
;;;> first counts.
(define (alist->hashmap comparator alist) (alist->hashmap! (%empty comparator) alist))
;;;> Returns a hashmap with the entries of an association list added.
(define (alist->hashmap! hashmap alist)
  (fold (lambda (entry hashmap) (hashmap-adjoin hashmap (car entry) (cdr entry))) hashmap alist))

;;; Whether every entry of a hashmap is in another, with values equal by a comparator.
(define (%within? comparator a b)
  (let ((same? (comparator-equality-predicate comparator)))
    (and (eq? (hashmap-key-comparator a) (hashmap-key-comparator b))
         (hashmap-every?
           (lambda (key value) (let ((entry (%entry b key))) (and entry (same? value (cdr entry)))))
           a))))

;;;> Returns whether the hashmaps have the same entries.
(define hashmap=? (%sized = hashmap-size %within?))
;;;> Returns whether the entries of each hashmap are among those of the next.
(define hashmap<=? (%chain %within?))
;;;> Returns whether the entries of each hashmap are among those of the previous one.
(define hashmap>=? (%chain (%reversed %within?)))
;;;> Returns whether the entries of each hashmap are among those of the next, which has more
;;;> entries.
(define hashmap<? (%sized < hashmap-size %within?))
;;;> Returns whether the entries of each hashmap are among those of the previous one, which has more
;;;> entries.
(define hashmap>? (%sized > hashmap-size (%reversed %within?)))

;;;> Returns the entries of all hashmaps; of equal keys the first counts.
(define (hashmap-union first . rest)
  (fold
    (lambda (next union)
      (hashmap-fold (lambda (key value union) (hashmap-adjoin union key value)) union next))
    first rest))
;;;> Returns the entries of the first hashmap whose keys all others have.
(define (hashmap-intersection first . rest)
  (fold (lambda (next left) (hashmap-filter (lambda (key value) (%entry next key)) left))
        first
        rest))
;;;> Returns the entries of the first hashmap whose keys no other has.
(define (hashmap-difference first . rest)
  (fold (lambda (next left) (hashmap-remove (lambda (key value) (%entry next key)) left))
        first
        rest))
;;;> Returns the entries whose keys only one of two hashmaps has.
(define (hashmap-xor a b) (hashmap-union (hashmap-difference a b) (hashmap-difference b a)))

;;;> Returns a comparator of hashmaps by their entries, whose values `comparator` compares; without
;;;> an ordering.
(define (make-hashmap-comparator comparator)
  (make-comparator
    hashmap?
    (lambda (a b) (hashmap=? comparator a b))
    #f
    (lambda (hashmap)
      (hashmap-fold
        (lambda (key value hash)
          (modulo (+ hash (%hash-of hashmap key) (comparator-hash comparator value)) (hash-bound)))
        0 hashmap))))

;;;> The comparator of hashmaps with values that the default comparator compares.
(define hashmap-comparator (make-hashmap-comparator (make-default-comparator)))

;;; The default comparator accepts hashmaps.
(comparator-register-default! hashmap-comparator)
