;;; Properties of programs, checked with drawn values that shrink to small ones.
(define-library (duet check)
  (export
    test-property check-property property-runs property-seed
    generator? booleans integers reals characters strings symbols constant elements one-of frequency
    lists-of vectors-of tuples-of
    generator-map generator-bind such-that sized generator-sample)
  (on-demand)
  (import (scheme base) (scheme lazy) (duet syntax)
    (only (duet base) condition? condition-kind condition-message dictionary append-map filter)
    (only (duet dataspace) call-tool random)
    (only (duet kernel) %explain %make-condition)
    (only (duet internal control) %wrong-type)
    (only (duet internal options) %check-options %option)
    (only (srfi 27)
      make-random-source random-source-pseudo-randomize! random-source-make-integers
      random-source-make-reals)
    (only (srfi 64) test-equal))
  (include "check/trees.scm" "check/generators.scm" "check/properties.scm"))
