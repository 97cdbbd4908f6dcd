;;; SRFI 13: strings, without its procedures for speed or shared storage. A criterion is a
;;; character, a set of characters or a predicate.
(define-library (srfi 13)
  (export
    string? string-null? string-every string-any make-string string string-tabulate
    string->list list->string reverse-list->string string-join string-length string-ref string-copy
    substring/shared string-copy!
    string-take string-take-right string-drop string-drop-right string-pad string-pad-right
    string-trim string-trim-right string-trim-both string-set! string-fill! string-compare
    string= string<> string< string> string<= string>= string-ci= string-ci<> string-ci< string-ci>
    string-ci<= string-ci>=
    string-hash (rename string-ci-hash string-hash-ci) string-compare-ci string-prefix-length
    string-suffix-length string-prefix-length-ci string-suffix-length-ci string-prefix?
    string-suffix? string-prefix-ci? string-suffix-ci? string-index string-index-right string-skip
    string-skip-right string-count string-contains string-contains-ci string-upcase string-downcase
    string-titlecase string-reverse string-append string-concatenate
    (rename string-append string-append/shared)
    (rename string-concatenate string-concatenate/shared) string-concatenate-reverse
    (rename string-concatenate-reverse string-concatenate-reverse/shared)
    string-reverse! string-upcase! string-downcase! string-titlecase! string-map! string-xcopy!
    string-map string-fold string-fold-right string-unfold string-unfold-right string-for-each
    string-for-each-index xsubstring string-replace string-tokenize string-filter string-delete)
  (on-demand)
  (import (except (scheme base) string-map string-for-each) (scheme case-lambda)
          (except (scheme char) string-upcase string-downcase)
          (srfi 14) (duet internal ranges)
          (only (duet internal lists) fold)
          (only (duet internal tables) string-hash string-ci-hash)
          (rename (only (duet kernel) string-contains string-prefix? string-suffix?)
            (string-contains %string-contains) (string-prefix? %string-prefix?)
            (string-suffix? %string-suffix?)))
  (include "13/basics.scm" "13/comparison.scm" "13/searching.scm" "13/mutation.scm"))
