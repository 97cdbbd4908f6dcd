;;; SRFI 125: hash tables, and the hash functions of SRFI 69 that it retains.
(define-library (srfi 125)
  (export
    make-hash-table hash-table hash-table-unfold alist->hash-table
    hash-table? hash-table-contains? hash-table-exists? hash-table-empty? hash-table=?
    hash-table-mutable? hash-table-ref hash-table-ref/default hash-table-set! hash-table-delete!
    hash-table-intern! hash-table-update! hash-table-update!/default hash-table-pop!
    hash-table-clear! hash-table-size
    hash-table-keys hash-table-values hash-table-entries hash-table-find hash-table-count
    hash-table-map hash-table-for-each hash-table-walk hash-table-map! hash-table-map->list
    hash-table-fold hash-table-prune!
    hash-table-copy hash-table-empty-copy hash-table->alist
    hash-table-union! hash-table-intersection! hash-table-difference! hash-table-xor!
    hash-table-equivalence-function hash-table-hash-function hash-table-merge!
    hash string-hash string-ci-hash hash-by-identity)
  (on-demand)
  (import (scheme base) (scheme case-lambda) (srfi 128) (duet internal tables)
    (only (duet internal lists) fold)
    (only (srfi 69)
      hash-table-ref/default hash-table-update!/default hash-table-keys hash-table-values
      hash-table-walk hash-table->alist
      hash-table-hash-function hash string-hash string-ci-hash hash-by-identity))
  (begin
    ;;; Makes an empty hash table for a procedure that was called with a comparator, or with an
    ;;; equivalence and options.
    (define (%table-by procedure by options)
      (if (comparator? by)
          (%make-table procedure (comparator-equality-predicate by)
            (and (comparator-hashable? by) (comparator-hash-function by)))
          (%make-table procedure
                       by
                       (and (pair? options) (procedure? (car options)) (car options)))))

    ;;;> Makes an empty hash table by a comparator, or by an equivalence and a hash function that
    ;;;> agrees with it.
    (define (make-hash-table by . options) (%table-by 'make-hash-table by options))

    ;;; Requires that keys and values alternate, before the first of them counts.
    (define (%check-alternate procedure entries)
      (let loop ((rest entries))
        (cond ((null? rest) #t)
              ((null? (cdr rest))
               (error (string-append (symbol->string procedure) ": the last key has no value")
                      (car rest)))
              (else (loop (cddr rest))))))

    ;;; Sets the values of keys; keys and values alternate in a list.
    (define (%set-all! procedure table entries)
      (if (pair? entries)
          (begin
            (%table-put! procedure table (car entries) (cadr entries))
            (%set-all! procedure table (cddr entries)))))

    ;;;> Makes a hash table by a comparator from alternating keys and values.
    (define (hash-table comparator . entries)
      (%check-alternate 'hash-table entries)
      (let ((table (%table-by 'hash-table comparator '())))
        (%set-all! 'hash-table table entries)
        table))

    ;;;> Makes a hash table: `(entry seed)` returns two values, key and value; seeds `(next seed)`
    ;;;> until `(stop? seed)`.
    (define (hash-table-unfold stop? entry next seed comparator . options)
      (let ((table (%table-by 'hash-table-unfold comparator options)))
        (let loop ((seed seed))
          (if (stop? seed)
              table
              (begin
                (call-with-values (lambda () (entry seed))
                  (lambda (key value) (%table-put! 'hash-table-unfold table key value)))
                (loop (next seed)))))))

    ;;;> Makes a hash table from an association list; of equal keys the first counts.
    (define (alist->hash-table alist by . options)
      (%table-fill! 'alist->hash-table (%table-by 'alist->hash-table by options) alist))

    ;;;> Returns whether a table has a key.
    (define (hash-table-contains? table key)
      (if (%table-find 'hash-table-contains? table key) #t #f))
    ;;;> Returns whether a table has a key, as `hash-table-contains?`.
    (define (hash-table-exists? table key) (if (%table-find 'hash-table-exists? table key) #t #f))

    ;;;> Returns whether a table has no entries.
    (define (hash-table-empty? table)
      (%check-table 'hash-table-empty? table)
      (= (hash-table-size table) 0))

    ;;;> Returns whether a table is mutable: all are.
    (define (hash-table-mutable? table) (hash-table? table))

    ;;;> Returns whether tables have the same keys with values that are equal by a comparator.
    (define (hash-table=? comparator a b)
      (%check-table 'hash-table=? a)
      (%check-table 'hash-table=? b)
      (and (= (hash-table-size a) (hash-table-size b))
           (%table-walk 'hash-table=? a (lambda () #t)
             (lambda (entry next)
               (let ((other (%table-find 'hash-table=? b (car entry))))
                 (and other (=? comparator (cdr entry) (cdr other)) (next)))))))

    ;;;> Returns the value of a key, passed through `success`. Without the key, returns the value of
    ;;;> `failure`; without `failure`, raises an error.
    (define hash-table-ref
      (case-lambda
        ((table key)
         (hash-table-ref table key (lambda () (error "hash-table-ref: there is no such key" key))))
        ((table key failure)
         (let ((entry (%table-find 'hash-table-ref table key))) (if entry (cdr entry) (failure))))
        ((table key failure success)
         (let ((entry (%table-find 'hash-table-ref table key)))
           (if entry (success (cdr entry)) (failure))))))

    ;;;> Sets the values of keys; keys and values alternate.
    (define hash-table-set!
      (case-lambda
        ((table key value) (%table-put! 'hash-table-set! table key value))
        ((table . entries)
         (%check-table 'hash-table-set! table)
         (%check-alternate 'hash-table-set! entries)
         (%set-all! 'hash-table-set! table entries))))

    ;;;> Removes keys; returns how many of them the table had.
    (define (hash-table-delete! table . keys)
      (%check-table 'hash-table-delete! table)
      (fold
        (lambda (key count) (if (%table-remove! 'hash-table-delete! table key) (+ count 1) count))
        0
        keys))

    ;;;> Returns the value of a key; without the key, first sets it to the value of `failure`.
    (define (hash-table-intern! table key failure)
      (let ((entry (%table-find 'hash-table-intern! table key)))
        (if entry
            (cdr entry)
            (let ((value (failure)))
              (%table-put! 'hash-table-intern! table key value)
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
         (let ((entry (%table-find 'hash-table-update! table key)))
           (%table-put! 'hash-table-update!
                        table
                        key
                        (change (if entry (success (cdr entry)) (failure))))))))

    ;;;> Removes an entry; returns its key and value. Fails if there is none.
    (define (hash-table-pop! table)
      (%table-walk 'hash-table-pop! table
        (lambda () (error "hash-table-pop!: the table is empty" table))
        (lambda (entry next)
          (%table-remove! 'hash-table-pop! table (car entry))
          (values (car entry) (cdr entry)))))

    ;;;> Removes all entries.
    (define (hash-table-clear! table)
      (%table-clear! 'hash-table-clear! table))

    ;;;> Returns two values: a list of the keys and a list of the values in the same order.
    (define (hash-table-entries table)
      (let ((entries (%table-entries 'hash-table-entries table)))
        (values (map car entries) (map cdr entries))))

    ;;;> Returns the first true value of `procedure` for a key and its value, or the value of
    ;;;> `failure`.
    (define (hash-table-find procedure table failure)
      (%table-walk 'hash-table-find table failure
        (lambda (entry next) (or (procedure (car entry) (cdr entry)) (next)))))

    ;;;> Returns the number of entries that satisfy `(wanted? key value)`.
    (define (hash-table-count wanted? table)
      (fold (lambda (entry count) (if (wanted? (car entry) (cdr entry)) (+ count 1) count))
            0
            (%table-entries 'hash-table-count table)))

    ;;;> Returns a hash table by a comparator with the same keys and the values of `procedure` for
    ;;;> the old values.
    (define (hash-table-map procedure comparator table)
      (let ((mapped (%table-by 'hash-table-map comparator '())))
        (for-each
          (lambda (entry) (%table-put! 'hash-table-map mapped (car entry) (procedure (cdr entry))))
          (%table-entries 'hash-table-map table))
        mapped))

    ;;;> Calls `procedure` with each key and value.
    (define (hash-table-for-each procedure table)
      (for-each (lambda (entry) (procedure (car entry) (cdr entry)))
                (%table-entries 'hash-table-for-each table)))

    ;;;> Replaces each value by the value of `procedure` for key and value.
    (define (hash-table-map! procedure table)
      (for-each (lambda (entry) (set-cdr! entry (procedure (car entry) (cdr entry))))
                (%table-entries 'hash-table-map! table)))

    ;;;> Returns a list of the values of `procedure` for keys and values.
    (define (hash-table-map->list procedure table)
      (map (lambda (entry) (procedure (car entry) (cdr entry)))
           (%table-entries 'hash-table-map->list table)))

    ;;;> Combines the entries: `(combine key value accumulated)`. The table may come first, as in
    ;;;> SRFI 69.
    (define (hash-table-fold combine initial table)
      (if (hash-table? combine)
          (hash-table-fold initial table combine)
          (fold (lambda (entry accumulated) (combine (car entry) (cdr entry) accumulated)) initial
                (%table-entries 'hash-table-fold table))))

    ;;;> Removes the entries that satisfy `(drop? key value)`.
    (define (hash-table-prune! drop? table)
      (for-each
        (lambda (entry)
          (if (drop? (car entry) (cdr entry))
              (%table-remove! 'hash-table-prune! table (car entry))))
        (%table-entries 'hash-table-prune! table)))

    ;;;> Returns a hash table with the same entries.
    (define (hash-table-copy table . mutable?)
      (%table-copy 'hash-table-copy table))

    ;;;> Returns an empty hash table with the same equivalence.
    (define (hash-table-empty-copy table)
      (%table-fresh 'hash-table-empty-copy table))

    ;;; Adds the entries of the second table whose keys the first lacks, for a procedure that was
    ;;; called with both; returns the first.
    (define (%joined! procedure table other)
      (%check-table procedure table)
      (for-each
        (lambda (entry)
          (if (not (%table-find procedure table (car entry)))
              (%table-put! procedure table (car entry) (cdr entry))))
        (%table-entries procedure other))
      table)

    ;;; Removes the entries of the first table whose keys the second has, or those that it lacks, for a
    ;;; procedure that was called with both; returns the first.
    (define (%thinned! procedure table other drops-shared?)
      (%check-table procedure other)
      (for-each
        (lambda (entry)
          (if (eq? drops-shared? (if (%table-find procedure other (car entry)) #t #f))
              (%table-remove! procedure table (car entry))))
        (%table-entries procedure table))
      table)

    ;;;> Adds the entries of the second table whose keys the first lacks; returns the first.
    (define (hash-table-union! table other) (%joined! 'hash-table-union! table other))
    ;;;> Adds the entries of the second table whose keys the first lacks, as `hash-table-union!`.
    (define (hash-table-merge! table other) (%joined! 'hash-table-merge! table other))

    ;;;> Keeps the entries whose keys the second table also has; returns the first.
    (define (hash-table-intersection! table other)
      (%thinned! 'hash-table-intersection! table other #f))

    ;;;> Keeps the entries whose keys the second table lacks; returns the first.
    (define (hash-table-difference! table other)
      (%thinned! 'hash-table-difference! table other #t))

    ;;;> Keeps the entries whose keys only one table has; returns the first.
    (define (hash-table-xor! table other)
      (%check-table 'hash-table-xor! table)
      (for-each
        (lambda (entry)
          (if (not (%table-remove! 'hash-table-xor! table (car entry)))
              (%table-put! 'hash-table-xor! table (car entry) (cdr entry))))
        (%table-entries 'hash-table-xor! other))
      table)))
