;;; SRFI 189: Maybe and Either, values that may be absent and values with a reason for their
;;; absence. Each may carry several values, its payload.
(define-library (srfi 189)
  (export
    just nothing right left list->just list->right list->left maybe->either either->maybe
    either-swap maybe? either? just? nothing? right? left? maybe-ref-error? maybe= either=
    maybe-ref either-ref maybe-ref/default either-ref/default
    maybe-join either-join maybe-compose either-compose maybe-bind either-bind
    maybe-length either-length maybe-filter maybe-remove either-filter either-remove maybe-sequence
    either-sequence maybe->list either->list list->maybe list->either maybe->truth either->truth
    truth->maybe truth->either maybe->list-truth either->list-truth list-truth->maybe
    list-truth->either maybe->generation generation->maybe either->generation generation->either
    maybe->values either->values values->maybe values->either maybe->two-values two-values->maybe
    exception->either maybe-map either-map maybe-for-each either-for-each maybe-fold either-fold
    maybe-unfold either-unfold maybe-if maybe-and maybe-or maybe-let* maybe-let*-values either-and
    either-or either-let* either-let*-values either-guard
    tri-not tri=? tri-and tri-or tri-merge)
  (on-demand)
  (import (scheme base) (scheme case-lambda) (only (duet internal control) call/ec)
          (only (duet internal lists) every))
  (include "189/values.scm" "189/conversions.scm" "189/syntax.scm"))
