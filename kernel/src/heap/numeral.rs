//! Numbers as heap values, and back.
//!
//! INVARIANT: every number has one representation: an immediate word wherever one exists.
//! It does no arithmetic. Read next: `heap/literal.rs`.

use num_bigint::{BigInt, BigUint, Sign};
use num_rational::BigRational;
use num_traits::ToPrimitive;

use super::kind::Flags;
use super::{Heap, HeapFull, Kind};
use crate::number::limbs::{Operand, Scratch};
use crate::number::{Complex, Number, ShortRatio};
use crate::value::Value;

impl Heap {
    /// The value of a real number.
    ///
    /// # Errors
    /// [`HeapFull`].
    pub fn number(&mut self, number: &Number) -> Result<Value, HeapFull> {
        match number {
            Number::Fixnum(integer) => self.integer(*integer),
            Number::Big(integer) => self.big_integer(integer),
            Number::Ratio(ratio) => {
                let numerator = self.big_integer(ratio.numer())?;
                let denominator = self.big_integer(ratio.denom())?;
                self.make(Kind::Ratio, &[numerator, denominator])
            }
            Number::Flonum(number) => self.flonum(*number),
        }
    }

    /// The value of a complex number; one on the real line is that real number.
    ///
    /// # Errors
    /// [`HeapFull`].
    pub fn complex(&mut self, number: &Complex) -> Result<Value, HeapFull> {
        if let Some(real) = number.as_real() {
            return self.number(real);
        }
        let real = self.number(number.real())?;
        let imaginary = self.number(number.imaginary())?;
        self.make(Kind::Complex, &[real, imaginary])
    }

    /// The value of an exact integer of 64 bits.
    ///
    /// # Errors
    /// [`HeapFull`].
    #[inline]
    pub fn integer(&mut self, integer: i64) -> Result<Value, HeapFull> {
        match Value::fixnum(integer) {
            Some(value) => Ok(value),
            None => self.big_integer(&BigInt::from(integer)),
        }
    }

    /// The value of an exact integer of any size.
    ///
    /// # Errors
    /// [`HeapFull`].
    pub fn big_integer(&mut self, integer: &BigInt) -> Result<Value, HeapFull> {
        if let Some(value) = integer.to_i64().and_then(Value::fixnum) {
            return Ok(value);
        }
        let length_bytes = integer.bits().div_ceil(8) as usize;
        let limbs = integer.magnitude().iter_u64_digits();
        self.bignum(integer.sign() == Sign::Minus, length_bytes, limbs)
    }

    /// The result of an operation on two exact integers that are short; nothing if an operand is
    /// none, or the operation leaves it to the library.
    ///
    /// # Errors
    /// [`HeapFull`].
    pub(crate) fn by_limbs(
        &mut self,
        operands: &[Value; 2],
        operation: impl FnOnce(Operand<'_>, Operand<'_>, &mut Scratch) -> Option<bool>,
    ) -> Option<Result<Value, HeapFull>> {
        let mut scratch = std::mem::take(&mut self.scratch);
        let (mut fixnum_a, mut fixnum_b) = ([0], [0]);
        let operands = self
            .operand(operands[0], &mut fixnum_a)
            .zip(self.operand(operands[1], &mut fixnum_b));
        let sign = operands.and_then(|(a, b)| operation(a, b, &mut scratch));
        let value = sign.map(|is_negative| self.limbs(is_negative, scratch.result()));
        self.scratch = scratch;
        value
    }

    /// The value of an integer whose magnitude has these limbs, the last of which is not zero.
    fn limbs(&mut self, is_negative: bool, limbs: &[u64]) -> Result<Value, HeapFull> {
        let word = match limbs {
            [] => Some(0),
            [magnitude] if is_negative => 0i64.checked_sub_unsigned(*magnitude),
            [magnitude] => i64::try_from(*magnitude).ok(),
            _ => None,
        };
        if let Some(value) = word.and_then(Value::fixnum) {
            return Ok(value);
        }
        let zeros = limbs.last().map_or(0, |highest| highest.leading_zeros() / 8);
        let length_bytes = size_of_val(limbs) - zeros as usize;
        self.bignum(is_negative, length_bytes, limbs.iter().copied())
    }

    /// An integer as an operand of arithmetic in limbs, for which `fixnum` is room; nothing if
    /// `value` is no exact integer, or too long.
    pub(crate) fn operand<'a>(&'a self, value: Value, fixnum: &'a mut [u64; 1]) -> Option<Operand<'a>> {
        if let Some(integer) = value.as_fixnum() {
            *fixnum = [integer.unsigned_abs()];
            return Operand::new(integer < 0, fixnum);
        }
        if !self.is_kind(value, Kind::Bignum) {
            return None;
        }
        Operand::new(self.flags(value).has(Flags::NEGATIVE), self.raw_limbs(value))
    }

    /// Makes an integer that is no fixnum of the limbs of its magnitude, which has `length_bytes`
    /// without the zeros at its upper end.
    fn bignum(
        &mut self,
        is_negative: bool,
        length_bytes: usize,
        limbs: impl Iterator<Item = u64>,
    ) -> Result<Value, HeapFull> {
        let flags = if is_negative { Flags::NEGATIVE } else { Flags::NONE };
        let object = self.allocate_raw_flagged(Kind::Bignum, flags, length_bytes)?;
        for (place, limb) in self.fresh_limbs_mut(object).iter_mut().zip(limbs) {
            *place = limb.to_le();
        }
        Ok(object)
    }

