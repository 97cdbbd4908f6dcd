;;; Whether every entry of a mapping is in another, values being compared by a comparator.
(define (%within? comparator a b)
  (let ((less? (%less b)) (same? (comparator-equality-predicate comparator)))
    (and
      (eq? (mapping-key-comparator a) (mapping-key-comparator b))
      (mapping-every?
      (lambda (key value)
          (let ((node (%find less? (%tree b) key))) (and node (same? value (%value node)))))
        a))))

(define (%chain holds?)
  (lambda (comparator first . rest)
    (let loop ((first first) (rest rest))
      (or (null? rest)
          (and (holds? comparator first (car rest)) (loop (car rest) (cdr rest)))))))

;;;> Whether the mappings have the same entries.
(define mapping=?
  (%chain (lambda (comparator a b) (and (= (mapping-size a) (mapping-size b)) (%within? comparator a b)))))
;;;> Whether the entries of each mapping are among those of the next.
(define mapping<=? (%chain %within?))
;;;> Whether the entries of each mapping are among those of the one before.
(define mapping>=? (%chain (lambda (comparator a b) (%within? comparator b a))))
;;;> Whether the entries of each mapping are among those of the next, which has more.
(define mapping<?
  (%chain (lambda (comparator a b) (and (< (mapping-size a) (mapping-size b)) (%within? comparator a b)))))
;;;> Whether the entries of each mapping are among those of the one before, which has more.
(define mapping>?
  (%chain (lambda (comparator a b) (and (> (mapping-size a) (mapping-size b)) (%within? comparator b a)))))

(define (%combining combine)
  (lambda (first . rest)
    (fold (lambda (next mapping) (%same mapping (combine (%less mapping) (%tree mapping) (%tree next)))) first rest)))

;;;> The entries of all mappings; of equal keys the first counts.
(define mapping-union (%combining %union))
;;;> The entries of the first mapping whose keys all others have.
(define mapping-intersection (%combining %intersection))
;;;> The entries of the first mapping whose keys no other has.
(define mapping-difference (%combining %difference))
;;;> The entries whose keys only one of two mappings has.
(define (mapping-xor a b) (mapping-union (mapping-difference a b) (mapping-difference b a)))

(define (%at-end pick of)
  (lambda (mapping)
    (if (mapping-empty? mapping) (error "the mapping is empty" mapping))
    (of (pick (%tree mapping)))))
(define (%key-and-value node) (values (%key node) (%value node)))

;;;> The least key.
(define mapping-min-key (%at-end %first %key))
;;;> The greatest key.
(define mapping-max-key (%at-end %last %key))
;;;> The value of the least key.
(define mapping-min-value (%at-end %first %value))
;;;> The value of the greatest key.
(define mapping-max-value (%at-end %last %value))
;;;> Two values: the least key and its value.
(define mapping-min-entry (%at-end %first %key-and-value))
;;;> Two values: the greatest key and its value.
(define mapping-max-entry (%at-end %last %key-and-value))

;;; Three values: the tree before an object, its node or #f, and the tree behind it.
(define (%parts mapping object use)
  (call-with-values (lambda () (%split (%less mapping) (%tree mapping) object)) use))

;;;> The greatest key below an object, or what `failure` answers.
(define (mapping-key-predecessor mapping object failure)
  (%parts mapping object (lambda (before found behind) (if before (%key (%last before)) (failure)))))
;;;> The least key above an object, or what `failure` answers.
(define (mapping-key-successor mapping object failure)
  (%parts mapping object (lambda (before found behind) (if behind (%key (%first behind)) (failure)))))

(define (%of-node node) (and node (%make (%key node) (%value node) #f #f)))

;;;> The entry with a key that is equal to an object.
(define (mapping-range= mapping object)
  (%parts mapping object (lambda (before found behind) (%same mapping (%of-node found)))))
;;;> The entries with keys below an object.
(define (mapping-range< mapping object)
  (%parts mapping object (lambda (before found behind) (%same mapping before))))
;;;> The entries with keys above an object.
(define (mapping-range> mapping object)
  (%parts mapping object (lambda (before found behind) (%same mapping behind))))
;;;> The entries with keys that are not above an object.
(define (mapping-range<= mapping object)
  (%parts mapping object
    (lambda (before found behind)
      (%same mapping (if found (%with-last before (%key found) (%value found)) before)))))
;;;> The entries with keys that are not below an object.
(define (mapping-range>= mapping object)
  (%parts mapping object
    (lambda (before found behind)
      (%same mapping (if found (%with-first behind (%key found) (%value found)) behind)))))
;;;> Five values: the entries with keys below an object, not above, equal, not below, and above.
(define (mapping-split mapping object)
  (values (mapping-range< mapping object) (mapping-range<= mapping object) (mapping-range= mapping object)
          (mapping-range>= mapping object) (mapping-range> mapping object)))
;;;> A mapping by a comparator of one mapping, an entry, and another mapping; all keys are in this order.
(define (mapping-catenate comparator before key value behind)
  (%mapping comparator (%join key value (%tree before) (%tree behind))))

;;;> A comparator of mappings, by their keys in order and then by values, which `comparator` compares.
(define (make-mapping-comparator comparator)
  (make-comparator
    mapping?
    (lambda (a b) (mapping=? comparator a b))
    (lambda (a b) (%before? comparator (mapping->alist a) (mapping->alist b) (mapping-key-comparator a)))
    (lambda (mapping)
      (mapping-fold
        (lambda (key value hash)
          (modulo (+ hash (comparator-hash (mapping-key-comparator mapping) key) (comparator-hash comparator value)) (hash-bound)))
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

;;; The default comparator knows mappings wherever there are any.
(comparator-register-default! mapping-comparator)
