;;; SRFI 151: bits of exact integers, as infinite two's complement.
(define-library (srfi 151)
  (export
    bitwise-not bitwise-and (rename bitwise-or bitwise-ior) bitwise-xor bitwise-eqv bitwise-nand
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
          (only (duet internal ranges) %out-of-range %check-natural)
          (rename (only (duet kernel) bitwise-and bitwise-or bitwise-xor bitwise-not
                    arithmetic-shift bit-count integer-length)
            (bit-count %ones)))
  (begin
    ;;;> Returns the number of bits that are 1; of a negative number, the number of bits that are 0.
    (define (bit-count number) (if (negative? number) (%ones (bitwise-not number)) (%ones number)))

    ;;;> Returns the integer whose bits are 1 where an even number of the arguments have a 0.
    (define (bitwise-eqv . numbers)
      (fold (lambda (number result) (bitwise-not (bitwise-xor number result))) -1 numbers))

    ;;;> Returns the bits that are not 1 in both.
    (define (bitwise-nand a b) (bitwise-not (bitwise-and a b)))
    ;;;> Returns the bits that are 0 in both.
    (define (bitwise-nor a b) (bitwise-not (bitwise-or a b)))
    ;;;> Returns the bits that are 0 in the first and 1 in the second.
    (define (bitwise-andc1 a b) (bitwise-and (bitwise-not a) b))
    ;;;> Returns the bits that are 1 in the first and 0 in the second.
    (define (bitwise-andc2 a b) (bitwise-and a (bitwise-not b)))
    ;;;> Returns the bits that are 0 in the first or 1 in the second.
    (define (bitwise-orc1 a b) (bitwise-or (bitwise-not a) b))
    ;;;> Returns the bits that are 1 in the first or 0 in the second.
    (define (bitwise-orc2 a b) (bitwise-or a (bitwise-not b)))

    ;;;> Returns the bits of `a` where those of `mask` are 1, those of `b` elsewhere.
    (define (bitwise-if mask a b) (bitwise-or (bitwise-and mask a) (bitwise-andc1 mask b)))

    (define (%power index) (arithmetic-shift 1 index))

    ;;; A number whose bits from `start` up to but not including `end` are 1.
    (define (%mask start end)
      (if (not (<= 0 start end)) (%out-of-range 'bit-field "expected 0 <= start <= end" start end))
      (arithmetic-shift (- (%power (- end start)) 1) start))

    ;;;> Returns whether the bit at an index is 1.
    (define (bit-set? index number)
      (%check-natural 'bit-set? "index" index)
      (odd? (arithmetic-shift number (- index))))

    ;;;> Returns the number with the bit at an index set as the boolean says.
    (define (copy-bit index number on?)
      (%check-natural 'copy-bit "index" index)
      (if on? (bitwise-or number (%power index)) (bitwise-andc2 number (%power index))))

    ;;;> Returns the number with two bits exchanged.
    (define (bit-swap i j number)
      (let ((bit-i (bit-set? i number)) (bit-j (bit-set? j number)))
        (copy-bit i (copy-bit j number bit-i) bit-j)))

    ;;;> Returns whether any of the bits that are 1 in `bits` is 1.
    (define (any-bit-set? bits number) (not (= (bitwise-and bits number) 0)))
    ;;;> Returns whether all of the bits that are 1 in `bits` are 1.
    (define (every-bit-set? bits number) (= (bitwise-and bits number) bits))

    ;;;> Returns the index of the lowest bit that is 1, or -1.
    (define (first-set-bit number)
      (if (= number 0) -1 (- (integer-length (bitwise-and number (- number))) 1)))

    ;;;> Returns the bits from index `start` up to but not including `end`, as a number.
    (define (bit-field number start end)
      (arithmetic-shift (bitwise-and number (%mask start end)) (- start)))
    ;;;> Returns whether any bit of the field is 1.
    (define (bit-field-any? number start end) (any-bit-set? (%mask start end) number))
    ;;;> Returns whether all bits of the field are 1.
    (define (bit-field-every? number start end) (every-bit-set? (%mask start end) number))
    ;;;> Returns the number with the bits of the field set to 0.
    (define (bit-field-clear number start end) (bitwise-andc2 number (%mask start end)))
    ;;;> Returns the number with the bits of the field set to 1.
    (define (bit-field-set number start end) (bitwise-or number (%mask start end)))
    ;;;> Returns the number with the field replaced by the lowest bits of another.
    (define (bit-field-replace number other start end)
      (bitwise-if (%mask start end) (arithmetic-shift other start) number))
    ;;;> Returns the number with the field replaced by the same field of another.
    (define (bit-field-replace-same number other start end)
      (bitwise-if (%mask start end) other number))

    ;;;> Returns the number with the field rotated by `count` towards the higher bits.
    (define (bit-field-rotate number count start end)
      (let ((width (- end start)) (field (bit-field number start end)))
        (if (= width 0)
            number
            (let ((count (modulo count width)))
              (bit-field-replace
                number
                (bitwise-or (arithmetic-shift field count) (arithmetic-shift field (- count width)))
                start
                end)))))

    ;;;> Returns the number with the bits of the field in reverse order.
    (define (bit-field-reverse number start end)
      (bit-field-replace
        number (list->bits (reverse (bits->list (bit-field number start end) (- end start)))) start
        end))

    ;;;> Returns a list of booleans, one for each bit from the lowest on; `count` bits, or all
    ;;;> significant ones.
    (define (bits->list number . count)
      (let* ((length (integer-length number)) (count (if (pair? count) (car count) length)))
        (%check-natural 'bits->list "number of bits" count)
        (let loop ((index (- count 1)) (list '()))
          (if (< index 0) list (loop (- index 1) (cons (bit-set? index number) list))))))
    ;;;> Returns a vector of booleans, like `bits->list`.
    (define (bits->vector number . count) (list->vector (apply bits->list number count)))
    ;;;> Returns the number with the bits of a list of booleans, the lowest first.
    (define (list->bits list)
      (fold (lambda (on? number) (+ (* 2 number) (if on? 1 0))) 0 (reverse list)))
    ;;;> Returns the number with the bits of a vector of booleans, the lowest first.
    (define (vector->bits vector) (list->bits (vector->list vector)))
    ;;;> Returns the number with the bits of the arguments, booleans, the lowest first.
    (define (bits . booleans) (list->bits booleans))

    ;;;> Combines the bits, booleans from the lowest on: `(combine bit accumulated)`.
    (define (bitwise-fold combine initial number) (fold combine initial (bits->list number)))
    ;;;> Calls `procedure` with the bits, booleans from the lowest on.
    (define (bitwise-for-each procedure number) (for-each procedure (bits->list number)))
    ;;;> Returns the number with the bits `(bit seed)` from the lowest on, for seeds `(next seed)`,
    ;;;> until `(stop? seed)`.
    (define (bitwise-unfold stop? bit next seed)
      (let loop ((seed seed) (index 0) (number 0))
        (if (stop? seed)
            number
            (loop (next seed) (+ index 1) (copy-bit index number (bit seed))))))
    ;;;> Makes an infinite generator of the bits, booleans from the lowest on.
    (define (make-bitwise-generator number)
      (lambda ()
        (let ((bit (odd? number)))
          (set! number (arithmetic-shift number -1))
          bit)))))
