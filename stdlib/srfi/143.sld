;;; SRFI 143: fixnums. All integers are of one kind here, and operations on fixnums are fast anyway;
;;; these procedures differ from the general ones in that a result which is not a fixnum is an
;;; error.
(define-library (srfi 143)
  (export
    fx-width fx-greatest fx-least fixnum?
    (rename = fx=?) (rename < fx<?) (rename > fx>?) (rename <= fx<=?) (rename >= fx>=?)
    (rename zero? fxzero?) (rename positive? fxpositive?) (rename negative? fxnegative?)
    (rename odd? fxodd?) (rename even? fxeven?)
    (rename max fxmax) (rename min fxmin) (rename remainder fxremainder)
    (rename bitwise-not fxnot) (rename bitwise-and fxand) (rename bitwise-ior fxior)
    (rename bitwise-xor fxxor) (rename bit-count fxbit-count) (rename integer-length fxlength)
    (rename bitwise-if fxif) (rename bit-set? fxbit-set?)
    (rename first-set-bit fxfirst-set-bit) (rename bit-field fxbit-field)
    fx+ fx- fx* fxquotient fxneg fxabs fxsquare fxsqrt fx+/carry fx-/carry fx*/carry
    fxarithmetic-shift fxarithmetic-shift-left fxarithmetic-shift-right fxcopy-bit
    fxbit-field-rotate fxbit-field-reverse)
  (on-demand)
  (import (scheme base) (srfi 151))
  (begin
    ;;;> The number of bits of a fixnum, including its sign.
    (define fx-width 61)
    ;;;> The greatest fixnum.
    (define fx-greatest 1152921504606846975)
    ;;;> The least fixnum.
    (define fx-least -1152921504606846976)

    ;;;> Returns whether an object is a fixnum.
    (define (fixnum? object) (and (exact-integer? object) (<= fx-least object fx-greatest)))

    (define (%fixnum procedure number)
      (if (<= fx-least number fx-greatest)
          number
          (error (string-append (symbol->string procedure) ": the result is no fixnum") number)))

    ;;;> Returns the sum.
    (define (fx+ a b) (%fixnum 'fx+ (+ a b)))
    ;;;> Returns the difference.
    (define (fx- a b) (%fixnum 'fx- (- a b)))
    ;;;> Returns the product.
    (define (fx* a b) (%fixnum 'fx* (* a b)))
    ;;;> Returns the quotient, rounded towards zero.
    (define (fxquotient a b) (%fixnum 'fxquotient (quotient a b)))
    ;;;> Returns the number with the opposite sign.
    (define (fxneg a) (%fixnum 'fxneg (- a)))
    ;;;> Returns the magnitude.
    (define (fxabs a) (%fixnum 'fxabs (abs a)))
    ;;;> Returns the square.
    (define (fxsquare a) (%fixnum 'fxsquare (* a a)))
    ;;;> Returns the number times two to the power of `count`, rounded down.
    (define (fxarithmetic-shift a count) (%fixnum 'fxarithmetic-shift (arithmetic-shift a count)))
    ;;;> Returns the number with its bits shifted left.
    (define (fxarithmetic-shift-left a count)
      (%fixnum 'fxarithmetic-shift-left (arithmetic-shift a count)))
    ;;;> Returns the number with its bits shifted right.
    (define (fxarithmetic-shift-right a count)
      (%fixnum 'fxarithmetic-shift-right (arithmetic-shift a (- count))))
    ;;;> Returns the number with the bit at an index set as the boolean says.
    (define (fxcopy-bit index a on?) (%fixnum 'fxcopy-bit (copy-bit index a on?)))
    ;;;> Returns the number with the field rotated towards the higher bits.
    (define (fxbit-field-rotate a count start end)
      (%fixnum 'fxbit-field-rotate (bit-field-rotate a count start end)))
    ;;;> Returns the number with the bits of the field in reverse order.
    (define (fxbit-field-reverse a start end)
      (%fixnum 'fxbit-field-reverse (bit-field-reverse a start end)))

    ;;;> Returns the integer square root and the remainder.
    (define (fxsqrt a) (exact-integer-sqrt a))

    ;;; Returns the low fixnum of a number and the rest above it, in units of fixnums.
    (define (%split number)
      (let* ((range (arithmetic-shift 1 fx-width)) (low (modulo number range)))
        (let ((low (if (> low fx-greatest) (- low range) low)))
          (values low (quotient (- number low) range)))))

    ;;;> Returns the low fixnum of `a + b + c`, and the carry.
    (define (fx+/carry a b c) (%split (+ a b c)))
    ;;;> Returns the low fixnum of `a - b - c`, and the carry.
    (define (fx-/carry a b c) (%split (- a b c)))
    ;;;> Returns the low fixnum of `a * b + c`, and the carry.
    (define (fx*/carry a b c) (%split (+ (* a b) c)))))
