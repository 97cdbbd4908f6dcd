;;; Routes without DNA: tokens, routes, tapes, agents and cycles. An actor with an agent evaluates
;;; this library, and not JSON, which only DNA needs.
(define-library (duet internal routes)
  (export
    token? ->token token->string token-kind token-name token-members accepts? some-accepts?
    route? ->route route->string route-sources route-labels route-targets arrow-route?
    initial-route? route-activates compatible? route-length-max route-tokens-max
    arrow-style? make-arrow-style canonical-arrow-style
    tape? ->tape tape-shape tape-entries tape-indexed? tape-ref tape-size tape-union tape-replace
    tape-delta trigger-tree? make-triggers text->triggers trigger-path trigger-under?
    event? event-action event-trigger event-data test stay move
    registration? registration-kind registration-name registration-route registration-priority
    make-receiver make-sender make-hook
    agent? make-agent agent-name agent-tape agent-registrations
    context-agent context-message context-route context-key context-state context-event
    eligible-receivers eligible-senders run-cycle
    cycle? cycle-agent cycle-before cycle-input cycle-steps cycle-activations cycle-proposals
    cycle-after cycle-emissions cycle-payloads cycle-failures
    step-hook step-input step-output step-failure
    activation-receiver activation-key activation-state activation-event activation-failure
    emission-sender emission-activation emission-result emission-steps emission-payloads
    emission-failure
    define-agent start-agent! deliver! cycle->record
    %actions %code %direction %every-entry? %function %module-name %multi? %priority<? %sequence
    %triggers %under)
  (on-demand)
  (import
    (duet base) (only (duet kernel) %make-condition %procedure-code)
    (only (duet dataspace) assert! retract! message! on-message spawn spawn-facet! log!)
    (only (duet internal control) %wrong-type)
    (only (duet internal options) %check-options %option))
  (include "routes/token.scm" "routes/route.scm" "routes/tape.scm" "routes/trigger.scm"
    "routes/agent.scm" "routes/cycle.scm" "routes/actor.scm"))
