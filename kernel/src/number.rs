//! Numbers: the tower of R7RS, from fixnums to complex numbers, independent of any heap.
//!
//! Owns the type of real numbers, its normal form and the predicates on one number. Each file of
//! the folder adds one family of operations as methods of [`Number`].
//! INVARIANT: every value has exactly one representation (an integer of fixnum size is never `Big`,
//! a ratio is in lowest terms with a denominator of at least two), so sameness compares field by
//! field. All constructors here keep this.
//!
//! Every operation is total: where no answer exists it returns a [`NumberError`]. No exact result
//! grows beyond [`MAX_BITS`], which is checked before the work is done. No function depends on the
//! platform's mathematics library.
//! It knows nothing of complex numbers, which are pairs of real ones (`number/complex.rs`).
//! Read next: `number/parse.rs`.

mod arithmetic;
mod bits;
mod compare;
mod complex;
mod division;
mod exactness;
pub(crate) mod flonum_power;
mod gcd;
mod integer;
pub(crate) mod limbs;
mod parse;
mod power;
mod print;
mod radix;
#[cfg(test)]
mod properties;
mod real;
mod rounding;
mod short_ratio;
#[cfg(test)]
mod tests;

use std::fmt;

use num_bigint::{BigInt, Sign};
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};

pub use complex::Complex;
pub(crate) use short_ratio::ShortRatio;

/// The least fixnum, −2⁶⁰.
pub const FIXNUM_MIN: i64 = -(1 << 60);
/// The greatest fixnum, 2⁶⁰ − 1.
pub const FIXNUM_MAX: i64 = (1 << 60) - 1;

/// The greatest length of an exact integer, numerator or denominator that an operation may produce,
/// in bits: a quarter of a megabyte.
///
/// Only writing digits can be interrupted; at this limit the slowest other operations (division,
/// roots) take about a fifth of a second, so that an interruption ends a turn within half a second.
pub const MAX_BITS: u64 = 1 << 21;

/// The greatest length, in bits, of the shorter of two integers whose greatest common divisor is
/// needed.
///
/// The cost of a divisor grows with the square of the length, so a ratio has a tighter limit than
/// an integer: the shorter of its numerator and denominator has at most this many bits before
/// reduction.
pub const MAX_GCD_BITS: u64 = 1 << 19;

/// A real number, in its one normal form: an integer that fits a fixnum is never `Big`, a ratio
/// never has denominator one.
#[derive(Clone, Debug)]
pub enum Number {
    /// An exact integer in the fixnum range, −2⁶⁰ ≤ n < 2⁶⁰.
    Fixnum(i64),
    /// An exact integer outside it.
    Big(BigInt),
    /// An exact ratio in lowest terms, denominator at least two.
    Ratio(Box<BigRational>),
    /// An inexact real.
    Flonum(f64),
}

/// The reason why an operation has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberError {
    /// The divisor is an exact zero, or an integer division has a zero divisor of any exactness.
    DivideByZero,
    /// The operation is defined only on exact numbers.
    NotExact,
    /// The operation is defined only on integers.
    NotInteger,
    /// An infinity or a NaN has no exact value.
    NotRational,
    /// The result is not a real number, though it may be a complex one.
    NotReal,
    /// The operation is defined only on non-negative numbers.
    Negative,
    /// The exact result, or an integer needed on the way, would be longer than [`MAX_BITS`].
    TooLarge,
    /// The common divisor of two integers is needed that are both longer than [`MAX_GCD_BITS`].
    NoDivisor,
}

impl fmt::Display for NumberError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            NumberError::DivideByZero => "division by zero",
            NumberError::NotExact => "an exact number is required",
            NumberError::NotInteger => "an integer is required",
            NumberError::NotRational => "a finite number is required",
            NumberError::NotReal => "the result is not a real number",
            NumberError::Negative => "a non-negative number is required",
            NumberError::TooLarge => "the exact result is too large",
            NumberError::NoDivisor => {
                return write!(
                    out,
                    "the common divisor of two integers is needed, and both have more than {MAX_GCD_BITS} bits"
                );
            }
        };
        out.write_str(text)
    }
}

impl std::error::Error for NumberError {}

