;;; Returns a hash below `bound`, if that is positive.
(define (%bounded procedure hash bound)
  (if (not (exact-integer? bound)) (%wrong-type procedure "an exact integer" bound))
  (if (> bound 0) (modulo hash bound) hash))

;;; Returns the part of a string from `start` up to `end`, exclusive; an end of #f is the length.
(define (%part procedure string start end)
  (if (not (string? string)) (%wrong-type procedure "a string" string))
  (if (and (eqv? start 0) (not end))
      string
      (%range procedure (list start end) (string-length string)
        (lambda (start end) (string-copy string start end)))))

;;;> Returns a hash that equal strings share; below `bound`, if it is given and positive:
;;;> `(string-hash string [bound [start [end]]])`.
(define string-hash
  (case-lambda
    ((string) (string-hash string 0))
    ((string bound) (string-hash string bound 0))
    ((string bound start) (string-hash string bound start #f))
    ((string bound start end)
     (%bounded 'string-hash (%hash (%part 'string-hash string start end)) bound))))

;;;> Returns a hash that strings which differ only in case share; below `bound`, if it is given and
;;;> positive: `(string-ci-hash string [bound [start [end]]])`.
(define string-ci-hash
  (case-lambda
    ((string) (string-ci-hash string 0))
    ((string bound) (string-ci-hash string bound 0))
    ((string bound start) (string-ci-hash string bound start #f))
    ((string bound start end)
     (%bounded 'string-ci-hash
               (%hash (string-foldcase (%part 'string-ci-hash string start end)))
               bound))))

;;; A table stores entries, pairs of key and value, in one of two ways:
;;;     own     `entries` is a dictionary from key to entry, by `equal?` or `eqv?`
;;;     any     `entries` is a dictionary from hash to a list of entries, newest first;
;;;             `shared` is the number of entries

(define-record-type hash-table
  (%table kind same hash entries shared)
  ;;;> Returns whether an object is a hash table.
  hash-table?
  (kind %table-kind)
  ;;;> Returns the equivalence of a hash table.
  (same hash-table-equivalence-function)
  (hash %table-hash)
  (entries %entries %set-entries!)
  (shared %shared %set-shared!))

;;; Requires that a procedure was called with a hash table.
(define (%check-table procedure object)
  (if (not (hash-table? object)) (%wrong-type procedure "a hash table" object)))

;;; Makes an empty table by an equivalence and a hash function that agrees with it, or #f for one of
;;; the library's own equivalences. An error names `procedure`.
(define (%make-table procedure same? hash)
  (if (not (procedure? same?)) (%wrong-type procedure "a procedure" same?))
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

;;; The procedures below that take the name of a procedure fail in its name if they are not given a
;;; hash table.

;;; Returns the entry of a key, or #f.
(define (%table-find procedure table key)
  (%check-table procedure table)
  (if (eq? (%table-kind table) 'own)
      (dictionary-ref (%entries table) key #f)
      (%find-in (dictionary-ref (%entries table) ((%table-hash table) key) '())
                key
                (hash-table-equivalence-function table))))

;;; Sets the value of a key.
(define (%table-put! procedure table key value)
  (let ((entry (%table-find procedure table key)))
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
(define (%table-remove! procedure table key)
  (let ((entry (%table-find procedure table key)))
    (if entry
        (if (eq? (%table-kind table) 'own)
            (dictionary-delete! (%entries table) key)
            (%unshare! table entry)))
    entry))

;;;> Returns the number of entries in a hash table.
(define (hash-table-size table)
  (if (eq? (%table-kind table) 'own) (dictionary-count (%entries table)) (%shared table)))

;;; Returns all entries in order, those of equal hash together.
(define (%table-entries procedure table)
  (%check-table procedure table)
  (let ((entries (dictionary-values (%entries table))))
    (if (eq? (%table-kind table) 'own) entries (concatenate (map reverse entries)))))

;;; Calls `(use entry next)` for the first entry; `next` is a thunk that does so for the following
;;; one. The last call is of the thunk `none`. Entries that are added meanwhile do not come; those
;;; that are removed may.
(define (%table-walk procedure table none use)
  (%check-table procedure table)
  (let ((walk (%dictionary-walk (%entries table))) (own? (eq? (%table-kind table) 'own)))
    (let loop ((place 0))
      (let ((found (%dictionary-next walk place)))
        (cond ((not found) (none))
              (own? (use (car found) (lambda () (loop (cdr found)))))
              (else
               (let sharing ((entries (reverse (car found))))
                 (if (null? entries)
                     (loop (cdr found))
                     (use (car entries) (lambda () (sharing (cdr entries))))))))))))

;;; Removes all entries.
(define (%table-clear! procedure table)
  (let ((fresh (%table-fresh procedure table)))
    (%set-entries! table (%entries fresh))
    (%set-shared! table 0)))

;;; Makes an empty table with the same equivalence.
(define (%table-fresh procedure table)
  (%check-table procedure table)
  (%make-table procedure (hash-table-equivalence-function table) (%table-hash table)))

;;; Makes a table with the same keys and values.
(define (%table-copy procedure table)
  (let ((copy (%table-fresh procedure table)))
    (for-each (lambda (entry) (%table-add! copy (cons (car entry) (cdr entry))))
              (%table-entries procedure table))
    copy))

;;; Adds the entries of an association list, of equal keys the first; returns the table. An error
;;; names `procedure`.
(define (%table-fill! procedure table alist)
  (if (not (list? alist)) (%wrong-type procedure "a proper list" alist))
  (for-each
    (lambda (entry)
      (if (not (pair? entry)) (%wrong-type procedure "a list of pairs" entry))
      (if (not (%table-find procedure table (car entry)))
          (%table-put! procedure table (car entry) (cdr entry))))
    alist)
  table)
