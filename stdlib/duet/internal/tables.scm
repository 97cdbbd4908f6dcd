;;; Returns a hash below the first of `bound`, if that is there and positive.
(define (%bounded hash bound)
  (if (and (pair? bound) (> (car bound) 0)) (modulo hash (car bound)) hash))

;;; Returns the part of a string that options `[bound [start [end]]]` select.
(define (%part procedure string options)
  (if (not (string? string)) (%wrong-type procedure "a string" string))
  (if (and (pair? options) (pair? (cdr options))) (apply string-copy string (cdr options)) string))

;;;> Returns a hash that equal strings share; below `bound`, if it is given and positive:
;;;> `(string-hash string [bound [start [end]]])`.
(define (string-hash string . options)
  (%bounded (%hash (%part 'string-hash string options)) options))

;;;> Returns a hash that strings which differ only in case share; below `bound`, if it is given and
;;;> positive: `(string-ci-hash string [bound [start [end]]])`.
(define (string-ci-hash string . options)
  (%bounded (%hash (string-foldcase (%part 'string-ci-hash string options))) options))

;;; A table stores entries, pairs of key and value, in one of two ways:
;;;     own     `entries` is a dictionary from key to entry, by `equal?` or `eqv?`
;;;     any     `entries` is a dictionary from hash to a list of entries, newest first;
;;;             `shared` is the number of entries

(define-record-type hash-table
  (%table kind same hash entries shared)
  ;;;> Returns whether an object is a hash table.
  %table?
  (kind %table-kind)
  ;;;> Returns the equivalence of a hash table.
  (same %table-same)
  (hash %table-hash)
  (entries %entries %set-entries!)
  (shared %shared %set-shared!))

;;; Makes an empty table by an equivalence and a hash function that agrees with it, or #f for one of
;;; the library's own equivalences.
(define (%make-table same? hash)
  (if (not (procedure? same?)) (%wrong-type 'make-hash-table "a procedure" same?))
  (cond ((or (eq? same? equal?) (eq? same? string=?) (eq? same? symbol=?) (eq? same? boolean=?))
         (%table 'own same? hash (dictionary) 0))
        ((or (eq? same? eqv?) (eq? same? eq?)) (%table 'own same? hash (%identity-dictionary) 0))
        (else (%table 'any same? (or hash (%default-hash same?)) (dictionary) 0))))

;;; Returns a hash function for an equivalence that comes without one.
(define (%default-hash same?)
  (cond ((eq? same? string-ci=?) (lambda (string) (%hash (string-foldcase string))))
        ((or (eq? same? char=?) (eq? same? char-ci=?)) (lambda (char) (%hash (char-foldcase char))))
        ((eq? same? =) (lambda (number) (%hash (%exact-form number))))
        (else (lambda (object) 0))))

;;; Returns a datum that numbers which are `=` share.
(define (%exact-form number)
  (cond
    ((not (real? number)) (cons (%exact-form (real-part number)) (%exact-form (imag-part number))))
    ((and (inexact? number) (rational? number)) (exact number))
    (else number)))

(define (%find-in entries key same?)
  (cond ((null? entries) #f)
        ((same? (car (car entries)) key) (car entries))
        (else (%find-in (cdr entries) key same?))))

;;; Returns the entry of a key, or #f.
(define (%table-find table key)
  (if (eq? (%table-kind table) 'own)
      (dictionary-ref (%entries table) key #f)
      (%find-in (dictionary-ref (%entries table) ((%table-hash table) key) '())
                key
                (%table-same table))))

;;; Sets the value of a key.
(define (%table-put! table key value)
  (let ((entry (%table-find table key)))
    (if entry (set-cdr! entry value) (%table-add! table (cons key value)))))

;;; Adds an entry for a key that the table lacks.
(define (%table-add! table entry)
  (if (eq? (%table-kind table) 'own)
      (dictionary-set! (%entries table) (car entry) entry)
      (let ((hash ((%table-hash table) (car entry))) (lists (%entries table)))
        (dictionary-set! lists hash (cons entry (dictionary-ref lists hash '())))
        (%set-shared! table (+ (%shared table) 1)))))

(define (%without entry entries)
  (if (eq? (car entries) entry)
      (cdr entries)
      (cons (car entries) (%without entry (cdr entries)))))

;;; Removes an entry from a list of entries with the same hash.
(define (%unshare! table entry)
  (let* ((hash ((%table-hash table) (car entry)))
         (lists (%entries table))
         (left (%without entry (dictionary-ref lists hash '()))))
    (if (null? left)
        (dictionary-delete! lists hash)
        (dictionary-set! lists hash left))
    (%set-shared! table (- (%shared table) 1))))

;;; Removes the entry of a key; returns the entry, or #f if there was none.
(define (%table-remove! table key)
  (let ((entry (%table-find table key)))
    (if entry
        (if (eq? (%table-kind table) 'own)
            (dictionary-delete! (%entries table) key)
            (%unshare! table entry)))
    entry))

;;;> Returns the number of entries in a hash table.
(define (%table-count table)
  (if (eq? (%table-kind table) 'own) (dictionary-count (%entries table)) (%shared table)))

;;; Returns all entries in order, those of equal hash together.
(define (%table-entries table)
  (let ((entries (dictionary-values (%entries table))))
    (if (eq? (%table-kind table) 'own) entries (concatenate (map reverse entries)))))

;;; Removes all entries.
(define (%table-clear! table)
  (let ((fresh (%table-fresh table)))
    (%set-entries! table (%entries fresh))
    (%set-shared! table 0)))

;;; Makes an empty table with the same equivalence.
(define (%table-fresh table) (%make-table (%table-same table) (%table-hash table)))

;;; Makes a table with the same keys and values.
(define (%table-copy table)
  (let ((copy (%table-fresh table)))
    (for-each (lambda (entry) (%table-add! copy (cons (car entry) (cdr entry))))
              (%table-entries table))
    copy))
