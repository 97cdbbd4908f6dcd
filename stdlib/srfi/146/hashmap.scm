;;; A hashmap is a tree by hash, whose values are lists of the entries of one hash: pairs of key and value, which are never changed.
(define-record-type <hashmap>
  (%hashmap comparator buckets size)
  ;;;> Whether an object is a hashmap.
  hashmap?
  ;;;> The comparator of a hashmap's keys.
  (comparator hashmap-key-comparator)
  (buckets %buckets)
  ;;;> How many entries there are.
  (size hashmap-size))

(define (%empty comparator)
  (if (not (comparator-hashable? comparator)) (error "a hashmap needs a comparator with a hash function" comparator))
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
  (%among (comparator-equality-predicate (hashmap-key-comparator hashmap)) key (%bucket hashmap (%hash-of hashmap key))))

;;; A hashmap with an entry, in the place of the one with its key if there is one.
(define (%with hashmap entry)
  (let* ((comparator (hashmap-key-comparator hashmap))
         (hash (%hash-of hashmap (car entry)))
         (bucket (%bucket hashmap hash))
         (known (%among (comparator-equality-predicate comparator) (car entry) bucket))
         (others (if known (%without known bucket) bucket)))
    (%hashmap comparator
      (%insert < (%buckets hashmap) hash (cons entry others))
      (if known (hashmap-size hashmap) (+ (hashmap-size hashmap) 1)))))

;;; Calls `each` with the keys and values that stand in turn in a list.
(define (%in-pairs entries accumulated each)
  (cond ((null? entries) accumulated)
        ((null? (cdr entries)) (error "the last key has no value" (car entries)))
        (else (%in-pairs (cddr entries) (each (car entries) (cadr entries) accumulated) each))))

;;;> A hashmap by a comparator of keys and values in turn; of equal keys the first counts.
(define (hashmap comparator . entries) (apply hashmap-adjoin (%empty comparator) entries))
;;;> A hashmap: `(entry seed)` gives two values, key and value; seeds `(next seed)` until `(stop? seed)`. Of equal keys the first counts.
(define (hashmap-unfold stop? entry next seed comparator)
  (let loop ((seed seed) (hashmap (%empty comparator)))
    (if (stop? seed)
        hashmap
        (loop (next seed)
              (call-with-values (lambda () (entry seed)) (lambda (key value) (hashmap-adjoin hashmap key value)))))))

