;;; SRFI 60: integers as bits.
(define-library (srfi 60)
  (export
    bitwise-and (rename bitwise-and logand) bitwise-ior (rename bitwise-ior logior)
    bitwise-xor (rename bitwise-xor logxor) bitwise-not (rename bitwise-not lognot)
    bitwise-if (rename bitwise-if bitwise-merge) (rename any-bit-set? any-bits-set?) (rename any-bit-set? logtest)
    bit-count (rename bit-count logcount) integer-length first-set-bit (rename first-set-bit log2-binary-factors)
    bit-set? (rename bit-set? logbit?) copy-bit bit-field copy-bit-field
    arithmetic-shift (rename arithmetic-shift ash) rotate-bit-field reverse-bit-field
    integer->list list->integer booleans->integer)
  (on-demand)
  (import (scheme base) (srfi 151))
  (begin
    ;;;> The number `to` with the lowest bits of `from` in the field.
    (define (copy-bit-field to from start end) (bit-field-replace to from start end))
    ;;;> The number with the field rotated by `count` towards the higher bits.
    (define (rotate-bit-field number count start end) (bit-field-rotate number count start end))
    ;;;> The number with the bits of the field in reverse order.
    (define (reverse-bit-field number start end) (bit-field-reverse number start end))
    ;;;> A list of booleans, one for each bit, the highest first; of `count` bits or all that matter.
    (define (integer->list number . count) (reverse (apply bits->list number count)))
    ;;;> The number of the bits in a list of booleans, the highest first.
    (define (list->integer booleans) (list->bits (reverse booleans)))
    ;;;> The number of the arguments, booleans, the highest bit first.
    (define (booleans->integer . booleans) (list->integer booleans))))
