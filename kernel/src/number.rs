//! Numbers independent of any heap.

use num_bigint::BigInt;
use num_rational::BigRational;

/// The least fixnum.
pub const FIXNUM_MIN: i64 = -(1 << 62);
/// The greatest fixnum.
pub const FIXNUM_MAX: i64 = (1 << 62) - 1;

/// A real number, in its one normal form: an integer that fits a fixnum is never `Big`, a ratio never has denominator one.
#[derive(Clone, Debug)]
pub enum Number {
    /// An exact integer in the fixnum range, −2⁶² ≤ n < 2⁶².
    Fixnum(i64),
    /// An exact integer outside it.
    Big(BigInt),
    /// An exact ratio in lowest terms, denominator at least two.
    Ratio(Box<BigRational>),
    /// An inexact real.
    Flonum(f64),
}

impl PartialEq for Number {
    /// Sameness (`eqv?`): exactness, value, sign of zero; every NaN equals itself.
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Number::Fixnum(a), Number::Fixnum(b)) => a == b,
            (Number::Big(a), Number::Big(b)) => a == b,
            (Number::Ratio(a), Number::Ratio(b)) => a == b,
            (Number::Flonum(a), Number::Flonum(b)) => a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()),
            _ => false,
        }
    }
}
