//! Powers and roots.
//!
//! INVARIANT: an exact number that is a perfect square has an exact root, and an exact power of an
//! exact number is exact; a root that is not exact is the float nearest to the true one.
//! It does not take roots of negative numbers (`number/complex/function.rs`).
//! Read next: `number/flonum_power.rs`.
//!
//! Source: R7RS 6.2.6, `expt`, `sqrt`, `exact-integer-sqrt`.

use num_bigint::{BigInt, BigUint};
use num_traits::{One, Pow, ToPrimitive, Zero};

use super::division::divide;
use super::exactness::compose;
use super::flonum_power;
use super::{MAX_BITS, Number, NumberError};

impl Number {
    /// Returns the number times itself.
    ///
    /// # Errors
    /// [`NumberError::TooLarge`].
    pub fn square(&self) -> Result<Number, NumberError> {
        self.mul(self)
    }

    /// Returns the greatest integer whose square is not above the number, and the difference to the
    /// number.
    ///
    /// # Errors
    /// [`NumberError::NotExact`], [`NumberError::NotInteger`], [`NumberError::Negative`].
    pub fn exact_integer_sqrt(&self) -> Result<(Number, Number), NumberError> {
        if !self.is_exact() {
            return Err(NumberError::NotExact);
        }
        let value = self.to_big().ok_or(NumberError::NotInteger)?;
        let magnitude = value.to_biguint().ok_or(NumberError::Negative)?;
        let root = integer_sqrt(&magnitude);
        let rest = magnitude - &root * &root;
        Ok((Number::from_big(root.into()), Number::from_big(rest.into())))
    }

    /// Returns the non-negative square root: exact for the square of an exact number, else the
    /// nearest flonum.
    ///
    /// # Errors
    /// [`NumberError::NotReal`] for a negative number.
    pub fn sqrt(&self) -> Result<Number, NumberError> {
        if self.is_negative() {
            return Err(NumberError::NotReal);
        }
        match self {
            Number::Flonum(value) => Ok(Number::Flonum(libm::sqrt(*value))),
            Number::Fixnum(_) | Number::Big(_) => {
                let value = self.to_big().unwrap_or_default();
                Ok(exact_root(value.magnitude()).map_or_else(
                    || nearest_root(value.magnitude(), &BigUint::one()),
                    |root| Number::from_big(root.into()),
                ))
            }
            Number::Ratio(value) => {
                let (numerator, denominator) = (value.numer().magnitude(), value.denom().magnitude());
                Ok(match (exact_root(denominator), exact_root(numerator)) {
                    (Some(below), Some(above)) => Number::from_reduced(above.into(), below.into()),
                    (Some(_), None) | (None, _) => nearest_root(numerator, denominator),
                })
            }
        }
    }

    /// Returns the number to a power.
    ///
    /// An exact base and an exact integer exponent give an exact power, as does an exponent with
    /// denominator two if the base is a perfect square; every other power is a flonum. Zero to the
    /// power of zero is one.
    ///
    /// # Errors
    /// [`NumberError::DivideByZero`] for a negative power of exact zero; [`NumberError::NotReal`]
    /// for a fractional power of a negative number; [`NumberError::TooLarge`].
    pub fn expt(&self, exponent: &Number) -> Result<Number, NumberError> {
        if matches!(self, Number::Fixnum(0)) && exponent.is_negative() {
            return Err(NumberError::DivideByZero);
        }
        if self.is_exact() && exponent.is_exact_integer() {
            return exact_power(self, exponent);
        }
        if !exponent.is_integer() && exponent.is_rational() && self.is_negative() {
            return Err(NumberError::NotReal);
        }
        if let Some(root) = self.exact_half_power_root(exponent) {
            return exact_power(&root, &exponent.numerator()?);
        }
        Ok(Number::Flonum(float_power(self, exponent)))
    }

    /// Returns the exact square root of an exact number, if it has one and the exponent asks for a
    /// root.
    fn exact_half_power_root(&self, exponent: &Number) -> Option<Number> {
        let halves = matches!(exponent, Number::Ratio(value) if *value.denom() == BigInt::from(2));
        if halves && self.is_exact() {
            self.sqrt().ok().filter(Number::is_exact)
        } else {
            None
        }
    }
}

/// Raises a real number to a power that is known to be real.
fn float_power(base: &Number, exponent: &Number) -> f64 {
    let (float, power) = (base.to_f64(), exponent.to_f64());
    if base.is_exact() && !base.is_zero() && (float == 0.0 || float.is_infinite()) {
        // The base is beyond the range of floats, but the power may be inside it.
        let magnitude = libm::exp(power * super::real::log_magnitude(base));
        return if base.is_negative() && exponent.is_odd() == Ok(true) {
            -magnitude
        } else {
            magnitude
        };
    }
    if let Number::Fixnum(count) = exponent {
        return flonum_power::integer_power(float, *count);
    }
    if float.is_sign_negative() && !float.is_nan() && exponent.is_exact_integer() {
        // A long exponent loses its parity in the conversion to a float.
        let magnitude = libm::pow(-float, power);
        return if exponent.is_odd() == Ok(true) {
            -magnitude
        } else {
            magnitude
        };
    }
    flonum_power::power(float, power)
}

