;;; SRFI 60: integers as bits.
(define-library (srfi 60)
  (export
    bitwise-and (rename bitwise-and logand) bitwise-ior (rename bitwise-ior logior)
    bitwise-xor (rename bitwise-xor logxor) bitwise-not (rename bitwise-not lognot)
    bitwise-if (rename bitwise-if bitwise-merge) (rename any-bit-set? any-bits-set?)
    (rename any-bit-set? logtest) bit-count (rename bit-count logcount) integer-length first-set-bit
    (rename first-set-bit log2-binary-factors) bit-set? (rename bit-set? logbit?) copy-bit bit-field
    copy-bit-field arithmetic-shift (rename arithmetic-shift ash) rotate-bit-field reverse-bit-field
    integer->list list->integer booleans->integer)
  (on-demand)
  (import (scheme base) (srfi 151))
  (begin
    ;;;> Returns the number `to` with the lowest bits of `from` in the field.
    (define (copy-bit-field to from start end) (bit-field-replace to from start end))
    ;;;> Returns the number with the field rotated by `count` towards the higher bits.
    (define (rotate-bit-field number count start end) (bit-field-rotate number count start end))
    ;;;> Returns the number with the bits of the field in reverse order.
    (define (reverse-bit-field number start end) (bit-field-reverse number start end))
    ;;;> Returns a list of booleans, one for each bit, the highest first; `count` bits, or all
    ;;;> significant ones.
    (define (integer->list number . count) (reverse (apply bits->list number count)))
    ;;;> Returns the number with the bits of a list of booleans, the highest first.
    (define (list->integer booleans) (list->bits (reverse booleans)))
    ;;;> Returns the number with the bits of the arguments, booleans, the highest first.
    (define (booleans->integer . booleans) (list->integer booleans))))
