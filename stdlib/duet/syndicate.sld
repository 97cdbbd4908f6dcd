;;; A run and a server that speaks Syndicate's protocol: facts and messages both ways.
(define-library (duet syndicate)
  (export join-syndicate! remote-message!)
  (on-demand)
  (import
    (duet base)
    (only (duet dataspace)
      assert! retract! message! watch on-message on-stop spawn spawn-facet! stop-facet!
      current-facet sleep call-tool log!)
    (only (duet internal control) %wrong-type)
    (only (duet internal options) %check-options %option)
    (only (duet kernel) %make-condition))
  (include "syndicate/value.scm" "syndicate/session.scm"))
