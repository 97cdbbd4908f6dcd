;;; Sessions: people and programs that have texts evaluated in this run.
(define-library (duet sessions)
  (export serve-sessions!)
  (on-demand)
  (import
    (duet base)
    (only (duet dataspace)
      assert! retract! message! on-assert on-retract on-message on-stop spawn spawn-facet!
      stop-facet! sleep yield register-entity! spawn-entity! current-facet)
    (only (duet internal eval) environment eval %bound-evaluation! %evaluate-text %keep-value!)
    (only (scheme repl) interaction-environment)
    (only (scheme process-context) exit)
    (only (duet kernel)
      %console-port %set-port-receiver! %spawn-guarded %cancel %data? %answer! %current-fiber
      %fiber-waits? %sleep %wake)
    (only (duet internal control) %wrong-type %begins-part)
    (only (duet internal options) %check-options %option))
  (include "sessions/host.scm" "sessions/session.scm" "sessions/questions.scm"))
