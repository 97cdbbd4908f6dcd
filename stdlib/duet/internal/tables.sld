;;; Hash tables by any equivalence, in order of insertion; shared by SRFI 69 and SRFI 125.
(define-library (duet internal tables)
  (export
    hash-table? hash-table-equivalence-function hash-table-size
    %check-table %make-table %table-hash %table-find %table-put! %table-remove! %table-clear!
    %table-copy %table-entries %table-walk %table-fresh %table-fill!
    %bounded string-hash string-ci-hash)
  (on-demand)
  (import (duet kernel) (only (duet internal sequences) for-each map)
          (only (duet internal lists) concatenate) (only (duet internal control) %wrong-type)
          (only (duet internal ranges) %range))
  (include "tables.scm"))
