;;; Agents: strands, retries, limits, pools, channels, requests, workers, language models.
(define-library (duet agents)
  (export
    race all-of any-of par-map call-with-timeout with-retry retryable?
    make-pool pool? call-with-pool rate-limit
    make-channel channel? channel-put! channel-take! close-channel! channel-closed? channel-ready
    pipeline request reply-to planner worker
    make-agent agent? agent-tool agent-tool? ask converse run-agent)
  (on-demand)
  (import
    (scheme base) (only (scheme cxr) caddr)
    (only (duet base)
      condition? condition-kind condition-message condition-irritants
      dictionary dictionary? dictionary-ref dictionary-set! dictionary-delete! dictionary-count
      dictionary-contains? dictionary-values filter record record-fields record-label string-join)
    (only (duet dataspace)
      assert! retract! message! watch pattern await predicate sleep spawn spawn-facet! stop-facet!
      on-stop current-facet generate-request-id! random call-tool)
    (only (duet json)
      json->value value->json json-error? json-ref/default json-schema json-violations)
    (only (duet kernel) %make-condition %sleep %wake %current-fiber)
    (only (duet internal control) %wrong-type)
    (only (duet internal options) %check-options %option))
  (include "agents/strands.scm" "agents/queues.scm" "agents/channels.scm" "agents/exchange.scm"
    "agents/models.scm"))
