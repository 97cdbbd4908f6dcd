;;; Requests over HTTP as messages, and replies to them.
(define-library (duet webhooks)
  (export serve-webhooks! webhook-reply!)
  (on-demand)
  (import
    (duet base)
    (only (duet dataspace)
      assert! retract! message! pulse! signal with-timeout on-stop spawn spawn-facet! sleep
      call-tool log!)
    (only (duet internal control) %wrong-type)
    (only (duet internal options) %check-options %option))
  (include "webhooks.scm"))
