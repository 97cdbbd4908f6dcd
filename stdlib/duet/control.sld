;;; Control: escapes, delimited continuations, generators, coroutines, tasks.
(define-library (duet control)
  (export
    call/cc call-with-current-continuation call/ec call-with-escape-continuation let/ec dynamic-wind
    make-prompt-tag default-prompt-tag call-with-prompt abort-to-prompt
    call-with-composable-continuation prompt control prompt-at control-at reset shift reset-at
    shift-at make-coroutine-generator generator-lambda define-generator
    make-coroutine coroutine? coroutine-done? resume suspend
    async await run-tasks)
  (on-demand)
  (import (except (scheme base) call/cc call-with-current-continuation dynamic-wind)
    (scheme case-lambda) (scheme write)
    (except (duet internal control) delay delay-force make-promise promise? force)
    (only (duet kernel) spawn current-facet yield %await %current-fiber %fiber-waits? %sleep %wake
      %dynamic %winders %make-condition %abort-with-continuation))
  (include "control.scm"))
