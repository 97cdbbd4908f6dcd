;;; SRFI 146: mappings in the order of their keys. Mappings are immutable: the procedures with `!`
;;; return a mapping like the others.
(define-library (srfi 146)
  (export
    mapping mapping-unfold mapping/ordered mapping-unfold/ordered mapping? mapping-contains?
    mapping-empty? mapping-disjoint?
    mapping-ref mapping-ref/default mapping-key-comparator
    mapping-adjoin mapping-set mapping-replace mapping-delete mapping-delete-all mapping-intern
    mapping-update mapping-update/default
    mapping-pop mapping-search
    (rename mapping-adjoin mapping-adjoin!) (rename mapping-set mapping-set!)
    (rename mapping-replace mapping-replace!) (rename mapping-delete mapping-delete!)
    (rename mapping-delete-all mapping-delete-all!) (rename mapping-intern mapping-intern!)
    (rename mapping-update mapping-update!) (rename mapping-update/default mapping-update!/default)
    (rename mapping-pop mapping-pop!)
    (rename mapping-search mapping-search!)
    mapping-size mapping-find mapping-count mapping-any? mapping-every? mapping-keys mapping-values
    mapping-entries mapping-map mapping-for-each mapping-fold mapping-map->list mapping-filter
    mapping-remove mapping-partition (rename mapping-filter mapping-filter!)
    (rename mapping-remove mapping-remove!) (rename mapping-partition mapping-partition!)
    mapping-copy mapping->alist alist->mapping alist->mapping! alist->mapping/ordered
    alist->mapping/ordered! mapping=? mapping<? mapping>? mapping<=? mapping>=?
    mapping-union mapping-intersection mapping-difference mapping-xor
    (rename mapping-union mapping-union!) (rename mapping-intersection mapping-intersection!)
    (rename mapping-difference mapping-difference!) (rename mapping-xor mapping-xor!)
    mapping-min-key mapping-max-key mapping-min-value mapping-max-value mapping-min-entry
    mapping-max-entry mapping-key-predecessor mapping-key-successor
    mapping-range= mapping-range< mapping-range> mapping-range<= mapping-range>=
    (rename mapping-range= mapping-range=!) (rename mapping-range< mapping-range<!)
    (rename mapping-range> mapping-range>!)
    (rename mapping-range<= mapping-range<=!) (rename mapping-range>= mapping-range>=!)
    mapping-split mapping-catenate mapping-map/monotone mapping-fold/reverse
    (rename mapping-split mapping-split!) (rename mapping-catenate mapping-catenate!)
    (rename mapping-map/monotone mapping-map/monotone!)
    comparator? make-mapping-comparator mapping-comparator)
  (on-demand)
  (import (scheme base) (scheme case-lambda) (srfi 128) (only (duet internal control) call/ec)
          (only (duet internal lists) fold))
  (include "146/tree.scm" "146/entries.scm" "146/mapping.scm" "146/order.scm"))
