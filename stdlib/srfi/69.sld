;;; SRFI 69: basic hash tables.
(define-library (srfi 69)
  (export
    make-hash-table hash-table? alist->hash-table
    hash-table-equivalence-function hash-table-hash-function
    hash-table-ref hash-table-ref/default hash-table-set! hash-table-delete! hash-table-exists?
    hash-table-update! hash-table-update!/default hash-table-size
    hash-table-keys hash-table-values hash-table-walk hash-table-fold hash-table->alist
    hash-table-copy hash-table-merge!
    hash string-hash string-ci-hash hash-by-identity)
  (on-demand)
  (import (scheme base) (scheme case-lambda) (scheme char) (duet internal tables)
          (only (duet internal lists) fold) (only (duet kernel) %hash %identity))
  (begin
    ;;;> Makes an empty hash table by an equivalence, `equal?` if none is given, and a hash function
    ;;;> that agrees with it.
    (define make-hash-table
      (case-lambda
        (() (%make-table 'make-hash-table equal? #f))
        ((same?) (%make-table 'make-hash-table same? #f))
        ((same? hash . size)
         (%make-table 'make-hash-table same? (and (procedure? hash) hash)))))

    ;;;> Makes a hash table from an association list; of equal keys the first counts.
    (define alist->hash-table
      (case-lambda
        ((alist) (alist->hash-table alist equal?))
        ((alist same?) (alist->hash-table alist same? #f))
        ((alist same? hash . size)
         (let ((table (%make-table 'alist->hash-table same? (and (procedure? hash) hash))))
           (%table-fill! 'alist->hash-table table alist)))))

    ;;;> Returns the hash function of a table.
    (define (hash-table-hash-function table)
      (%check-table 'hash-table-hash-function table)
      (or (%table-hash table) hash))

    ;;;> Returns the value of a key. Without the key, returns the value of `failure`; without
    ;;;> `failure`, raises an error.
    (define hash-table-ref
      (case-lambda
        ((table key)
         (let ((entry (%table-find 'hash-table-ref table key)))
           (if entry (cdr entry) (error "hash-table-ref: there is no such key" key))))
        ((table key failure)
         (let ((entry (%table-find 'hash-table-ref table key)))
           (if entry (cdr entry) (failure))))))

    ;;;> Returns the value of a key, or `default`.
    (define (hash-table-ref/default table key default)
      (let ((entry (%table-find 'hash-table-ref/default table key)))
        (if entry (cdr entry) default)))

    ;;;> Sets the value of a key.
    (define (hash-table-set! table key value)
      (%table-put! 'hash-table-set! table key value))

    ;;;> Removes a key, if it is there.
    (define (hash-table-delete! table key)
      (%table-remove! 'hash-table-delete! table key)
      (if #f #f))

    ;;;> Returns whether a table has a key.
    (define (hash-table-exists? table key) (if (%table-find 'hash-table-exists? table key) #t #f))

    ;;;> Sets a key to the value of `change` for its current value. Without the key, uses the value
    ;;;> of `failure`; without `failure`, raises an error.
    (define hash-table-update!
      (case-lambda
        ((table key change)
         (hash-table-update! table
                             key
                             change
                             (lambda () (error "hash-table-update!: there is no such key" key))))
        ((table key change failure)
         (let ((entry (%table-find 'hash-table-update! table key)))
           (%table-put! 'hash-table-update! table key (change (if entry (cdr entry) (failure))))))))

    ;;;> Sets a key to the value of `change` for its current value, or for `default`.
    (define (hash-table-update!/default table key change default)
      (%check-table 'hash-table-update!/default table)
      (hash-table-update! table key change (lambda () default)))

    ;;;> Returns a list of the keys.
    (define (hash-table-keys table) (map car (%table-entries 'hash-table-keys table)))

    ;;;> Returns a list of the values.
    (define (hash-table-values table) (map cdr (%table-entries 'hash-table-values table)))

    ;;;> Calls `procedure` with each key and value.
    (define (hash-table-walk table procedure)
      (for-each (lambda (entry) (procedure (car entry) (cdr entry)))
                (%table-entries 'hash-table-walk table)))

    ;;;> Combines the entries: `(combine key value accumulated)`.
    (define (hash-table-fold table combine initial)
      (fold (lambda (entry accumulated) (combine (car entry) (cdr entry) accumulated))
            initial
            (%table-entries 'hash-table-fold table)))

    ;;;> Returns an association list of the entries.
    (define (hash-table->alist table)
      (map (lambda (entry) (cons (car entry) (cdr entry)))
           (%table-entries 'hash-table->alist table)))

    ;;;> Returns a hash table with the same entries.
    (define (hash-table-copy table . mutable?)
      (%table-copy 'hash-table-copy table))

    ;;;> Adds the entries of the second table to the first; of equal keys the second's entry counts.
    (define (hash-table-merge! table other)
      (%check-table 'hash-table-merge! table)
      (for-each (lambda (entry) (%table-put! 'hash-table-merge! table (car entry) (cdr entry)))
                (%table-entries 'hash-table-merge! other))
      table)

    ;;;> Returns a hash that objects which are `equal?` share; below `bound`, if given.
    (define hash
      (case-lambda
        ((object) (%hash object))
        ((object bound) (%bounded 'hash (%hash object) bound))))

    ;;;> Returns a hash that an object keeps even if its parts change; pairs share one.
    (define hash-by-identity
      (case-lambda
        ((object) (hash-by-identity object 0))
        ((object bound) (%bounded 'hash-by-identity (or (%identity object) 0) bound))))))
