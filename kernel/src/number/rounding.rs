//! Rounding to an integer, numerator and denominator, and the simplest ratio nearby.
//!
//! INVARIANT: exactness is kept: a flonum rounds to a flonum, and an infinity or a NaN to itself.
//! It does not convert between exact and inexact (`number/exactness.rs`).
//! Read next: `number/power.rs`.
//!
//! Source: R7RS 6.2.6.

use num_bigint::BigInt;
use num_integer::Integer;
use num_rational::BigRational;
use num_traits::{One, Zero};

use super::division::{divide_floor, divide_signed};
use super::{Number, NumberError};

/// The greatest length, in bits, of the shorter part of a ratio for which a simpler one is sought;
/// the cost grows with its square.
const MAX_SIMPLEST_BITS: u64 = 1 << 16;

impl Number {
    /// Returns the greatest integer that is not above the number.
    pub fn floor(&self) -> Number {
        self.to_integer(libm::floor, |value| divide_floor(value.numer(), value.denom()).0)
    }

    /// Returns the least integer that is not below the number.
    pub fn ceiling(&self) -> Number {
        self.to_integer(libm::ceil, |value| divide_floor(value.numer(), value.denom()).0 + 1)
    }

    /// Returns the integer part.
    pub fn truncate(&self) -> Number {
        self.to_integer(libm::trunc, |value| divide_signed(value.numer(), value.denom()).0)
    }

    /// Returns the nearest integer, and the even one of two equally near.
    pub fn round(&self) -> Number {
        self.to_integer(libm::roundeven, round_ratio)
    }

    fn to_integer(&self, float: impl FnOnce(f64) -> f64, ratio: impl FnOnce(&BigRational) -> BigInt) -> Number {
        match self {
            Number::Fixnum(_) | Number::Big(_) => self.clone(),
            Number::Ratio(value) => Number::from_big(ratio(value)),
            Number::Flonum(value) => Number::Flonum(float(*value)),
        }
    }

    /// Returns the numerator of the number in lowest terms.
    ///
    /// # Errors
    /// [`NumberError::NotRational`].
    pub fn numerator(&self) -> Result<Number, NumberError> {
        match self {
            Number::Fixnum(_) | Number::Big(_) => Ok(self.clone()),
            Number::Ratio(value) => Ok(Number::from_big(value.numer().clone())),
            Number::Flonum(_) => Ok(ratio_parts(&self.exact()?).0.inexact()),
        }
    }

    /// Returns the denominator of the number in lowest terms, which is positive.
    ///
    /// # Errors
    /// [`NumberError::NotRational`].
    pub fn denominator(&self) -> Result<Number, NumberError> {
        match self {
            Number::Fixnum(_) | Number::Big(_) => Ok(Number::Fixnum(1)),
            Number::Ratio(value) => Ok(Number::from_big(value.denom().clone())),
            Number::Flonum(_) => Ok(ratio_parts(&self.exact()?).1.inexact()),
        }
    }

    /// Returns the simplest rational number no further away than the tolerance, whose sign does not
    /// matter.
    ///
    /// With an infinite tolerance that is zero; an infinity has no rational number near it and is
    /// returned unchanged.
    ///
    /// # Errors
    /// [`NumberError::TooLarge`], also if numerator and denominator of either end of the range are
    /// both longer than 65,536 bits.
    pub fn rationalize(&self, tolerance: &Number) -> Result<Number, NumberError> {
        if self.is_nan() || tolerance.is_nan() || (self.is_infinite() && tolerance.is_infinite()) {
            return Ok(Number::Flonum(f64::NAN));
        }
        if self.is_infinite() {
            return Ok(self.clone());
        }
        if tolerance.is_infinite() {
            return Ok(Number::Flonum(0.0));
        }
        let (center, reach) = (self.exact()?, tolerance.exact()?.abs());
        let (low, high) = (center.sub(&reach)?, center.add(&reach)?);
        if [&low, &high].into_iter().any(is_too_fine) {
            return Err(NumberError::TooLarge);
        }
        let simplest = if high.is_negative() {
            simplest_between(&high.negate(), &low.negate()).negate()
        } else if low.is_positive() {
            simplest_between(&low, &high)
        } else {
            Number::Fixnum(0)
        };
        Ok(if self.is_exact() && tolerance.is_exact() {
            simplest
        } else {
            simplest.inexact()
        })
    }
}

fn round_ratio(value: &BigRational) -> BigInt {
    let (floor, rest) = divide_floor(value.numer(), value.denom());
    // Only a denominator of two leaves a tie.
    let up = match (rest * 2u32).cmp(value.denom()) {
        std::cmp::Ordering::Less => false,
        std::cmp::Ordering::Equal => floor.is_odd(),
        std::cmp::Ordering::Greater => true,
    };
    if up { floor + 1 } else { floor }
}

/// Returns whether the continued fraction of an exact number may be too long to follow.
fn is_too_fine(exact: &Number) -> bool {
    matches!(exact, Number::Ratio(value) if value.numer().bits().min(value.denom().bits()) > MAX_SIMPLEST_BITS)
}

/// Returns numerator and denominator of an exact number.
fn ratio_parts(exact: &Number) -> (Number, Number) {
    match exact {
        Number::Ratio(value) => (
            Number::from_big(value.numer().clone()),
            Number::from_big(value.denom().clone()),
        ),
        Number::Fixnum(_) | Number::Big(_) | Number::Flonum(_) => (exact.clone(), Number::Fixnum(1)),
    }
}

/// Returns the rational with the least denominator, and then the least numerator, between two
/// positive exact numbers.
///
/// It follows the continued fractions of both ends while they agree, and computes the convergents
/// alongside.
fn simplest_between(low: &Number, high: &Number) -> Number {
    let long = |part: Number| part.to_big().unwrap_or_default().into_owned();
    let parts = |number: &Number| {
        let (numerator, denominator) = ratio_parts(number);
        (long(numerator), long(denominator))
    };
    let (mut low, mut high) = (parts(low), parts(high));
    let (mut previous, mut current) = ((BigInt::zero(), BigInt::one()), (BigInt::one(), BigInt::zero()));
    loop {
        let (whole, rest) = low.0.div_mod_floor(&low.1);
        let parted = whole != high.0.div_floor(&high.1);
        let last = parted || rest.is_zero();
        let term = if parted && !rest.is_zero() { whole + 1 } else { whole };
        let next = (&current.0 * &term + &previous.0, &current.1 * &term + &previous.1);
        if last {
            return Number::from_reduced(next.0, next.1);
        }
        (previous, current) = (current, next);
        let high_rest = &high.0 - &term * &high.1;
        (low, high) = ((high.1, high_rest), (low.1, rest));
    }
}