impl Number {
    /// Returns an exact integer.
    #[inline]
    pub fn from_i64(value: i64) -> Number {
        if (FIXNUM_MIN..=FIXNUM_MAX).contains(&value) {
            Number::Fixnum(value)
        } else {
            Number::Big(BigInt::from(value))
        }
    }

    /// Returns an exact integer.
    #[inline]
    pub fn from_i128(value: i128) -> Number {
        match i64::try_from(value) {
            Ok(small) => Number::from_i64(small),
            Err(_) => Number::Big(BigInt::from(value)),
        }
    }

    /// Returns an exact integer of any length; [`MAX_BITS`] limits the results of operations, not
    /// this constructor.
    pub fn from_big(value: BigInt) -> Number {
        match i64::try_from(&value) {
            Ok(small) if (FIXNUM_MIN..=FIXNUM_MAX).contains(&small) => Number::Fixnum(small),
            _ => Number::Big(value),
        }
    }

    /// Returns the exact quotient of two integers, reduced.
    ///
    /// # Errors
    /// [`NumberError::DivideByZero`] if the denominator is zero; [`NumberError::TooLarge`] if
    /// either part is longer than [`MAX_BITS`]; [`NumberError::NoDivisor`] if both are longer than
    /// [`MAX_GCD_BITS`].
    pub fn from_ratio(numerator: BigInt, denominator: BigInt) -> Result<Number, NumberError> {
        if denominator.is_zero() {
            return Err(NumberError::DivideByZero);
        }
        if numerator.bits() > MAX_BITS || denominator.bits() > MAX_BITS {
            return Err(NumberError::TooLarge);
        }
        let divisor = BigInt::from(gcd::gcd(
            numerator.magnitude().clone(),
            denominator.magnitude().clone(),
        )?);
        let (mut numerator, mut denominator) = if divisor.is_one() {
            (numerator, denominator)
        } else {
            let reduced = |part: &BigInt| division::divide_signed(part, &divisor).0;
            (reduced(&numerator), reduced(&denominator))
        };
        if denominator.is_negative() {
            numerator = -numerator;
            denominator = -denominator;
        }
        Ok(Number::from_reduced(numerator, denominator))
    }

    /// Returns the quotient of two integers without common divisor, the second positive.
    fn from_reduced(numerator: BigInt, denominator: BigInt) -> Number {
        if denominator.is_one() {
            Number::from_big(numerator)
        } else {
            Number::Ratio(Box::new(BigRational::new_raw(numerator, denominator)))
        }
    }

    /// Returns an exact integer, unless it is longer than an operation may produce.
    fn limited(value: BigInt) -> Result<Number, NumberError> {
        if value.bits() > MAX_BITS {
            Err(NumberError::TooLarge)
        } else {
            Ok(Number::from_big(value))
        }
    }

    /// Returns the words of 64 bits of its exact parts beyond fixnums.
    pub(crate) fn limbs(&self) -> u64 {
        match self {
            Number::Fixnum(_) | Number::Flonum(_) => 0,
            Number::Big(value) => value.bits().div_ceil(64),
            Number::Ratio(value) => value.numer().bits().div_ceil(64) + value.denom().bits().div_ceil(64),
        }
    }

    /// Returns whether the number is exact: an integer or a ratio, not a flonum.
    pub fn is_exact(&self) -> bool {
        !matches!(self, Number::Flonum(_))
    }

    /// Returns whether the number is an integer of either exactness.
    pub fn is_integer(&self) -> bool {
        match self {
            Number::Fixnum(_) | Number::Big(_) => true,
            Number::Ratio(_) => false,
            Number::Flonum(value) => value.is_finite() && libm::trunc(*value) == *value,
        }
    }

    /// Returns whether the number is an exact integer.
    pub fn is_exact_integer(&self) -> bool {
        matches!(self, Number::Fixnum(_) | Number::Big(_))
    }

    /// Returns whether the number is rational, that is, neither infinite nor NaN.
    ///
    /// The same question as `finite?`.
    pub fn is_rational(&self) -> bool {
        match self {
            Number::Fixnum(_) | Number::Big(_) | Number::Ratio(_) => true,
            Number::Flonum(value) => value.is_finite(),
        }
    }