;;;> Whether a key is there.
(define (hashmap-contains? hashmap key) (and (%entry hashmap key) #t))
;;;> Whether a hashmap has no entries.
(define (hashmap-empty? hashmap) (= (hashmap-size hashmap) 0))
;;;> Whether two hashmaps have no key in common.
(define (hashmap-disjoint? a b) (not (hashmap-any? (lambda (key value) (hashmap-contains? b key)) a)))

;;;> The value of a key, passed through `success`. Without the key, what `failure` answers; without that, an error.
(define hashmap-ref
  (case-lambda
    ((hashmap key) (hashmap-ref hashmap key (lambda () (error "hashmap-ref: there is no such key" key))))
    ((hashmap key failure) (let ((entry (%entry hashmap key))) (if entry (cdr entry) (failure))))
    ((hashmap key failure success) (let ((entry (%entry hashmap key))) (if entry (success (cdr entry)) (failure))))))
;;;> The value of a key, or `default`.
(define (hashmap-ref/default hashmap key default)
  (let ((entry (%entry hashmap key))) (if entry (cdr entry) default)))

;;;> A hashmap with more entries; a key that is there keeps its value.
(define (hashmap-adjoin hashmap . entries)
  (%in-pairs entries hashmap
    (lambda (key value hashmap) (if (%entry hashmap key) hashmap (%with hashmap (cons key value))))))
;;;> A hashmap with keys of which the values are these.
(define (hashmap-set hashmap . entries)
  (%in-pairs entries hashmap (lambda (key value hashmap) (%with hashmap (cons key value)))))
;;;> A hashmap with another value for a key, if the key is there.
(define (hashmap-replace hashmap key value)
  (if (%entry hashmap key) (%with hashmap (cons key value)) hashmap))
;;;> A hashmap without some keys.
(define (hashmap-delete hashmap . keys) (hashmap-delete-all hashmap keys))
;;;> A hashmap without the keys of a list.
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

;;;> Two values: a hashmap in which a key has a value, that of `failure` if it had none, and the value.
(define (hashmap-intern hashmap key failure)
  (let ((entry (%entry hashmap key)))
    (if entry
        (values hashmap (cdr entry))
        (let ((value (failure))) (values (%with hashmap (cons key value)) value)))))
;;;> A hashmap with what `change` answers for a key's value, passed through `success`, or for what `failure` answers.
(define hashmap-update
  (case-lambda
    ((hashmap key change) (hashmap-update hashmap key change (lambda () (error "hashmap-update: there is no such key" key))))
    ((hashmap key change failure) (hashmap-update hashmap key change failure (lambda (value) value)))
    ((hashmap key change failure success)
     (%with hashmap (cons key (change (hashmap-ref hashmap key failure success)))))))
;;;> A hashmap with what `change` answers for a key's value, or for `default`.
(define (hashmap-update/default hashmap key change default) (hashmap-update hashmap key change (lambda () default)))
;;;> Three values: a hashmap without one of its entries, and the key and the value of that. Of an empty hashmap, what `failure` answers.
(define hashmap-pop
  (case-lambda
    ((hashmap) (hashmap-pop hashmap (lambda () (error "hashmap-pop: the hashmap is empty" hashmap))))
    ((hashmap failure)
     (if (hashmap-empty? hashmap)
         (failure)
         (let ((entry (car (%value (%first (%buckets hashmap))))))
           (values (%less-key (car entry) hashmap) (car entry) (cdr entry)))))))
;;;> Looks for a key and calls `(failure insert ignore)` or `(success key value update remove)` in a tail call; these are called to decide what becomes of the
;;;> entry: `(insert value object)`, `(ignore object)`, `(update key value object)`, `(remove object)`. Two values: a hashmap, and the object.
(define (hashmap-search hashmap key failure success)
  (let ((entry (%entry hashmap key)))
    (if entry
        (success (car entry) (cdr entry)
          (lambda (new-key value object) (values (%with (%less-key key hashmap) (cons new-key value)) object))
          (lambda (object) (values (%less-key key hashmap) object)))
        (failure
          (lambda (value object) (values (%with hashmap (cons key value)) object))
          (lambda (object) (values hashmap object))))))

;;;> Combines the entries: `(combine key value accumulated)`.
(define (hashmap-fold combine initial hashmap)
  (%fold
    (lambda (hash bucket accumulated)
      (fold (lambda (entry accumulated) (combine (car entry) (cdr entry) accumulated)) accumulated bucket))
    initial
    (%buckets hashmap)))
;;;> Two values: key and value of an entry for which `(wanted? key value)` holds; without one, what `failure` answers.
(define (hashmap-find wanted? hashmap failure)
  ((call/cc
     (lambda (return)
       (hashmap-fold (lambda (key value ignored) (if (wanted? key value) (return (lambda () (values key value))) #f)) #f hashmap)
       failure))))
;;;> For how many entries `(wanted? key value)` holds.
(define (hashmap-count wanted? hashmap)
  (hashmap-fold (lambda (key value count) (if (wanted? key value) (+ count 1) count)) 0 hashmap))
;;;> Whether `(wanted? key value)` holds for an entry.
(define (hashmap-any? wanted? hashmap)
  (call/cc
    (lambda (return)
      (hashmap-fold (lambda (key value ignored) (if (wanted? key value) (return #t) #f)) #f hashmap))))
;;;> Whether `(wanted? key value)` holds for all entries.
(define (hashmap-every? wanted? hashmap)
  (not (hashmap-any? (lambda (key value) (not (wanted? key value))) hashmap)))

;;;> A list of the keys.
(define (hashmap-keys hashmap) (hashmap-map->list (lambda (key value) key) hashmap))
;;;> A list of the values, in the order of `hashmap-keys`.
(define (hashmap-values hashmap) (hashmap-map->list (lambda (key value) value) hashmap))
;;;> Two values: the keys and the values.
(define (hashmap-entries hashmap) (values (hashmap-keys hashmap) (hashmap-values hashmap)))

;;;> A hashmap by a comparator of the keys and values that `(procedure key value)` answers.
(define (hashmap-map procedure comparator hashmap)
  (hashmap-fold
    (lambda (key value mapped)
      (call-with-values (lambda () (procedure key value)) (lambda (key value) (hashmap-adjoin mapped key value))))
    (%empty comparator)
    hashmap))
;;;> Calls `(procedure key value)` for each entry.
(define (hashmap-for-each procedure hashmap)
  (hashmap-fold (lambda (key value ignored) (procedure key value) #f) #f hashmap)
  (if #f #f))
;;;> A list of what `(procedure key value)` answers.
(define (hashmap-map->list procedure hashmap)
  (reverse (hashmap-fold (lambda (key value list) (cons (procedure key value) list)) '() hashmap)))
;;;> The entries for which `(wanted? key value)` holds.
(define (hashmap-filter wanted? hashmap) (hashmap-remove (lambda (key value) (not (wanted? key value))) hashmap))
;;;> The entries for which `(unwanted? key value)` does not hold.
(define (hashmap-remove unwanted? hashmap)
  (hashmap-fold (lambda (key value left) (if (unwanted? key value) (%less-key key left) left)) hashmap hashmap))
;;;> Two values: the entries for which `(wanted? key value)` holds, and the others.
(define (hashmap-partition wanted? hashmap)
  (values (hashmap-filter wanted? hashmap) (hashmap-remove wanted? hashmap)))

;;;> The hashmap: hashmaps are never changed.
(define (hashmap-copy hashmap) hashmap)
;;;> A list of pairs of key and value.
(define (hashmap->alist hashmap) (hashmap-map->list cons hashmap))
;;;> A hashmap by a comparator of the entries of an association list; of equal keys the first counts.
(define (alist->hashmap comparator alist) (alist->hashmap! (%empty comparator) alist))
;;;> A hashmap with the entries of an association list added.
(define (alist->hashmap! hashmap alist)
  (fold (lambda (entry hashmap) (hashmap-adjoin hashmap (car entry) (cdr entry))) hashmap alist))

;;; Whether every entry of a hashmap is in another, values being compared by a comparator.
(define (%within? comparator a b)
  (let ((same? (comparator-equality-predicate comparator)))
    (and (eq? (hashmap-key-comparator a) (hashmap-key-comparator b))
         (hashmap-every?
           (lambda (key value) (let ((entry (%entry b key))) (and entry (same? value (cdr entry)))))
           a))))

(define (%chain holds?)
  (lambda (comparator first . rest)
    (let loop ((first first) (rest rest))
      (or (null? rest)
          (and (holds? comparator first (car rest)) (loop (car rest) (cdr rest)))))))

;;;> Whether the hashmaps have the same entries.
(define hashmap=?
  (%chain (lambda (comparator a b) (and (= (hashmap-size a) (hashmap-size b)) (%within? comparator a b)))))
;;;> Whether the entries of each hashmap are among those of the next.
(define hashmap<=? (%chain %within?))
;;;> Whether the entries of each hashmap are among those of the one before.
(define hashmap>=? (%chain (lambda (comparator a b) (%within? comparator b a))))
;;;> Whether the entries of each hashmap are among those of the next, which has more.
(define hashmap<?
  (%chain (lambda (comparator a b) (and (< (hashmap-size a) (hashmap-size b)) (%within? comparator a b)))))
;;;> Whether the entries of each hashmap are among those of the one before, which has more.
(define hashmap>?
  (%chain (lambda (comparator a b) (and (> (hashmap-size a) (hashmap-size b)) (%within? comparator b a)))))

;;;> The entries of all hashmaps; of equal keys the first counts.
(define (hashmap-union first . rest)
  (fold (lambda (next union) (hashmap-fold (lambda (key value union) (hashmap-adjoin union key value)) union next)) first rest))
;;;> The entries of the first hashmap whose keys all others have.
(define (hashmap-intersection first . rest)
  (fold (lambda (next left) (hashmap-filter (lambda (key value) (%entry next key)) left)) first rest))
;;;> The entries of the first hashmap whose keys no other has.
(define (hashmap-difference first . rest)
  (fold (lambda (next left) (hashmap-remove (lambda (key value) (%entry next key)) left)) first rest))
;;;> The entries whose keys only one of two hashmaps has.
(define (hashmap-xor a b) (hashmap-union (hashmap-difference a b) (hashmap-difference b a)))

;;;> A comparator of hashmaps by their entries, the values being compared by `comparator`. There is no order.
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

;;; The default comparator knows hashmaps wherever there are any.
(comparator-register-default! hashmap-comparator)
