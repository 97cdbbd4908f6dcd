;;; SRFI 14: sets of characters, of all of Unicode. Sets are immutable: the procedures with `!`
;;; return a set like the others.
(define-library (srfi 14)
  (export
    char-set? char-set= char-set<= char-set-hash char-set-cursor char-set-ref char-set-cursor-next
    end-of-char-set? char-set-fold char-set-unfold char-set-for-each char-set-map char-set-copy
    char-set list->char-set string->char-set char-set-filter ucs-range->char-set ->char-set
    char-set->list char-set->string char-set-size char-set-count char-set-contains? char-set-every
    char-set-any char-set-adjoin char-set-delete char-set-complement char-set-union
    char-set-intersection char-set-difference char-set-xor char-set-diff+intersection
    (rename char-set-unfold char-set-unfold!) (rename list->char-set list->char-set!)
    (rename string->char-set string->char-set!)
    (rename char-set-filter char-set-filter!) (rename ucs-range->char-set ucs-range->char-set!)
    (rename char-set-adjoin char-set-adjoin!) (rename char-set-delete char-set-delete!)
    (rename char-set-complement char-set-complement!)
    (rename char-set-union char-set-union!) (rename char-set-intersection char-set-intersection!)
    (rename char-set-difference char-set-difference!) (rename char-set-xor char-set-xor!)
    (rename char-set-diff+intersection char-set-diff+intersection!)
    char-set:lower-case char-set:upper-case char-set:title-case char-set:letter char-set:digit
    char-set:letter+digit char-set:graphic char-set:printing char-set:whitespace
    char-set:iso-control char-set:punctuation char-set:symbol char-set:hex-digit char-set:blank
    char-set:ascii char-set:empty char-set:full)
  (on-demand)
  (import (scheme base) (scheme case-lambda) (scheme char) (scheme lazy)
          (only (duet internal lists) fold sort)
          (only (duet kernel) %hash char-general-category)
          (only (duet internal control) %wrong-type) (only (duet internal ranges) %out-of-range))
  (include "14/sets.scm" "14/procedures.scm"))
