;;; SRFI 125: hash tables, and the hash functions of SRFI 69 that it retains.
(define-library (srfi 125)
  (export
    make-hash-table hash-table hash-table-unfold alist->hash-table
    (rename %table? hash-table?) hash-table-contains?
    (rename hash-table-contains? hash-table-exists?) hash-table-empty? hash-table=?
    hash-table-mutable? hash-table-ref hash-table-ref/default hash-table-set! hash-table-delete!
    hash-table-intern! hash-table-update! hash-table-update!/default hash-table-pop!
    hash-table-clear! (rename %table-count hash-table-size)
    hash-table-keys hash-table-values hash-table-entries hash-table-find hash-table-count
    hash-table-map hash-table-for-each hash-table-walk hash-table-map! hash-table-map->list
    hash-table-fold hash-table-prune!
    hash-table-copy hash-table-empty-copy hash-table->alist
    hash-table-union! hash-table-intersection! hash-table-difference! hash-table-xor!
    (rename %table-same hash-table-equivalence-function) hash-table-hash-function
    (rename hash-table-union! hash-table-merge!)
    hash string-hash string-ci-hash hash-by-identity)
  (on-demand)
  (import (scheme base) (scheme case-lambda) (srfi 128) (duet internal tables)
    (only (duet internal lists) fold)
    (only (srfi 69)
      hash-table-ref/default hash-table-update!/default hash-table-keys hash-table-values
      hash-table-walk hash-table->alist
      hash-table-hash-function hash string-hash string-ci-hash hash-by-identity))
  (begin
    ;;;> Makes an empty hash table by a comparator, or by an equivalence and a hash function that
    ;;;> agrees with it.
    (define (make-hash-table by . options)
      (if (comparator? by)
          (%make-table (comparator-equality-predicate by)
                       (and (comparator-hashable? by) (comparator-hash-function by)))
          (%make-table by (and (pair? options) (procedure? (car options)) (car options)))))

    ;;;> Makes a hash table by a comparator from alternating keys and values.
    (define (hash-table comparator . entries)
      (let ((table (make-hash-table comparator)))
        (apply hash-table-set! table entries)
        table))

    ;;;> Makes a hash table: `(entry seed)` returns two values, key and value; seeds `(next seed)`
    ;;;> until `(stop? seed)`.
    (define (hash-table-unfold stop? entry next seed comparator . options)
      (let ((table (apply make-hash-table comparator options)))
        (let loop ((seed seed))
          (if (stop? seed)
              table
              (begin
                (call-with-values (lambda () (entry seed))
                  (lambda (key value) (%table-put! table key value)))
                (loop (next seed)))))))

    ;;;> Makes a hash table from an association list; of equal keys the first counts.
    (define (alist->hash-table alist by . options)
      (let ((table (apply make-hash-table by options)))
        (for-each
          (lambda (entry)
            (if (not (%table-find table (car entry))) (%table-put! table (car entry) (cdr entry))))
          alist)
        table))

    ;;;> Returns whether a table has a key.
    (define (hash-table-contains? table key) (if (%table-find table key) #t #f))

    ;;;> Returns whether a table has no entries.
    (define (hash-table-empty? table) (= (%table-count table) 0))

    ;;;> Returns whether a table is mutable: all are.
    (define (hash-table-mutable? table) (%table? table))

    ;;;> Returns whether tables have the same keys with values that are equal by a comparator.
    (define (hash-table=? comparator a b)
      (and (= (%table-count a) (%table-count b))
           (let loop ((entries (%table-entries a)))
             (or (null? entries)
                 (let ((other (%table-find b (car (car entries)))))
                   (and other
                        (=? comparator (cdr (car entries)) (cdr other))
                        (loop (cdr entries))))))))

    ;;;> Returns the value of a key, passed through `success`. Without the key, returns the value of
    ;;;> `failure`; without `failure`, raises an error.
    (define hash-table-ref
      (case-lambda
        ((table key)
         (hash-table-ref table key (lambda () (error "hash-table-ref: there is no such key" key))))
        ((table key failure)
         (let ((entry (%table-find table key))) (if entry (cdr entry) (failure))))
        ((table key failure success)
         (let ((entry (%table-find table key))) (if entry (success (cdr entry)) (failure))))))

    ;;;> Sets the values of keys; keys and values alternate.
    (define hash-table-set!
      (case-lambda
        ((table) (if #f #f))
        ((table key value) (%table-put! table key value))
        ((table key value . rest)
         (%table-put! table key value)
         (apply hash-table-set! table rest))))

    ;;;> Removes keys; returns how many of them the table had.
    (define (hash-table-delete! table . keys)
      (fold (lambda (key count) (if (%table-remove! table key) (+ count 1) count)) 0 keys))

    ;;;> Returns the value of a key; without the key, first sets it to the value of `failure`.
    (define (hash-table-intern! table key failure)
      (let ((entry (%table-find table key)))
        (if entry
            (cdr entry)
            (let ((value (failure)))
              (%table-put! table key value)
              value))))

    ;;;> Sets a key to the value of `change` for its current value, passed through `success`, or for
    ;;;> the value of `failure`.
    (define hash-table-update!
      (case-lambda
        ((table key change)
         (hash-table-update! table
                             key
                             change
                             (lambda () (error "hash-table-update!: there is no such key" key))))
        ((table key change failure)
         (hash-table-update! table key change failure (lambda (value) value)))
        ((table key change failure success)
         (let ((entry (%table-find table key)))
           (%table-put! table key (change (if entry (success (cdr entry)) (failure))))))))

    ;;;> Removes an entry; returns its key and value. Fails if there is none.
    (define (hash-table-pop! table)
      (if (hash-table-empty? table) (error "hash-table-pop!: the table is empty" table))
      (let ((entry (car (%table-entries table))))
        (%table-remove! table (car entry))
        (values (car entry) (cdr entry))))

    ;;;> Removes all entries.
    (define (hash-table-clear! table) (%table-clear! table))

    ;;;> Returns two values: a list of the keys and a list of the values in the same order.
    (define (hash-table-entries table)
      (let ((entries (%table-entries table))) (values (map car entries) (map cdr entries))))

    ;;;> Returns the first true value of `procedure` for a key and its value, or the value of
    ;;;> `failure`.
    (define (hash-table-find procedure table failure)
      (let loop ((entries (%table-entries table)))
        (if (null? entries)
            (failure)
            (or (procedure (car (car entries)) (cdr (car entries))) (loop (cdr entries))))))

    ;;;> Returns the number of entries that satisfy `(wanted? key value)`.
    (define (hash-table-count wanted? table)
      (fold (lambda (entry count) (if (wanted? (car entry) (cdr entry)) (+ count 1) count))
            0
            (%table-entries table)))

    ;;;> Returns a hash table by a comparator with the same keys and the values of `procedure` for
    ;;;> the old values.
    (define (hash-table-map procedure comparator table)
      (let ((mapped (make-hash-table comparator)))
        (for-each (lambda (entry) (%table-put! mapped (car entry) (procedure (cdr entry))))
                  (%table-entries table))
        mapped))

    ;;;> Calls `procedure` with each key and value.
    (define (hash-table-for-each procedure table)
      (for-each (lambda (entry) (procedure (car entry) (cdr entry))) (%table-entries table)))

    ;;;> Replaces each value by the value of `procedure` for key and value.
    (define (hash-table-map! procedure table)
      (for-each (lambda (entry) (set-cdr! entry (procedure (car entry) (cdr entry))))
                (%table-entries table)))

    ;;;> Returns a list of the values of `procedure` for keys and values.
    (define (hash-table-map->list procedure table)
      (map (lambda (entry) (procedure (car entry) (cdr entry))) (%table-entries table)))

    ;;;> Combines the entries: `(combine key value accumulated)`. The table may come first, as in
    ;;;> SRFI 69.
    (define (hash-table-fold combine initial table)
      (if (%table? combine)
          (hash-table-fold initial table combine)
          (fold (lambda (entry accumulated) (combine (car entry) (cdr entry) accumulated)) initial
                (%table-entries table))))

    ;;;> Removes the entries that satisfy `(drop? key value)`.
    (define (hash-table-prune! drop? table)
      (for-each
        (lambda (entry) (if (drop? (car entry) (cdr entry)) (%table-remove! table (car entry))))
        (%table-entries table)))

    ;;;> Returns a hash table with the same entries.
    (define (hash-table-copy table . mutable?) (%table-copy table))

    ;;;> Returns an empty hash table with the same equivalence.
    (define (hash-table-empty-copy table) (%table-fresh table))

    ;;;> Adds the entries of the second table whose keys the first lacks; returns the first.
    (define (hash-table-union! table other)
      (hash-table-for-each
        (lambda (key value) (if (not (%table-find table key)) (%table-put! table key value)))
        other)
      table)

    ;;;> Keeps the entries whose keys the second table also has; returns the first.
    (define (hash-table-intersection! table other)
      (hash-table-prune! (lambda (key value) (not (%table-find other key))) table)
      table)

    ;;;> Keeps the entries whose keys the second table lacks; returns the first.
    (define (hash-table-difference! table other)
      (hash-table-prune! (lambda (key value) (%table-find other key)) table)
      table)

    ;;;> Keeps the entries whose keys only one table has; returns the first.
    (define (hash-table-xor! table other)
      (hash-table-for-each
        (lambda (key value)
          (if (not (%table-remove! table key)) (%table-put! table key value)))
        other)
      table)))
