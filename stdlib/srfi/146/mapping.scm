(define-record-type <mapping>
  (%mapping comparator tree)
  ;;;> Returns whether an object is a mapping.
  mapping?
  ;;;> Returns the comparator of a mapping's keys.
  (comparator mapping-key-comparator)
  (tree %tree))

(define (%less mapping) (comparator-ordering-predicate (mapping-key-comparator mapping)))
(define (%same mapping tree) (%mapping (mapping-key-comparator mapping) tree))

(define (%empty comparator)
  (if (not (comparator-ordered? comparator))
      (error "a mapping needs a comparator with an order" comparator))
  (%mapping comparator #f))

;;;> Returns a mapping by a comparator from alternating keys and values; of equal keys the first
;;;> counts.
(define (mapping comparator . entries) (%adjoin-all 'mapping (%empty comparator) entries))
;;;> Like `mapping`; the keys are in order.
(define (mapping/ordered comparator . entries)
  (%adjoin-all 'mapping/ordered (%empty comparator) entries))

;;;> Returns a mapping: `(entry seed)` returns two values, key and value; seeds `(next seed)` until
;;;> `(stop? seed)`. Of equal keys the first counts.
(define (mapping-unfold stop? entry next seed comparator)
  (%unfolded mapping-adjoin stop? entry next seed (%empty comparator)))
;;;> Like `mapping-unfold`; the keys are in order.
(define (mapping-unfold/ordered stop? entry next seed comparator)
  (mapping-unfold stop? entry next seed comparator))

;;;> Returns whether there is a key.
(define (mapping-contains? mapping key) (and (%find (%less mapping) (%tree mapping) key) #t))
;;;> Returns whether a mapping has no entries.
(define (mapping-empty? mapping) (not (%tree mapping)))
;;;> Returns whether two mappings have no key in common.
(define (mapping-disjoint? a b) (not (%intersection (%less a) (%tree a) (%tree b))))

;;;> Returns the value of a key, passed through `success`. Without the key, returns the value of
;;;> `failure`; without `failure`, raises an error.
(define mapping-ref
  (case-lambda
    ((mapping key)
     (mapping-ref mapping key (lambda () (error "mapping-ref: there is no such key" key))))
    ((mapping key failure) (mapping-ref mapping key failure (lambda (value) value)))
    ((mapping key failure success)
     (let ((node (%find (%less mapping) (%tree mapping) key)))
       (if node (success (%value node)) (failure))))))
;;;> Returns the value of a key, or `default`.
(define (mapping-ref/default mapping key default)
  (let ((node (%find (%less mapping) (%tree mapping) key))) (if node (%value node) default)))

;;; Returns a mapping with more entries for a procedure that was called with them.
(define (%adjoin-all procedure mapping entries)
  (let ((less? (%less mapping)))
    (%same mapping
      (%in-pairs procedure entries (%tree mapping)
        (lambda (key value tree)
          (if (%find less? tree key) tree (%insert less? tree key value)))))))

;;;> Returns a mapping with more entries; a key that is there keeps its value.
(define (mapping-adjoin mapping . entries) (%adjoin-all 'mapping-adjoin mapping entries))
;;;> Returns a mapping with keys set to these values.
(define (mapping-set mapping . entries)
  (let ((less? (%less mapping)))
    (%same mapping
      (%in-pairs 'mapping-set entries
                 (%tree mapping)
                 (lambda (key value tree) (%insert less? tree key value))))))
;;;> Returns a mapping with another value for a key, if the key is there.
(define (mapping-replace mapping key value)
  (if (mapping-contains? mapping key) (mapping-set mapping key value) mapping))
;;;> Returns a mapping without these keys.
(define (mapping-delete mapping . keys) (mapping-delete-all mapping keys))
;;;> Returns a mapping without the keys of a list.
(define (mapping-delete-all mapping keys)
  (let ((less? (%less mapping)))
    (%same mapping (fold (lambda (key tree) (%remove less? tree key)) (%tree mapping) keys))))
;;;> Returns two values: a mapping in which a key has a value, by default that of `failure`, and the
;;;> value.
(define (mapping-intern mapping key failure)
  (let ((node (%find (%less mapping) (%tree mapping) key)))
    (if node
        (values mapping (%value node))
        (let ((value (failure))) (values (mapping-set mapping key value) value)))))
;;;> Returns a mapping with a key set to the value of `change` for its current value, passed through
;;;> `success`, or for the value of `failure`.
(define mapping-update
  (case-lambda
    ((mapping key change)
     (mapping-update mapping
                     key
                     change
                     (lambda () (error "mapping-update: there is no such key" key))))
    ((mapping key change failure)
     (mapping-update mapping key change failure (lambda (value) value)))
    ((mapping key change failure success)
     (mapping-set mapping key (change (mapping-ref mapping key failure success))))))
;;;> Returns a mapping with a key set to the value of `change` for its current value, or for
;;;> `default`.
(define (mapping-update/default mapping key change default)
  (mapping-update mapping key change (lambda () default)))
;;;> Returns three values: a mapping without its first entry, and the key and the value of that. For
;;;> an empty mapping, returns the value of `failure`.
(define mapping-pop
  (case-lambda
    ((mapping)
     (mapping-pop mapping (lambda () (error "mapping-pop: the mapping is empty" mapping))))
    ((mapping failure)
     (let ((tree (%tree mapping)))
       (if tree
           (let ((first (%first tree)))
             (values (%same mapping (%without-first tree)) (%key first) (%value first)))
           (failure))))))
;;;> Looks for a key and calls `(failure insert ignore)` or `(success key value update remove)` in a
;;;> tail call. The arguments decide about the entry: `(insert value object)`, `(ignore object)`,
;;;> `(update key value object)`, `(remove object)`. Returns two values: a mapping, and the object.
(define (mapping-search mapping key failure success)
  (let ((node (%find (%less mapping) (%tree mapping) key)))
    (if node
        (success (%key node) (%value node)
          (lambda (new-key value object)
            (values (mapping-set (mapping-delete mapping key) new-key value) object))
          (lambda (object) (values (mapping-delete mapping key) object)))
        (failure
          (lambda (value object) (values (mapping-set mapping key value) object))
          (lambda (object) (values mapping object))))))

;;;> Returns how many entries it has.
(define (mapping-size mapping) (%size (%tree mapping)))
;;;> Returns two values: key and value of the first entry that satisfies `(wanted? key value)`;
;;;> without one, returns the value of `failure`.
(define (mapping-find wanted? mapping failure) (%found mapping-fold wanted? mapping failure))
;;;> Returns the number of entries that satisfy `(wanted? key value)`.
(define (mapping-count wanted? mapping) (%counted mapping-fold wanted? mapping))
;;;> Returns whether an entry satisfies `(wanted? key value)`.
(define (mapping-any? wanted? mapping) (%any? mapping-fold wanted? mapping))
;;;> Returns whether all entries satisfy `(wanted? key value)`.
(define (mapping-every? wanted? mapping)
  (not (mapping-any? (lambda (key value) (not (wanted? key value))) mapping)))

;;;> Returns a list of the keys, in order.
(define (mapping-keys mapping)
  (%fold-reverse (lambda (key value keys) (cons key keys)) '() (%tree mapping)))
;;;> Returns a list of the values, in the order of their keys.
(define (mapping-values mapping)
  (%fold-reverse (lambda (key value values) (cons value values)) '() (%tree mapping)))
;;;> Returns two values: the keys and the values.
(define (mapping-entries mapping) (values (mapping-keys mapping) (mapping-values mapping)))

;;;> Returns a mapping by a comparator of the keys and values that `(procedure key value)` returns.
(define (mapping-map procedure comparator mapping)
  (%mapped mapping-fold mapping-adjoin procedure (%empty comparator) mapping))
;;;> Like `mapping-map`, if the procedure keeps the order of keys.
(define (mapping-map/monotone procedure comparator mapping)
  (mapping-map procedure comparator mapping))
;;;> Calls `(procedure key value)` for each entry, in order.
(define (mapping-for-each procedure mapping) (%for-each mapping-fold procedure mapping))
;;;> Combines the entries, in order: `(combine key value accumulated)`.
(define (mapping-fold combine initial mapping) (%fold combine initial (%tree mapping)))
;;;> Combines the entries, the last one first.
(define (mapping-fold/reverse combine initial mapping)
  (%fold-reverse combine initial (%tree mapping)))
;;;> Returns a list of the values of `(procedure key value)`, in order.
(define (mapping-map->list procedure mapping) (%listed mapping-fold procedure mapping))
;;;> Returns the entries that satisfy `(wanted? key value)`.
(define (mapping-filter wanted? mapping) (%same mapping (%filter wanted? (%tree mapping))))
;;;> Returns the entries that do not satisfy `(unwanted? key value)`.
(define (mapping-remove unwanted? mapping)
  (mapping-filter (lambda (key value) (not (unwanted? key value))) mapping))
;;;> Returns two values: the entries that satisfy `(wanted? key value)`, and the others.
(define (mapping-partition wanted? mapping)
  (values (mapping-filter wanted? mapping) (mapping-remove wanted? mapping)))

;;;> Returns the mapping: mappings are immutable.
(define (mapping-copy mapping) mapping)
;;;> Returns a list of pairs of key and value, in order.
(define (mapping->alist mapping) (mapping-map->list cons mapping))
;;;> Returns a mapping by a comparator of the entries of an association list; of equal keys the
;;;> first counts.
(define (alist->mapping comparator alist) (alist->mapping! (%empty comparator) alist))
;;;> Like `alist->mapping`; the keys are in order.
(define (alist->mapping/ordered comparator alist) (alist->mapping comparator alist))
;;;> Returns a mapping with the entries of an association list added.
(define (alist->mapping! mapping alist)
  (fold (lambda (entry mapping) (mapping-adjoin mapping (car entry) (cdr entry))) mapping alist))
;;;> Like `alist->mapping!`; the keys are in order.
(define (alist->mapping/ordered! mapping alist) (alist->mapping! mapping alist))
