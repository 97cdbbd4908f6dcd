;;; Agents: strands, retries, limits, pools, channels, requests, workers, language models and their
;;; tools.
(define-library (duet agents)
  (export
    race all-of any-of par-map settle par-settle call-with-timeout call-with-heartbeat
    current-heartbeat with-retry retryable? current-attempt poll-until
    make-pool pool? call-with-pool rate-limit
    make-channel channel? channel-put! channel-take! close-channel! channel-closed? channel-ready
    pipeline request reply-to planner worker ask-person
    make-model define-model model? model-usage
    make-agent define-agent agent? ask converse run-agent failure-messages
    agent-tool define-tool granted-tool agent-tool? shape->schema files
    review-ratchet debate keep-last summarize-after
    register-agent-roles! agent-entity tool-entity person-entity)
  (on-demand)
  (import
    (scheme base) (only (scheme cxr) caddr) (only (scheme write) write) (duet syntax)
    (only (duet base)
      condition? condition-kind condition-message condition-irritants
      dictionary dictionary? dictionary-ref dictionary-set! dictionary-delete! dictionary-count
      dictionary-contains? dictionary-copy dictionary-keys dictionary-values dictionary->alist
      append-map filter filter-map find list-head record record-fields record-label
      string-index string-join string-suffix? string-trim with-output-to-string)
    (only (duet dataspace)
      assert! retract! message! watch pattern await predicate user-input with-timeout elapsed sleep
      spawn spawn-facet! stop-facet! on-stop current-facet generate-request-id! random call-tool
      log! register-entity!)
    (only (duet mcp) mcp-call mcp-tools mcp-value)
    (only (duet json)
      json->value value->json json-error? json-schema json-violations)
    (only (duet kernel) %check-await %make-condition %report-failure %sleep %wake %current-fiber
      %spawn-facet-for!)
    (only (duet internal control) %wrong-type %run-joined %raise-joined %as-part)
    (only (duet internal options) %check-options %check-time %option))
  (include "agents/strands.scm" "agents/retries.scm" "agents/settle.scm" "agents/heartbeats.scm"
    "agents/queues.scm" "agents/channels.scm" "agents/exchange.scm" "agents/clauses.scm"
    "agents/shapes.scm" "agents/answers.scm" "agents/tools.scm" "agents/models.scm"
    "agents/calls.scm" "agents/agent.scm" "agents/rounds.scm" "agents/roles.scm"))
