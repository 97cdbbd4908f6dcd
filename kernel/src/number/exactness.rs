//! Conversion between exact and inexact numbers.
//!
//! INVARIANT: the conversion to inexact rounds once, to nearest with ties to even, however long the
//! exact number; the conversion to exact never rounds. So `inexact(exact(x))` is `x` for every
//! finite flonum.
//! It does not choose when to convert.
//! Read next: `number/real.rs`.

use num_bigint::{BigInt, BigUint};
use num_rational::BigRational;
use num_traits::{ToPrimitive, Zero};

use super::{Number, NumberError};

impl Number {
    /// Returns the exact number of the same value.
    ///
    /// # Errors
    /// [`NumberError::NotRational`] for an infinity or a NaN.
    pub fn exact(&self) -> Result<Number, NumberError> {
        match self {
            Number::Flonum(value) => exact_flonum(*value).ok_or(NumberError::NotRational),
            Number::Fixnum(_) | Number::Big(_) | Number::Ratio(_) => Ok(self.clone()),
        }
    }

    /// Returns the flonum nearest to this number.
    pub fn inexact(&self) -> Number {
        Number::Flonum(self.to_f64())
    }

    /// Returns the nearest float, ties to even; beyond the greatest finite one, an infinity.
    pub fn to_f64(&self) -> f64 {
        match self {
            Number::Fixnum(value) => *value as f64,
            Number::Big(value) => big_to_f64(value),
            Number::Ratio(value) => ratio_to_f64(value),
            Number::Flonum(value) => *value,
        }
    }
}

/// Splits the magnitude of a finite float: mantissa × 2^exponent, −1074 ≤ exponent ≤ 971.
pub(super) fn decompose(value: f64) -> (u64, i64) {
    let bits = value.to_bits();
    let fraction = bits & ((1 << 52) - 1);
    let biased = i64::try_from((bits >> 52) & 0x7ff).unwrap_or(0);
    if biased == 0 {
        (fraction, -1074)
    } else {
        (fraction | (1 << 52), biased - 1075)
    }
}

/// Returns the exact value of a finite float.
fn exact_flonum(value: f64) -> Option<Number> {
    if !value.is_finite() {
        return None;
    }
    // 2⁶⁰ itself is outside the fixnum range, and every integral float below it converts without
    // loss.
    const LIMIT: f64 = (1u64 << 60) as f64;
    if libm::fabs(value) < LIMIT && libm::trunc(value) == value {
        return Some(Number::Fixnum(value as i64));
    }
    let (mantissa, exponent) = decompose(value);
    let signed = if value < 0.0 {
        -BigInt::from(mantissa)
    } else {
        BigInt::from(mantissa)
    };
    if exponent >= 0 {
        return Some(Number::from_big(signed << exponent));
    }
    // The denominator is a power of two, so common trailing zeros give the lowest terms.
    let common = i64::from(mantissa.trailing_zeros()).min(-exponent);
    Some(Number::from_reduced(
        signed >> common,
        BigInt::from(1) << (-exponent - common),
    ))
}

/// Rounds an integer to the nearest float.
fn big_to_f64(value: &BigInt) -> f64 {
    let magnitude = value.magnitude();
    let excess = magnitude.bits().saturating_sub(64);
    let leading = (magnitude >> excess).to_u64().unwrap_or(u64::MAX);
    let sticky = magnitude.trailing_zeros().is_some_and(|zeros| zeros < excess);
    let rounded = compose(leading | u64::from(sticky), i64::try_from(excess).unwrap_or(i64::MAX));
    if value.sign() == num_bigint::Sign::Minus {
        -rounded
    } else {
        rounded
    }
}

/// Rounds a ratio to the nearest float.
fn ratio_to_f64(value: &BigRational) -> f64 {
    let rounded = quotient_to_f64(value.numer().magnitude(), value.denom().magnitude());
    if value.numer().sign() == num_bigint::Sign::Minus {
        -rounded
    } else {
        rounded
    }
}

/// Rounds the quotient of two positive integers, which need not be in lowest terms, to the nearest
/// float.
pub(super) fn quotient_to_f64(numerator: &BigUint, denominator: &BigUint) -> f64 {
    let lengths = |value: &BigUint| i64::try_from(value.bits()).unwrap_or(i64::MAX);
    let magnitude = lengths(numerator) - lengths(denominator);
    if magnitude > 1100 {
        return f64::INFINITY;
    }
    if numerator.is_zero() || magnitude < -1200 {
        return 0.0;
    }
    // The quotient then has 62 or 63 bits, all that rounding needs; a sticky bit below stands for
    // the remainder.
    let shift = 62 - magnitude;
    let (quotient, remainder) = if shift >= 0 {
        num_integer::div_rem(numerator << shift, denominator.clone())
    } else {
        num_integer::div_rem(numerator.clone(), denominator << -shift)
    };
    compose(
        quotient.to_u64().unwrap_or(u64::MAX) | u64::from(!remainder.is_zero()),
        -shift,
    )
}

/// Returns mantissa × 2^exponent as the nearest float, ties to even.
///
/// The lowest bit of the mantissa may be sticky, if the mantissa has more than 54 bits.
pub(super) fn compose(mantissa: u64, exponent: i64) -> f64 {
    if mantissa == 0 {
        return 0.0;
    }
    let top = exponent.saturating_add(63 - i64::from(mantissa.leading_zeros()));
    if top > 1023 {
        return f64::INFINITY;
    }
    let unit = (top - 52).max(-1074);
    let drop = unit - exponent;
    let kept = match drop {
        ..=0 => mantissa << -drop,
        1..=64 => round_shift(mantissa, drop),
        65.. => 0,
    };
    // Exact: the product is representable, or it is 2¹⁰²⁴, which overflows to infinity as intended.
    kept as f64 * power_of_two(unit)
}

/// Shifts right by 1 to 64 bits, rounding to nearest with ties to even.
fn round_shift(mantissa: u64, drop: i64) -> u64 {
    let wide = u128::from(mantissa);
    let half = 1u128 << (drop - 1);
    let rest = wide & ((half << 1) - 1);
    let kept = wide >> drop;
    let up = rest > half || (rest == half && kept & 1 == 1);
    (kept as u64) + u64::from(up)
}

/// Returns 2^exponent for −1074 ≤ exponent ≤ 1023.
fn power_of_two(exponent: i64) -> f64 {
    if exponent >= -1022 {
        f64::from_bits(((exponent + 1023) as u64) << 52)
    } else {
        f64::from_bits(1 << (exponent + 1074))
    }
}
