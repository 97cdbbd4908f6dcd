;;; Routes over TCP: agents of this run and those of other processes, through a relay.
(define-library (duet routes wire)
  (export join-relay! start-relay! payload->line line->payload)
  (on-demand)
  (import
    (duet base)
    (only (duet agents) make-channel channel-put! channel-take! close-channel! channel-closed?)
    (only (duet dataspace)
      assert! retract! on-message on-stop spawn spawn-facet! sleep call-tool log!)
    (only (duet json) json->value value->json json-error?)
    (only (duet routes) deliver!)
    (only (duet internal control) %wrong-type)
    (only (duet internal options) %check-options %option))
  (include "wire.scm"))
