;;; Values and patterns as a server sees them.
;;;
;;; A packet's reference #:X is the record <|#:| X> in the tools, where X is (0 n) for the sender's
;;; object n and (1 n) for the receiver's. The program sees <remote/object connection n>, so that a
;;; reference is never taken for one of another connection. Nobody forges one: a value with such a
;;; record does not come in.

(define %reference '|#:|)

;;; Returns a copy of a value; `change` returns what takes the place of a record, or #f.
(define (%copy-value value change)
  (define (copy value) (%copy-value value change))
  (cond ((record? value)
         (or (change value)
             (apply record (copy (record-label value)) (map copy (record-fields value)))))
        ((list? value) (map copy value))
        ((vector? value) (map copy (vector->list value)))
        ((dictionary? value)
         (alist->dictionary
           (map (lambda (entry) (cons (copy (car entry)) (copy (cdr entry))))
                (dictionary->alist value))))
        ((set? value) (list->set (map copy (set->list value))))
        ((or (number? value) (string? value) (symbol? value) (keyword? value) (boolean? value)
             (bytevector? value))
         value)
        (else (%refuse "a reference of this run means nothing to the server" value))))

(define (%refuse message . irritants)
  (raise (%make-condition 'not-sendable message irritants)))

(define (%reference? value)
  (and (record? value) (eq? (record-label value) %reference)))

(define (%object? value)
  (and (record? value) (eq? (record-label value) 'remote/object)))

;;; Returns the program's form of a value that came on a connection. Fails with `not-sendable` for a
;;; value with an object of this side, whose attenuation nobody here would enforce, and for forged
;;; references.
(define (%from-wire value connection)
  (%copy-value value
    (lambda (part)
      (cond ((%object? part) (%refuse "the label `remote/object` stands for references" part))
            ((%reference? part)
             (let ((number (%own-object part)))
               (if number
                   (record 'remote/object connection number)
                   (%refuse "it has a reference to an object of this side" part))))
            (else #f)))))

;;; Returns the number of the sender's object that a reference names, or #f if it names none. A
;;; peer may wrap a reference into another one.
(define (%own-object reference)
  (let ((inner (record-field reference 0)))
    (cond ((%reference? inner) (%own-object inner))
          ((and (list? inner) (= (length inner) 2) (eqv? (car inner) 0)) (cadr inner))
          (else #f))))

;;; Returns the form in which a value leaves on a connection. Fails with `not-sendable`.
(define (%to-wire value connection)
  (%copy-value value
    (lambda (part)
      (cond ((%reference? part) (%refuse "the label `#:` stands for references" part))
            ((and (%object? part) (equal? (record-field part 0) connection))
             (record %reference (list 1 (record-field part 1))))
            ((%object? part) (%refuse "the connection of a reference has ended" part))
            (else #f)))))

;;; Returns a pattern that captures whatever `pattern` matches.
(define (%whole pattern)
  (record 'bind pattern))

;;; Fails unless a server understands a pattern: sizes of groups and compound literals are Duet's
;;; own.
(define (%check-pattern caller pattern)
  (if (not (record? pattern)) (%wrong-type caller "a value of (pattern template)" pattern))
  (case (record-label pattern)
    ((bind) (%check-pattern caller (record-field pattern 0)))
    ((lit)
     (let ((literal (record-field pattern 0)))
       (if (or (record? literal) (list? literal) (dictionary? literal) (set? literal))
           (%wrong-type caller "a pattern whose literals are atoms" literal))))
    ((group)
     (let* ((kind (record-field pattern 0))
            (plain (if (eq? (record-label kind) 'rec) 1 0)))
       (if (> (record-length kind) plain)
           (%wrong-type caller "a pattern without :exact" pattern))
       (for-each (lambda (inner) (%check-pattern caller inner))
         (dictionary-values (record-field pattern 1)))))
    ((_) #t)
    (else (%wrong-type caller "a value of (pattern template)" pattern))))
