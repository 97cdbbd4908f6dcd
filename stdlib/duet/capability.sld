;;; Capabilities: rights as values that can be passed on, attenuated and revoked.
;;; Caveats and their parts are records, as in the Syndicate protocol.
(define-library (duet capability)
  (export
    tool-capability dataspace-capability facet-capability
    attenuate revoke! capability?
    sturdyref attenuate-sturdyref resolve-sturdyref sturdyref-name
    rewrite alternatives reject
    anything bind lit rec arr dict both except ref narrow)
  (on-demand)
  (import (duet kernel))
  (include "capability.scm"))
