;;; The dataspace: assertions, observers, waits, facets, tools.
;;; The runtime provides the procedures that are not defined here.
(define-library (duet dataspace)
  (export
    assert! retract! update! signal! message! pulse! send! sync!
    watch unwatch pattern on-assert on-retract on-message during
    await await-next select with-timeout signal tool-result user-input predicate elapsed
    sleep after every cancel!
    spawn yield spawn-facet! stop-facet! on-stop on-exit current-facet current-actor
    register-entity! spawn-entity! attach-entity! detach-entity!
    invoke-tool! generate-request-id! call-tool log! progress! current-time random)
  (on-demand)
  (import
    (rename (duet kernel) (watch %watch))
    (only (duet control) await) (only (duet internal control) raise %wrong-type)
    (only (duet internal options) %check-options %check-time %option)
    (only (duet internal sequences) map for-each))
  (include "dataspace.scm"))
