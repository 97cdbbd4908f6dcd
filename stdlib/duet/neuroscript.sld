;;; NeuroScript: its programs as data and as Scheme, and the tools that they call.
(define-library (duet neuroscript)
  (export
    read-neuroscript neuroscript-program? neuroscript-command-count neuroscript-tools
    neuroscript-syntax-error? neuroscript-depth-max neuroscript->scheme neuroscript-environment)
  (on-demand)
  (import
    (duet base) (scheme eval) (only (duet kernel) %make-condition)
    (only (duet internal control) %wrong-type)
    (only (duet internal neuroscript) ns-interpolate %text->number %position))
  (include "neuroscript/token.scm" "neuroscript/parse.scm" "neuroscript/lower.scm"))
