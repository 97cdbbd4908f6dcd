;;; The dataspace: assertions, observers, waits, facets, tools.
;;; Procedures not defined here are supplied by the runtime.
(define-library (duet dataspace)
  (export
    assert! retract! update! signal! message! send!
    watch unwatch pattern on-assert on-retract on-message
    await await-next signal tool-result user-input predicate
    spawn yield spawn-facet! stop-facet! on-stop current-facet current-actor
    invoke-tool! generate-request-id! call-tool log! progress!)
  (on-demand)
  (import (duet kernel) (only (duet internal control) %wrong-type))
  (include "dataspace.scm"))
