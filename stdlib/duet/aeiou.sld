;;; AEIOU v4: envelopes, sandboxed actions, and the loop of a model and its programs.
(define-library (duet aeiou)
  (export
    aeiou-error? aeiou-error-code
    parse-envelope envelope? envelope-userdata envelope-scratchpad envelope-output envelope-actions
    envelope-lints userdata-lints envelope-bytes-max section-bytes-max compose-envelope
    neutralise-markers check-userdata
    turn-digest sha256 make-progress-guard progress-guard? progress-guard-halts?
    scan-emissions scan? scan-done? scan-result scan-lints
    tool-permitted? check-actions run-actions
    execution? execution-emissions execution-whispers execution-error
    aeiou-rules tool scripted-model run-loop ask-loop
    outcome? outcome-decision outcome-reason outcome-result outcome-output outcome-log
    outcome-counters)
  (on-demand)
  (import
    (duet base) (scheme eval)
    (only (duet kernel) %make-condition %sleep %wake %current-fiber
      %spawn-facet-for! %spawn-undivided)
    (only (scheme bitwise) bitwise-and bitwise-xor)
    (only (duet dataspace)
      assert! retract! update! message! on-assert spawn spawn-facet! stop-facet! current-facet
      on-stop register-entity! spawn-entity! generate-request-id! call-tool after current-time)
    (only (duet json) json->value value->json json-error? json-ref/default)
    (duet neuroscript)
    (only (duet internal neuroscript) ns-text ns-error ns-quota ns->value value->ns)
    (only (duet internal control) %wrong-type)
    (only (duet internal lists) every)
    (only (duet internal options) %check-options %option))
  (include "aeiou/envelope.scm" "aeiou/userdata.scm" "aeiou/digest.scm" "aeiou/scan.scm"
    "aeiou/sandbox.scm" "aeiou/session.scm" "aeiou/loop.scm"))
