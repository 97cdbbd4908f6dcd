;;; Lists beyond the reports: sorting, folding, searching.
(define-library (duet internal lists)
  (export
    sort list-sort vector-sort
    fold fold-left fold-right reduce filter remove partition delete delete-duplicates
    find find-tail any every count list-index filter-map append-map
    iota last last-pair list-head take drop concatenate flatten append-reverse)
  (on-demand)
  (import (duet kernel) (only (duet internal control) error %wrong-type)
    (only (duet internal sequences) map member %cars %cdrs %check-rests)
    (only (duet internal ranges) %check-natural %out-of-range))
  (include "lists.scm"))
