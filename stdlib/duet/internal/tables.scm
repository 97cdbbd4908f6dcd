;;; A table keeps entries, pairs of key and value, in one of three ways, by its kind:
;;;   equal   `entries` is a dictionary from key to entry
;;;   eqv     the same for keys that `equal?` takes apart as `eqv?` does; entries of other keys are in the dictionary `marked`, from what tells an
;;;           object from most others to a list of entries, newest first, and those of pairs in the list `others`, newest first
;;;   any     `entries` is a dictionary from hash to a list of entries, newest first
;;; Where entries share a list, `shared` is how many there are.

(define-record-type hash-table
  (%table kind same hash entries marked others shared)
  ;;;> Whether an object is a hash table.
  %table?
  (kind %table-kind)
  ;;;> The equivalence of a hash table.
  (same %table-same)
  (hash %table-hash)
  (entries %entries %set-entries!)
  (marked %marked %set-marked!)
  (others %others %set-others!)
  (shared %shared %set-shared!))

;;; Makes an empty table by an equivalence and a hash function that agrees with it, or #f for one of the library's own equivalences.
(define (%make-table same? hash)
  (if (not (procedure? same?)) (%wrong-type 'make-hash-table "a procedure" same?))
  (cond ((or (eq? same? equal?) (eq? same? string=?) (eq? same? symbol=?) (eq? same? boolean=?))
         (%table 'equal same? hash (dictionary) #f '() 0))
        ((or (eq? same? eqv?) (eq? same? eq?)) (%table 'eqv same? hash (dictionary) (dictionary) '() 0))
        (else (%table 'any same? (or hash (%default-hash same?)) (dictionary) #f '() 0))))

;;; A hash function for an equivalence that comes without one.
(define (%default-hash same?)
  (cond ((eq? same? string-ci=?) (lambda (string) (%hash (string-foldcase string))))
        ((or (eq? same? char=?) (eq? same? char-ci=?)) (lambda (char) (%hash (char-foldcase char))))
        ((eq? same? =) (lambda (number) (%hash (if (and (real? number) (inexact? number) (rational? number)) (exact number) number))))
        (else (lambda (object) 0))))

;;; Whether a key may be equal to another that is not the same object.
(define (%has-parts? key)
  (not (or (symbol? key) (number? key) (char? key) (boolean? key) (procedure? key) (null? key) (keyword? key))))

(define (%find-in entries key same?)
  (cond ((null? entries) #f)
        ((same? (car (car entries)) key) (car entries))
        (else (%find-in (cdr entries) key same?))))

;;; The entry of a key, or #f.
(define (%table-find table key)
  (let ((kind (%table-kind table)))
    (cond ((eq? kind 'any)
           (%find-in (dictionary-ref (%entries table) ((%table-hash table) key) '()) key (%table-same table)))
          ((and (eq? kind 'eqv) (%has-parts? key))
           (let ((mark (%identity key)))
             (if mark
                 (%find-in (dictionary-ref (%marked table) mark '()) key eq?)
                 (assq key (%others table)))))
          (else (dictionary-ref (%entries table) key #f)))))

;;; Adds an entry to those that share a list of a dictionary.
(define (%share! table lists key entry)
  (dictionary-set! lists key (cons entry (dictionary-ref lists key '())))
  (%set-shared! table (+ (%shared table) 1)))

;;; Takes an entry from those that share a list of a dictionary.
(define (%unshare! table lists key entry)
  (let ((left (%without entry (dictionary-ref lists key '()))))
    (if (null? left)
        (dictionary-delete! lists key)
        (dictionary-set! lists key left))
    (%set-shared! table (- (%shared table) 1))))

;;; Gives a key a value.
(define (%table-put! table key value)
  (let ((entry (%table-find table key)))
    (if entry (set-cdr! entry value) (%table-add! table (cons key value)))))

;;; Adds an entry whose key is not there.
(define (%table-add! table entry)
  (let ((kind (%table-kind table)) (key (car entry)))
    (cond ((eq? kind 'any) (%share! table (%entries table) ((%table-hash table) key) entry))
          ((and (eq? kind 'eqv) (%has-parts? key))
           (let ((mark (%identity key)))
             (if mark
                 (%share! table (%marked table) mark entry)
                 (%set-others! table (cons entry (%others table))))))
          (else (dictionary-set! (%entries table) key entry)))))

(define (%without entry entries)
  (if (eq? (car entries) entry)
      (cdr entries)
      (cons (car entries) (%without entry (cdr entries)))))

;;; Removes the entry of a key; the entry, or #f if there was none.
(define (%table-remove! table key)
  (let ((kind (%table-kind table)) (entry (%table-find table key)))
    (cond ((not entry) #f)
          ((eq? kind 'any) (%unshare! table (%entries table) ((%table-hash table) key) entry))
          ((and (eq? kind 'eqv) (%has-parts? key))
           (let ((mark (%identity key)))
             (if mark
                 (%unshare! table (%marked table) mark entry)
                 (%set-others! table (%without entry (%others table))))))
          (else (dictionary-delete! (%entries table) key)))
    entry))

;;;> How many entries a hash table has.
(define (%table-count table)
  (+ (%shared table)
     (if (eq? (%table-kind table) 'any) 0 (dictionary-count (%entries table)))
     (length (%others table))))

;;; The entries of lists that a dictionary has.
(define (%shared-entries lists) (apply append (map reverse (dictionary-values lists))))

;;; All entries, those of equal hash together.
(define (%table-entries table)
  (let ((kind (%table-kind table)))
    (cond ((eq? kind 'any) (%shared-entries (%entries table)))
          ((eq? kind 'eqv)
           (append (dictionary-values (%entries table)) (%shared-entries (%marked table)) (reverse (%others table))))
          (else (dictionary-values (%entries table))))))

;;; Removes all entries.
(define (%table-clear! table)
  (%set-entries! table (dictionary))
  (if (%marked table) (%set-marked! table (dictionary)))
  (%set-others! table '())
  (%set-shared! table 0))

;;; An empty table by the same equivalence.
(define (%table-fresh table) (%make-table (%table-same table) (%table-hash table)))

;;; A table with the same keys and values.
(define (%table-copy table)
  (let ((copy (%table-fresh table)))
    (for-each (lambda (entry) (%table-add! copy (cons (car entry) (cdr entry)))) (%table-entries table))
    copy))
