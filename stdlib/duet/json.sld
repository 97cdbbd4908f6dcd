;;; JSON: texts and values, paths, JSON Pointer, JSON Schema.
(define-library (duet json)
  (export
    json->value value->json read-json write-json
    json-error? json-error-line json-error-column
    json-ref json-ref/default json-set json=?
    json-pointer->path path->json-pointer json-pointer-ref
    json-schema json-schema? json-violations json-valid?)
  (on-demand)
  (import
    (scheme base) (scheme char) (srfi 14) (srfi 115)
    (only (duet base)
      condition? condition-kind condition-irritants
      dictionary dictionary? dictionary-ref dictionary-set! dictionary-contains? dictionary-count
      dictionary-keys dictionary->alist dictionary-copy
      append-map filter keyword? keyword->symbol list-sort string-contains string-index string-join
      symbol->keyword)
    (only (duet kernel) %make-condition)
    (only (duet internal control) %wrong-type)
    (only (duet internal options) %check-options %option))
  (include "json/read.scm" "json/write.scm" "json/path.scm" "json/pattern.scm" "json/schema.scm"
    "json/keywords.scm"))
