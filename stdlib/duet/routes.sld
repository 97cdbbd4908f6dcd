;;; Routes: agents by the Summoner profile, with tokens, routes, tapes, cycles and DNA.
(define-library (duet routes)
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
    route-profile agent-dna publish-dna! dna-report)
  (on-demand)
  (import
    (duet base) (only (duet kernel) %make-condition)
    (only (duet dataspace) assert!)
    (only (duet json) json->value value->json json-ref json-ref/default)
    (duet internal routes) (only (duet internal control) %wrong-type))
  (include "routes/dna.scm"))
