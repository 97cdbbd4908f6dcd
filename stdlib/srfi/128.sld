;;; SRFI 128: comparators.
(define-library (srfi 128)
  (export
    comparator? comparator-ordered? comparator-hashable? make-comparator make-pair-comparator
    make-list-comparator make-vector-comparator make-eq-comparator make-eqv-comparator
    make-equal-comparator boolean-hash char-hash char-ci-hash string-hash string-ci-hash symbol-hash
    number-hash make-default-comparator default-hash comparator-register-default!
    comparator-type-test-predicate comparator-equality-predicate comparator-ordering-predicate
    comparator-hash-function comparator-test-type comparator-check-type comparator-hash hash-bound
    hash-salt =? <? >? <=? >=? comparator-if<=>)
  (on-demand)
  (import (scheme base) (scheme case-lambda) (scheme char) (scheme complex)
          (only (duet internal lists) every)
          (only (duet internal tables) string-hash string-ci-hash)
          (only (duet kernel) %hash))
  (include "128/comparators.scm" "128/default.scm"))
