;;; Tests of programs that call tools, models and people: scripts that answer in their place, and
;;; assertions about what was called. They work under `duet test` only.
(define-library (duet test)
  (export
    script-tool! script-model! script-person! script-approvals!
    returning failing calling delaying asked always
    test-calls calls-of model-prompts
    test-called test-not-called test-call-count test-call-order test-scripts-used)
  (on-demand)
  (import (scheme base) (only (scheme cxr) caddr) (scheme lazy) (scheme write) (duet syntax)
    (only (duet base)
      condition? condition-kind condition-message condition-irritants
      dictionary dictionary? dictionary-ref dictionary-contains? dictionary-copy dictionary-keys
      dictionary-set! dictionary-values append-map filter find list-head last record record?
      record-fields set? set->list string-contains string-join string-prefix? string-suffix?)
    (only (duet dataspace) watch pattern spawn current-facet sleep call-tool)
    (only (duet kernel) %explain %make-condition %report-failure)
    (only (duet internal control) %wrong-type)
    (only (duet internal options) %check-time)
    (only (srfi 64) test-equal))
  (include "test/replies.scm" "test/scripts.scm" "test/assertions.scm"))
