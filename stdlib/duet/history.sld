;;; Branches of other runs: a program starts, answers, compares and merges them, as the command
;;; `duet` does.
(define-library (duet history)
  (export
    history-command run-program! fork-branch! answer! amend! goto! merge-branch!
    branch-facts branch-difference branch-heads text->value)
  (on-demand)
  (import
    (scheme base) (duet base) (duet dataspace)
    (only (duet json) json->value)
    (only (duet kernel) %text->value))
  (include "history.scm"))
