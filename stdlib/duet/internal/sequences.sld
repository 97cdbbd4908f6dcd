;;; Higher-order procedures of (scheme base) on lists, vectors and strings.
(define-library (duet internal sequences)
  (export map for-each member assoc %cars %cdrs %check-rest %check-rests
          vector-map vector-for-each string-map string-for-each)
  (on-demand)
  (import (duet kernel) (only (duet internal control) %wrong-type))
  (include "sequences.scm"))
