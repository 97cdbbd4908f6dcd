;;; Evaluation: data, files of data, and the input of a person.
(define-library (duet internal eval)
  (export
    environment environment? eval eval-text interaction-environment load make-sandbox
    null-environment scheme-report-environment
    %bound-evaluation! %evaluate-text
    %face-a-person! %interact %keep-value! %kept-value %limit-shown!)
  (on-demand)
  (import (duet kernel)
          (only (duet internal control) %wrong-type raise)
          (only (duet internal sequences) for-each member)
          (only (duet internal ports) call-with-input-file newline read-string write write-string
            %save-files))
  (include "eval.scm"))
