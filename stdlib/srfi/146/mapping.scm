(define-record-type <mapping>
  (%mapping comparator tree)
  ;;;> Whether an object is a mapping.
  mapping?
  ;;;> The comparator of a mapping's keys.
  (comparator mapping-key-comparator)
  (tree %tree))

(define (%less mapping) (comparator-ordering-predicate (mapping-key-comparator mapping)))
(define (%same mapping tree) (%mapping (mapping-key-comparator mapping) tree))

(define (%empty comparator)
  (if (not (comparator-ordered? comparator)) (error "a mapping needs a comparator with an order" comparator))
  (%mapping comparator #f))

;;; Calls `each` with the keys and values that stand in turn in a list.
(define (%in-pairs entries accumulated each)
  (cond ((null? entries) accumulated)
        ((null? (cdr entries)) (error "the last key has no value" (car entries)))
        (else (%in-pairs (cddr entries) (each (car entries) (cadr entries) accumulated) each))))

;;;> A mapping by a comparator of keys and values in turn; of equal keys the first counts.
(define (mapping comparator . entries) (apply mapping-adjoin (%empty comparator) entries))
;;;> As `mapping`; the keys are in order.
(define (mapping/ordered comparator . entries) (apply mapping comparator entries))

;;;> A mapping: `(entry seed)` gives two values, key and value; seeds `(next seed)` until `(stop? seed)`. Of equal keys the first counts.
(define (mapping-unfold stop? entry next seed comparator)
  (let loop ((seed seed) (mapping (%empty comparator)))
    (if (stop? seed)
        mapping
        (loop (next seed)
              (call-with-values (lambda () (entry seed)) (lambda (key value) (mapping-adjoin mapping key value)))))))
;;;> As `mapping-unfold`; the keys are in order.
(define (mapping-unfold/ordered stop? entry next seed comparator) (mapping-unfold stop? entry next seed comparator))

;;;> Whether a key is there.
(define (mapping-contains? mapping key) (and (%find (%less mapping) (%tree mapping) key) #t))
;;;> Whether a mapping has no entries.
(define (mapping-empty? mapping) (not (%tree mapping)))
;;;> Whether two mappings have no key in common.
(define (mapping-disjoint? a b) (not (%intersection (%less a) (%tree a) (%tree b))))

;;;> The value of a key, passed through `success`. Without the key, what `failure` answers; without that, an error.
(define mapping-ref
  (case-lambda
    ((mapping key) (mapping-ref mapping key (lambda () (error "mapping-ref: there is no such key" key))))
    ((mapping key failure) (mapping-ref mapping key failure (lambda (value) value)))
    ((mapping key failure success)
     (let ((node (%find (%less mapping) (%tree mapping) key)))
       (if node (success (%value node)) (failure))))))
;;;> The value of a key, or `default`.
(define (mapping-ref/default mapping key default)
  (let ((node (%find (%less mapping) (%tree mapping) key))) (if node (%value node) default)))

;;;> A mapping with more entries; a key that is there keeps its value.
(define (mapping-adjoin mapping . entries)
  (let ((less? (%less mapping)))
    (%same mapping
      (%in-pairs entries (%tree mapping)
        (lambda (key value tree) (if (%find less? tree key) tree (%insert less? tree key value)))))))
;;;> A mapping with keys of which the values are these.
(define (mapping-set mapping . entries)
  (let ((less? (%less mapping)))
    (%same mapping
      (%in-pairs entries (%tree mapping) (lambda (key value tree) (%insert less? tree key value))))))
;;;> A mapping with another value for a key, if the key is there.
(define (mapping-replace mapping key value)
  (if (mapping-contains? mapping key) (mapping-set mapping key value) mapping))
;;;> A mapping without some keys.
(define (mapping-delete mapping . keys) (mapping-delete-all mapping keys))
;;;> A mapping without the keys of a list.
(define (mapping-delete-all mapping keys)
  (let ((less? (%less mapping)))
    (%same mapping (fold (lambda (key tree) (%remove less? tree key)) (%tree mapping) keys))))
;;;> Two values: a mapping in which a key has a value, that of `failure` if it had none, and the value.
(define (mapping-intern mapping key failure)
  (let ((node (%find (%less mapping) (%tree mapping) key)))
    (if node
        (values mapping (%value node))
        (let ((value (failure))) (values (mapping-set mapping key value) value)))))
;;;> A mapping with what `change` answers for a key's value, passed through `success`, or for what `failure` answers.
(define mapping-update
  (case-lambda
    ((mapping key change) (mapping-update mapping key change (lambda () (error "mapping-update: there is no such key" key))))
    ((mapping key change failure) (mapping-update mapping key change failure (lambda (value) value)))
    ((mapping key change failure success)
     (mapping-set mapping key (change (mapping-ref mapping key failure success))))))
;;;> A mapping with what `change` answers for a key's value, or for `default`.
(define (mapping-update/default mapping key change default)
  (mapping-update mapping key change (lambda () default)))
;;;> Three values: a mapping without its first entry, and the key and the value of that. Of an empty mapping, what `failure` answers.
(define mapping-pop
  (case-lambda
    ((mapping) (mapping-pop mapping (lambda () (error "mapping-pop: the mapping is empty" mapping))))
    ((mapping failure)
     (let ((tree (%tree mapping)))
       (if tree
           (let ((first (%first tree)))
             (values (%same mapping (%without-first tree)) (%key first) (%value first)))
           (failure))))))
;;;> Looks for a key and calls `(failure insert ignore)` or `(success key value update remove)` in a tail call; these are called to decide what becomes of the
;;;> entry: `(insert value object)`, `(ignore object)`, `(update key value object)`, `(remove object)`. Two values: a mapping, and the object.
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

;;;> How many entries there are.
(define (mapping-size mapping) (%size (%tree mapping)))
;;;> Two values: key and value of the first entry for which `(wanted? key value)` holds; without one, what `failure` answers.
(define (mapping-find wanted? mapping failure)
  ((call/cc
     (lambda (return)
       (%fold (lambda (key value ignored) (if (wanted? key value) (return (lambda () (values key value))) #f))
              #f (%tree mapping))
       failure))))
;;;> For how many entries `(wanted? key value)` holds.
(define (mapping-count wanted? mapping)
  (%fold (lambda (key value count) (if (wanted? key value) (+ count 1) count)) 0 (%tree mapping)))
;;;> Whether `(wanted? key value)` holds for an entry.
(define (mapping-any? wanted? mapping)
  (call/cc
    (lambda (return)
      (%fold (lambda (key value ignored) (if (wanted? key value) (return #t) #f)) #f (%tree mapping)))))
;;;> Whether `(wanted? key value)` holds for all entries.
(define (mapping-every? wanted? mapping)
  (not (mapping-any? (lambda (key value) (not (wanted? key value))) mapping)))

;;;> A list of the keys, in order.
(define (mapping-keys mapping) (%fold-reverse (lambda (key value keys) (cons key keys)) '() (%tree mapping)))
;;;> A list of the values, in the order of their keys.
(define (mapping-values mapping) (%fold-reverse (lambda (key value values) (cons value values)) '() (%tree mapping)))
;;;> Two values: the keys and the values.
(define (mapping-entries mapping) (values (mapping-keys mapping) (mapping-values mapping)))

;;;> A mapping by a comparator of the keys and values that `(procedure key value)` answers.
(define (mapping-map procedure comparator mapping)
  (mapping-fold
    (lambda (key value mapped)
      (call-with-values (lambda () (procedure key value)) (lambda (key value) (mapping-adjoin mapped key value))))
    (%empty comparator)
    mapping))
;;;> As `mapping-map`, if the procedure keeps the order of keys.
(define (mapping-map/monotone procedure comparator mapping) (mapping-map procedure comparator mapping))
;;;> Calls `(procedure key value)` for each entry, in order.
(define (mapping-for-each procedure mapping)
  (%fold (lambda (key value ignored) (procedure key value) #f) #f (%tree mapping))
  (if #f #f))
;;;> Combines the entries, in order: `(combine key value accumulated)`.
(define (mapping-fold combine initial mapping) (%fold combine initial (%tree mapping)))
;;;> Combines the entries, the last one first.
(define (mapping-fold/reverse combine initial mapping) (%fold-reverse combine initial (%tree mapping)))
;;;> A list of what `(procedure key value)` answers, in order.
(define (mapping-map->list procedure mapping)
  (reverse (mapping-fold (lambda (key value list) (cons (procedure key value) list)) '() mapping)))
;;;> The entries for which `(wanted? key value)` holds.
(define (mapping-filter wanted? mapping) (%same mapping (%filter wanted? (%tree mapping))))
;;;> The entries for which `(unwanted? key value)` does not hold.
(define (mapping-remove unwanted? mapping)
  (mapping-filter (lambda (key value) (not (unwanted? key value))) mapping))
;;;> Two values: the entries for which `(wanted? key value)` holds, and the others.
(define (mapping-partition wanted? mapping)
  (values (mapping-filter wanted? mapping) (mapping-remove wanted? mapping)))

;;;> The mapping: mappings are never changed.
(define (mapping-copy mapping) mapping)
;;;> A list of pairs of key and value, in order.
(define (mapping->alist mapping) (mapping-map->list cons mapping))
;;;> A mapping by a comparator of the entries of an association list; of equal keys the first counts.
(define (alist->mapping comparator alist) (alist->mapping! (%empty comparator) alist))
;;;> As `alist->mapping`; the keys are in order.
(define (alist->mapping/ordered comparator alist) (alist->mapping comparator alist))
;;;> A mapping with the entries of an association list added.
(define (alist->mapping! mapping alist)
  (fold (lambda (entry mapping) (mapping-adjoin mapping (car entry) (cdr entry))) mapping alist))
;;;> As `alist->mapping!`; the keys are in order.
(define (alist->mapping/ordered! mapping alist) (alist->mapping! mapping alist))
