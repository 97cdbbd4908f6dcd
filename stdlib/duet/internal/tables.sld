;;; Hash tables by any equivalence, in order of insertion; shared by SRFI 69 and SRFI 125.
(define-library (duet internal tables)
  (export
    %make-table %table? %table-same %table-hash %table-find %table-put! %table-remove! %table-count
    %table-clear! %table-copy
    %table-entries %table-fresh
    %bounded string-hash string-ci-hash)
  (on-demand)
  (import (duet kernel) (only (duet internal sequences) for-each map)
          (only (duet internal lists) concatenate) (only (duet internal control) %wrong-type))
  (include "tables.scm"))
