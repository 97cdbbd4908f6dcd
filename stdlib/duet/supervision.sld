;;; Supervision: restarting entities that fail.
(define-library (duet supervision)
  (export
    supervise supervisor? supervisor-children stop-supervisor! child
    spawn-linked-entity!)
  (on-demand)
  (import
    (duet base) (duet dataspace) (only (duet internal options) %check-options %option)
    (only (duet internal control) %wrong-type) (only (duet kernel) %make-condition))
  (include "supervision.scm"))
