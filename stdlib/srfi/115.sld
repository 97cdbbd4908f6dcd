;;; SRFI 115: regular expressions, written as S-expressions. A match is the leftmost one; of several
;;; at the same place, it is the first when alternatives are tried from left to right and
;;; repetitions are greedy.
(define-library (srfi 115)
  (export
    regexp regexp? valid-sre? rx regexp->sre char-set->sre
    regexp-matches regexp-matches? regexp-search regexp-replace regexp-replace-all
    regexp-match->list regexp-fold regexp-extract regexp-split regexp-partition
    regexp-match? regexp-match-count regexp-match-submatch regexp-match-submatch-start
    regexp-match-submatch-end)
  (on-demand)
  (import (scheme base) (scheme case-lambda) (duet internal ranges) (scheme char) (scheme cxr)
          (srfi 14)
          (only (duet kernel) char-general-category dictionary dictionary-contains? dictionary-ref
            dictionary-set!)
          (only (duet internal lists) append-map every))
  (include "115/parse.scm" "115/graphemes.scm" "115/compile.scm" "115/match.scm"))
