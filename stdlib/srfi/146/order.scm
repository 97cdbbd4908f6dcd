;;; Whether every entry of a mapping is in another, with values equal by a comparator.
(define (%within? comparator a b)
  (let ((less? (%less b)) (same? (comparator-equality-predicate comparator)))
    (and
      (eq? (mapping-key-comparator a) (mapping-key-comparator b))
      (mapping-every?
        (lambda (key value)
          (let ((node (%find less? (%tree b) key))) (and node (same? value (%value node)))))
        a))))

;;;> Returns whether the mappings have the same entries.
(define mapping=? (%sized = mapping-size %within?))
;;;> Returns whether the entries of each mapping are among those of the next.
(define mapping<=? (%chain %within?))
;;;> Returns whether the entries of each mapping are among those of the previous one.
(define mapping>=? (%chain (%reversed %within?)))
;;;> Returns whether the entries of each mapping are among those of the next, which has more
;;;> entries.
(define mapping<? (%sized < mapping-size %within?))
;;;> Returns whether the entries of each mapping are among those of the previous one, which has more
;;;> entries.
(define mapping>? (%sized > mapping-size (%reversed %within?)))

(define (%combining combine)
  (lambda (first . rest)
    (fold
      (lambda (next mapping) (%same mapping (combine (%less mapping) (%tree mapping) (%tree next))))
      first
      rest)))

;;;> Returns the entries of all mappings; of equal keys the first counts.
(define mapping-union (%combining %union))
;;;> Returns the entries of the first mapping whose keys all others have.
(define mapping-intersection (%combining %intersection))
;;;> Returns the entries of the first mapping whose keys no other has.
(define mapping-difference (%combining %difference))
;;;> Returns the entries whose keys only one of two mappings has.
(define (mapping-xor a b) (mapping-union (mapping-difference a b) (mapping-difference b a)))

(define (%at-end pick of)
  (lambda (mapping)
    (if (mapping-empty? mapping) (error "the mapping is empty" mapping))
    (of (pick (%tree mapping)))))
(define (%key-and-value node) (values (%key node) (%value node)))

;;;> Returns the least key.
(define mapping-min-key (%at-end %first %key))
;;;> Returns the greatest key.
(define mapping-max-key (%at-end %last %key))
;;;> Returns the value of the least key.
(define mapping-min-value (%at-end %first %value))
;;;> Returns the value of the greatest key.
(define mapping-max-value (%at-end %last %value))
;;;> Returns two values: the least key and its value.
(define mapping-min-entry (%at-end %first %key-and-value))
;;;> Returns two values: the greatest key and its value.
(define mapping-max-entry (%at-end %last %key-and-value))

;;; Returns three values: the tree of entries before an object, its node or #f, and the tree of
;;; entries after it.
(define (%parts mapping object use)
  (call-with-values (lambda () (%split (%less mapping) (%tree mapping) object)) use))

;;;> Returns the greatest key below an object, or the value of `failure`.
(define (mapping-key-predecessor mapping object failure)
  (%parts mapping
          object
          (lambda (before found behind) (if before (%key (%last before)) (failure)))))
;;;> Returns the least key above an object, or the value of `failure`.
(define (mapping-key-successor mapping object failure)
  (%parts mapping
          object
          (lambda (before found behind) (if behind (%key (%first behind)) (failure)))))

(define (%of-node node) (and node (%make (%key node) (%value node) #f #f)))

;;;> Returns the entry with a key that is equal to an object.
(define (mapping-range= mapping object)
  (%parts mapping object (lambda (before found behind) (%same mapping (%of-node found)))))
;;;> Returns the entries with keys below an object.
(define (mapping-range< mapping object)
  (%parts mapping object (lambda (before found behind) (%same mapping before))))
;;;> Returns the entries with keys above an object.
(define (mapping-range> mapping object)
  (%parts mapping object (lambda (before found behind) (%same mapping behind))))
;;;> Returns the entries with keys that are not above an object.
(define (mapping-range<= mapping object)
  (%parts mapping object
    (lambda (before found behind)
      (%same mapping (if found (%with-last before (%key found) (%value found)) before)))))
;;;> Returns the entries with keys that are not below an object.
(define (mapping-range>= mapping object)
  (%parts mapping object
    (lambda (before found behind)
      (%same mapping (if found (%with-first behind (%key found) (%value found)) behind)))))
;;;> Returns five values: the entries with keys below an object, not above, equal, not below, and
;;;> above.
(define (mapping-split mapping object)
  (values (mapping-range< mapping object) (mapping-range<= mapping object)
          (mapping-range= mapping object)
          (mapping-range>= mapping object) (mapping-range> mapping object)))
;;;> Makes a mapping by a comparator from one mapping, an entry, and another mapping; all keys must
;;;> be in this order.
(define (mapping-catenate comparator before key value behind)
  (%mapping comparator (%join key value (%tree before) (%tree behind))))

;;;> Returns a comparator of mappings, by their keys in order and then by values, which `comparator`
;;;> compares.
(define (make-mapping-comparator comparator)
  (make-comparator
    mapping?
    (lambda (a b) (mapping=? comparator a b))
    (lambda (a b)
      (%before? comparator (mapping->alist a) (mapping->alist b) (mapping-key-comparator a)))
    (lambda (mapping)
      (mapping-fold
        (lambda (key value hash)
          (modulo
            (+ hash
               (comparator-hash (mapping-key-comparator mapping) key)
               (comparator-hash comparator value))
            (hash-bound)))
        0 mapping))))

(define (%before? comparator a b keys)
  (cond ((null? b) #f)
        ((null? a) #t)
        ((<? keys (caar a) (caar b)) #t)
        ((<? keys (caar b) (caar a)) #f)
        ((<? comparator (cdar a) (cdar b)) #t)
        ((<? comparator (cdar b) (cdar a)) #f)
        (else (%before? comparator (cdr a) (cdr b) keys))))

;;;> The comparator of mappings with values that the default comparator compares.
(define mapping-comparator (make-mapping-comparator (make-default-comparator)))

;;; The default comparator accepts mappings.
(comparator-register-default! mapping-comparator)
