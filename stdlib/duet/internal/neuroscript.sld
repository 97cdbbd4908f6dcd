;;; The values and operators of NeuroScript, which its programs use when they run.
(define-library (duet internal neuroscript)
  (export
    ns-error ns-quota ns-type ns-text ns-interpolate ns-true? ns-and ns-or ns-not
    ns-add ns-subtract ns-multiply ns-divide ns-remainder ns-power
    ns-bit-and ns-bit-or ns-bit-xor ns-bit-not ns-negate
    ns-equal? ns-unequal? ns-less? ns-greater? ns-at-most? ns-at-least?
    ns-list ns-map ns-element ns-updated ns-destructured ns-items ns-check-round
    ns-must ns-fail ns-try ns-no-procedure ns-bad-count ns-length
    ns-ln ns-log ns-sin ns-cos ns-tan ns-asin ns-acos ns-atan
    ns-is-string? ns-is-number? ns-is-bool? ns-is-list? ns-is-map? ns-is-nil? ns-is-int?
    ns-is-float? ns->value value->ns %text->number %number-text %position)
  (on-demand)
  (import (duet base) (only (duet kernel) %make-condition)
    (only (scheme flonum) flonum?) (only (scheme bitwise) bitwise-and bitwise-ior bitwise-xor))
  (include "neuroscript.scm"))
