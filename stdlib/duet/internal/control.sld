;;; Control: winders, dynamic state, exceptions, parameters, prompts.
;;; The machine calls %rewind and %signal of this library by name.
(define-library (duet internal control)
  (export
    %rewind %signal %wrong-type %exit-extents %run-joined %raise-joined %base %begins-part %as-part
    %barred? %abort-through-extents
    call-with-escape-continuation call/ec let/ec
    (rename %call/cc call/cc) (rename %call/cc call-with-current-continuation) dynamic-wind
    with-exception-handler raise raise-continuable error guard
    condition? condition-kind condition-message condition-irritants
    (rename condition? error-object?)
    (rename condition-message error-object-message)
    (rename condition-irritants error-object-irritants)
    read-error? file-error?
    make-parameter parameterize
    delay delay-force make-promise promise? force
    make-prompt-tag default-prompt-tag call-with-prompt abort-to-prompt
    call-with-composable-continuation prompt control prompt-at control-at reset shift reset-at
    shift-at)
  (import (duet kernel))
  (include "dynamic.scm" "exceptions.scm" "parameters.scm" "prompts.scm" "fibers.scm"
           "promises.scm"))