    /// Returns whether the number is an infinity of either sign.
    pub fn is_infinite(&self) -> bool {
        matches!(self, Number::Flonum(value) if value.is_infinite())
    }

    /// Returns whether the number is a NaN.
    pub fn is_nan(&self) -> bool {
        matches!(self, Number::Flonum(value) if value.is_nan())
    }

    /// Returns whether the number is zero, of either exactness and sign.
    pub fn is_zero(&self) -> bool {
        match self {
            Number::Fixnum(value) => *value == 0,
            Number::Big(_) | Number::Ratio(_) => false,
            Number::Flonum(value) => *value == 0.0,
        }
    }

    /// Returns whether the number is greater than zero; a NaN is not.
    pub fn is_positive(&self) -> bool {
        match self {
            Number::Fixnum(value) => *value > 0,
            Number::Big(value) => value.is_positive(),
            Number::Ratio(value) => value.numer().is_positive(),
            Number::Flonum(value) => *value > 0.0,
        }
    }

    /// Returns whether the number is less than zero; a NaN and a negative zero are not.
    pub fn is_negative(&self) -> bool {
        match self {
            Number::Fixnum(value) => *value < 0,
            Number::Big(value) => value.is_negative(),
            Number::Ratio(value) => value.numer().is_negative(),
            Number::Flonum(value) => *value < 0.0,
        }
    }

    /// Returns whether the number, an integer of either exactness, is odd.
    ///
    /// # Errors
    /// [`NumberError::NotInteger`].
    pub fn is_odd(&self) -> Result<bool, NumberError> {
        match self {
            Number::Fixnum(value) => Ok(value & 1 == 1),
            Number::Big(value) => Ok(value.bit(0)),
            Number::Flonum(value) if self.is_integer() => Ok(libm::fmod(*value, 2.0) != 0.0),
            Number::Ratio(_) | Number::Flonum(_) => Err(NumberError::NotInteger),
        }
    }

    /// Returns whether the number, an integer of either exactness, is even.
    ///
    /// # Errors
    /// [`NumberError::NotInteger`].
    pub fn is_even(&self) -> Result<bool, NumberError> {
        self.is_odd().map(|odd| !odd)
    }

    /// Returns a hash that agrees with sameness (`==`, `eqv?`) and is the same on every platform
    /// and in every release.
    ///
    /// FNV-1a over the kind and the value's little-endian bytes.
    pub fn hash(&self) -> u64 {
        let mut hash = Fnv::new();
        match self {
            Number::Fixnum(value) => hash.add(b"i").add(&value.to_le_bytes()),
            Number::Big(value) => hash.add(b"b").add_big(value),
            Number::Ratio(value) => hash.add(b"r").add_big(value.numer()).add_big(value.denom()),
            Number::Flonum(value) => {
                let canonical = if value.is_nan() {
                    f64::NAN.to_bits() & !(1 << 63)
                } else {
                    value.to_bits()
                };
                hash.add(b"f").add(&canonical.to_le_bytes())
            }
        };
        hash.0
    }
}

impl PartialEq for Number {
    /// Sameness (`eqv?`): exactness, value, sign of zero; every NaN equals itself.
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Number::Fixnum(a), Number::Fixnum(b)) => a == b,
            (Number::Big(a), Number::Big(b)) => a == b,
            (Number::Ratio(a), Number::Ratio(b)) => a.numer() == b.numer() && a.denom() == b.denom(),
            (Number::Flonum(a), Number::Flonum(b)) => a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()),
            _ => false,
        }
    }
}

impl Eq for Number {}

/// The 64-bit FNV-1a hash.
struct Fnv(u64);

impl Fnv {
    fn new() -> Fnv {
        Fnv(0xcbf2_9ce4_8422_2325)
    }

    fn add(&mut self, bytes: &[u8]) -> &mut Fnv {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        self
    }

    /// Adds sign, length and magnitude; the length keeps the end of one integer apart from the
    /// beginning of the next.
    fn add_big(&mut self, value: &BigInt) -> &mut Fnv {
        let digits = value.iter_u64_digits();
        self.add(&[u8::from(value.sign() == Sign::Minus)])
            .add(&(digits.len() as u64).to_le_bytes());
        for digit in digits {
            self.add(&digit.to_le_bytes());
        }
        self
    }
}