    /// Whether an integer is a fixnum rather than an object.
    pub(crate) fn is_fixnum_integer(integer: &BigInt) -> bool {
        integer.to_i64().and_then(Value::fixnum).is_some()
    }

    /// The value of an inexact real; all NaNs become one.
    ///
    /// # Errors
    /// [`HeapFull`].
    #[inline]
    pub fn flonum(&mut self, number: f64) -> Result<Value, HeapFull> {
        match Value::flonum(number) {
            Some(value) => Ok(value),
            None => self.boxed_flonum(number),
        }
    }

    #[cold]
    fn boxed_flonum(&mut self, number: f64) -> Result<Value, HeapFull> {
        let canonical = if number.is_nan() { f64::NAN } else { number };
        self.make_raw(Kind::Flonum, Flags::NONE, &canonical.to_bits().to_le_bytes())
    }

    /// The number of an inexact real, immediate or boxed.
    #[inline]
    pub fn as_flonum(&self, value: Value) -> Option<f64> {
        value.as_flonum().or_else(|| self.as_boxed_flonum(value))
    }

    fn as_boxed_flonum(&self, value: Value) -> Option<f64> {
        if !self.is_kind(value, Kind::Flonum) {
            return None;
        }
        self.raw_bytes(value)
            .first_chunk()
            .map(|bytes| f64::from_bits(u64::from_le_bytes(*bytes)))
    }

    /// The integer, if `value` is an exact one of any size.
    pub fn as_big_integer(&self, value: Value) -> Option<BigInt> {
        if let Some(integer) = value.as_fixnum() {
            return Some(BigInt::from(integer));
        }
        if !self.is_kind(value, Kind::Bignum) {
            return None;
        }
        let sign = if self.flags(value).has(Flags::NEGATIVE) {
            Sign::Minus
        } else {
            Sign::Plus
        };
        Some(BigInt::from_biguint(sign, natural_of(self.raw_bytes(value))))
    }

    /// An exact number with short parts, if `value` is one.
    pub(crate) fn as_short_ratio(&self, value: Value) -> Option<ShortRatio> {
        if let Some(integer) = value.as_fixnum() {
            return Some(ShortRatio::new(integer, 1));
        }
        if !self.is_kind(value, Kind::Ratio) {
            return None;
        }
        let [numerator, denominator] = [0, 1].map(|part| self.field(value, part).as_fixnum());
        Some(ShortRatio::new(numerator?, denominator?))
    }

    /// The value of an exact number with short parts.
    ///
    /// # Errors
    /// [`HeapFull`].
    pub(crate) fn short_ratio(&mut self, number: ShortRatio) -> Result<Value, HeapFull> {
        let numerator = self.integer(number.numerator())?;
        if number.denominator() == 1 {
            return Ok(numerator);
        }
        let denominator = self.integer(number.denominator())?;
        self.make(Kind::Ratio, &[numerator, denominator])
    }

    /// The number, if `value` is a real one.
    pub fn as_number(&self, value: Value) -> Option<Number> {
        if let Some(integer) = value.as_fixnum() {
            return Some(Number::Fixnum(integer));
        }
        if let Some(number) = self.as_flonum(value) {
            return Some(Number::Flonum(number));
        }
        if self.is_kind(value, Kind::Ratio) {
            let numerator = self.as_big_integer(self.field(value, 0))?;
            let denominator = self.as_big_integer(self.field(value, 1))?;
            return Some(Number::Ratio(Box::new(BigRational::new_raw(numerator, denominator))));
        }
        self.as_big_integer(value).map(Number::Big)
    }

    /// The number, if `value` is one, real or not.
    pub fn as_complex(&self, value: Value) -> Option<Complex> {
        if !self.is_kind(value, Kind::Complex) {
            return self.as_number(value).map(Complex::from);
        }
        let real = self.as_number(self.field(value, 0))?;
        let imaginary = self.as_number(self.field(value, 1))?;
        Some(Complex::new(real, imaginary))
    }

    /// Whether `value` is a number.
    #[inline]
    pub fn is_number(&self, value: Value) -> bool {
        value.is_fixnum()
            || value.is_flonum()
            || (value.is_object()
                && self
                    .kind_of(value)
                    .is_some_and(|kind| matches!(kind, Kind::Bignum | Kind::Ratio | Kind::Flonum | Kind::Complex)))
    }
}

/// The natural number with these bytes, lowest first.
fn natural_of(bytes: &[u8]) -> BigUint {
    const DIGIT_BYTES: usize = size_of::<u32>();
    let (full, last) = bytes.as_chunks::<DIGIT_BYTES>();
    let mut digits = Vec::with_capacity(full.len() + 1);
    digits.extend(full.iter().map(|chunk| u32::from_le_bytes(*chunk)));
    if !last.is_empty() {
        let mut chunk = [0; DIGIT_BYTES];
        chunk[..last.len()].copy_from_slice(last);
        digits.push(u32::from_le_bytes(chunk));
    }
    BigUint::new(digits)
}
