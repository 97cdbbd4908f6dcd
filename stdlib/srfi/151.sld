;;; SRFI 151: bits of exact integers, as infinite two's complement.
(define-library (srfi 151)
  (export
    bitwise-not bitwise-and bitwise-ior bitwise-xor bitwise-eqv bitwise-nand
    bitwise-nor bitwise-andc1 bitwise-andc2 bitwise-orc1 bitwise-orc2
    arithmetic-shift bit-count integer-length bitwise-if
    bit-set? copy-bit bit-swap any-bit-set? every-bit-set? first-set-bit
    bit-field bit-field-any? bit-field-every? bit-field-clear bit-field-set bit-field-replace
    bit-field-replace-same bit-field-rotate bit-field-reverse
    bits->list bits->vector list->bits vector->bits bits
    bitwise-fold bitwise-for-each bitwise-unfold make-bitwise-generator)
  (on-demand)
  (import (scheme base)
          (only (duet internal lists) fold)
          (only (duet internal control) %wrong-type)
          (only (duet internal ranges) %out-of-range %check-index %check-natural)
          (rename (only (duet kernel) bitwise-and bitwise-ior bitwise-xor bitwise-not
                    arithmetic-shift bit-count integer-length)
            (bit-count %ones)))
  (begin
    ;;;> Returns the number of bits that are 1; of a negative number, the number of bits that are 0.
    (define (bit-count number)
      (%check-index 'bit-count number)
      (if (negative? number) (%ones (bitwise-not number)) (%ones number)))

    ;;;> Returns the integer whose bits are 1 where an even number of the arguments have a 0.
    (define (bitwise-eqv . numbers)
      (fold (lambda (number result) (bitwise-not (bitwise-xor number result))) -1 numbers))

    ;;;> Returns the bits that are not 1 in both.
    (define (bitwise-nand a b) (bitwise-not (bitwise-and a b)))
    ;;;> Returns the bits that are 0 in both.
    (define (bitwise-nor a b) (bitwise-not (bitwise-ior a b)))
    ;;;> Returns the bits that are 0 in the first and 1 in the second.
    (define (bitwise-andc1 a b) (bitwise-and (bitwise-not a) b))
    ;;;> Returns the bits that are 1 in the first and 0 in the second.
    (define (bitwise-andc2 a b) (bitwise-and a (bitwise-not b)))
    ;;;> Returns the bits that are 0 in the first or 1 in the second.
    (define (bitwise-orc1 a b) (bitwise-ior (bitwise-not a) b))
    ;;;> Returns the bits that are 1 in the first or 0 in the second.
    (define (bitwise-orc2 a b) (bitwise-ior a (bitwise-not b)))

    ;;;> Returns the bits of `a` where those of `mask` are 1, those of `b` elsewhere.
    (define (bitwise-if mask a b) (bitwise-ior (bitwise-and mask a) (bitwise-andc1 mask b)))

    (define (%power index) (arithmetic-shift 1 index))

    ;;; A number whose bits from `start` up to but not including `end` are 1, for a procedure that was
    ;;; called with them and with a number.
    (define (%mask procedure number start end)
      (%check-index procedure number)
      (%check-index procedure start)
      (%check-index procedure end)
      (if (not (<= 0 start end)) (%out-of-range procedure "expected 0 <= start <= end" start end))
      (arithmetic-shift (- (%power (- end start)) 1) start))

    (define (%bit-set? index number) (odd? (arithmetic-shift number (- index))))

    (define (%copy-bit index number on?)
      (if on? (bitwise-ior number (%power index)) (bitwise-andc2 number (%power index))))

    ;;;> Returns whether the bit at an index is 1.
    (define (bit-set? index number)
      (%check-natural 'bit-set? "index" index)
      (%check-index 'bit-set? number)
      (%bit-set? index number))

    ;;;> Returns the number with the bit at an index set as the boolean says.
    (define (copy-bit index number on?)
      (%check-natural 'copy-bit "index" index)
      (%check-index 'copy-bit number)
      (%copy-bit index number on?))

    ;;;> Returns the number with two bits exchanged.
    (define (bit-swap i j number)
      (%check-natural 'bit-swap "index" i)
      (%check-natural 'bit-swap "index" j)
      (%check-index 'bit-swap number)
      (%copy-bit i (%copy-bit j number (%bit-set? i number)) (%bit-set? j number)))

    ;;;> Returns whether any of the bits that are 1 in `bits` is 1.
    (define (any-bit-set? bits number) (not (= (bitwise-and bits number) 0)))
    ;;;> Returns whether all of the bits that are 1 in `bits` are 1.
    (define (every-bit-set? bits number) (= (bitwise-and bits number) bits))

    ;;;> Returns the index of the lowest bit that is 1, or -1.
    (define (first-set-bit number)
      (if (= number 0) -1 (- (integer-length (bitwise-and number (- number))) 1)))

    (define (%field number mask start) (arithmetic-shift (bitwise-and number mask) (- start)))

    ;;; Returns `number` with the field that a mask selects replaced by the lowest bits of another.
    (define (%with-field number other mask start)
      (bitwise-if mask (arithmetic-shift other start) number))

    ;;;> Returns the bits from index `start` up to but not including `end`, as a number.
    (define (bit-field number start end)
      (%field number (%mask 'bit-field number start end) start))
    ;;;> Returns whether any bit of the field is 1.
    (define (bit-field-any? number start end)
      (any-bit-set? (%mask 'bit-field-any? number start end) number))
    ;;;> Returns whether all bits of the field are 1.
    (define (bit-field-every? number start end)
      (every-bit-set? (%mask 'bit-field-every? number start end) number))
    ;;;> Returns the number with the bits of the field set to 0.
    (define (bit-field-clear number start end)
      (bitwise-andc2 number (%mask 'bit-field-clear number start end)))
    ;;;> Returns the number with the bits of the field set to 1.
    (define (bit-field-set number start end)
      (bitwise-ior number (%mask 'bit-field-set number start end)))
    ;;;> Returns the number with the field replaced by the lowest bits of another.
    (define (bit-field-replace number other start end)
      (%check-index 'bit-field-replace other)
      (%with-field number other (%mask 'bit-field-replace number start end) start))
    ;;;> Returns the number with the field replaced by the same field of another.
    (define (bit-field-replace-same number other start end)
      (%check-index 'bit-field-replace-same other)
      (bitwise-if (%mask 'bit-field-replace-same number start end) other number))

    ;;;> Returns the number with the field rotated by `count` towards the higher bits.
    (define (bit-field-rotate number count start end)
      (%check-index 'bit-field-rotate count)
      (let* ((mask (%mask 'bit-field-rotate number start end))
             (width (- end start))
             (field (%field number mask start)))
        (if (= width 0)
            number
            (let ((count (modulo count width)))
              (%with-field number
                           (bitwise-ior (arithmetic-shift field count)
                                        (arithmetic-shift field (- count width)))
                           mask
                           start)))))

    ;;;> Returns the number with the bits of the field in reverse order.
    (define (bit-field-reverse number start end)
      (let* ((mask (%mask 'bit-field-reverse number start end))
             (bits (%bits 'bit-field-reverse (%field number mask start) (- end start))))
        (%with-field number (list->bits (reverse bits)) mask start)))

    ;;; Returns a list of the lowest `count` bits for a procedure that was called with a number and a
    ;;; count, or #f for all significant ones.
    (define (%bits procedure number count)
      (%check-index procedure number)
      (if count (%check-natural procedure "number of bits" count))
      (let loop ((index (- (or count (integer-length number)) 1)) (list '()))
        (if (< index 0) list (loop (- index 1) (cons (%bit-set? index number) list)))))

    ;;;> Returns a list of booleans, one for each bit from the lowest on; `count` bits, or all
    ;;;> significant ones.
    (define (bits->list number . count)
      (%bits 'bits->list number (and (pair? count) (car count))))
    ;;;> Returns a vector of booleans, like `bits->list`.
    (define (bits->vector number . count)
      (list->vector (%bits 'bits->vector number (and (pair? count) (car count)))))
    ;;;> Returns the number with the bits of a list of booleans, the lowest first.
    (define (list->bits list)
      (if (not (list? list)) (%wrong-type 'list->bits "a proper list" list))
      (fold (lambda (on? number) (+ (* 2 number) (if on? 1 0))) 0 (reverse list)))
    ;;;> Returns the number with the bits of a vector of booleans, the lowest first.
    (define (vector->bits vector)
      (if (not (vector? vector)) (%wrong-type 'vector->bits "a vector" vector))
      (list->bits (vector->list vector)))
    ;;;> Returns the number with the bits of the arguments, booleans, the lowest first.
    (define (bits . booleans) (list->bits booleans))

    ;;;> Combines the bits, booleans from the lowest on: `(combine bit accumulated)`.
    (define (bitwise-fold combine initial number)
      (if (not (procedure? combine)) (%wrong-type 'bitwise-fold "a procedure" combine))
      (fold combine initial (%bits 'bitwise-fold number #f)))
    ;;;> Calls `procedure` with the bits, booleans from the lowest on.
    (define (bitwise-for-each procedure number)
      (for-each procedure (%bits 'bitwise-for-each number #f)))
    ;;;> Returns the number with the bits `(bit seed)` from the lowest on, for seeds `(next seed)`,
    ;;;> until `(stop? seed)`.
    (define (bitwise-unfold stop? bit next seed)
      (let loop ((seed seed) (index 0) (number 0))
        (if (stop? seed)
            number
            (loop (next seed) (+ index 1) (%copy-bit index number (bit seed))))))
    ;;;> Makes an infinite generator of the bits, booleans from the lowest on.
    (define (make-bitwise-generator number)
      (%check-index 'make-bitwise-generator number)
      (lambda ()
        (let ((bit (odd? number)))
          (set! number (arithmetic-shift number -1))
          bit)))))
