;;; Capabilities: what may be done, as a thing that can be passed on, narrowed and taken back.
;;; Caveats and their parts are records, as the Syndicate protocol has them.
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