/// Raises an exact number to an exact integer power.
fn exact_power(base: &Number, exponent: &Number) -> Result<Number, NumberError> {
    match base {
        Number::Fixnum(0) if !exponent.is_zero() => return Ok(Number::Fixnum(0)),
        Number::Fixnum(1) => return Ok(Number::Fixnum(1)),
        Number::Fixnum(-1) => return Ok(Number::Fixnum(if exponent.is_odd()? { -1 } else { 1 })),
        Number::Fixnum(_) | Number::Big(_) | Number::Ratio(_) | Number::Flonum(_) => {}
    }
    let count = match exponent {
        Number::Fixnum(count) => count.unsigned_abs(),
        Number::Big(_) | Number::Ratio(_) | Number::Flonum(_) => return Err(NumberError::TooLarge),
    };
    let (above, below) = match base {
        Number::Ratio(value) => (
            integer_power(value.numer(), count)?,
            integer_power(value.denom(), count)?,
        ),
        Number::Fixnum(_) | Number::Big(_) | Number::Flonum(_) => {
            (integer_power(&base.to_big().unwrap_or_default(), count)?, BigInt::one())
        }
    };
    if above.bits() > MAX_BITS || below.bits() > MAX_BITS {
        return Err(NumberError::TooLarge);
    }
    // Powers of coprime integers are coprime, so the ratio is in lowest terms.
    Ok(match (exponent.is_negative(), above.sign()) {
        (false, _) => Number::from_reduced(above, below),
        (true, num_bigint::Sign::Minus) => Number::from_reduced(-below, -above),
        (true, num_bigint::Sign::NoSign | num_bigint::Sign::Plus) => Number::from_reduced(below, above),
    })
}

/// Raises an integer to a power unless the power is surely too large; a power may have twice the
/// greatest length.
fn integer_power(base: &BigInt, count: u64) -> Result<BigInt, NumberError> {
    let least = base.bits().saturating_sub(1).saturating_mul(count);
    if least > MAX_BITS {
        Err(NumberError::TooLarge)
    } else {
        Ok(Pow::pow(base, count))
    }
}

/// Returns the greatest integer whose square is not above the value.
///
/// Newton's iteration, with the precision doubling each round, so that all rounds together cost
/// little more than the last.
/// INVARIANT: after a round that has settled `known` bits beyond the first, `root` is within one of
/// the root of the value without its lowest 2 × (`goal` − `known`) bits.
///
/// Source: the method of Python's `math.isqrt`, due to Mark Dickinson.
pub(super) fn integer_sqrt(value: &BigUint) -> BigUint {
    if value.is_zero() {
        return BigUint::zero();
    }
    let goal = (value.bits() - 1) / 2;
    let mut root = BigUint::one();
    let mut known = 0;
    for step in (0..u64::BITS - goal.leading_zeros()).rev() {
        let before = known;
        known = goal >> step;
        let leading = value >> (2 * goal + 1 - before - known);
        root = (&root << (known - before - 1)) + divide(&leading, &root).0;
    }
    if &root * &root > *value { root - 1u32 } else { root }
}

/// Returns the root of a perfect square.
fn exact_root(value: &BigUint) -> Option<BigUint> {
    // Squares have few remainders modulo 64, so this test rejects most other numbers cheaply.
    let low = (value & BigUint::from(63u32)).to_u32().unwrap_or(0);
    if !(0..32).any(|root| root * root % 64 == low) {
        return None;
    }
    let root = integer_sqrt(value);
    (&root * &root == *value).then_some(root)
}

/// Returns the float nearest to the root of a positive quotient.
fn nearest_root(numerator: &BigUint, denominator: &BigUint) -> Number {
    let length = |value: &BigUint| i64::try_from(value.bits()).unwrap_or(i64::MAX);
    // Scaled by an even power of two, the quotient has 124 to 127 bits and its root 62 to 64, more
    // than rounding needs.
    let half_shift = (126 - (length(numerator) - length(denominator))).div_euclid(2);
    let (quotient, rest) = if half_shift >= 0 {
        num_integer::div_rem(numerator << (2 * half_shift), denominator.clone())
    } else {
        num_integer::div_rem(numerator.clone(), denominator << (-2 * half_shift))
    };
    let root = integer_sqrt(&quotient);
    let sticky = !rest.is_zero() || &root * &root != quotient;
    Number::Flonum(compose(
        root.to_u64().unwrap_or(u64::MAX) | u64::from(sticky),
        -half_shift,
    ))
}
