//! Powers of floats.
//!
//! Owns a number with a mantissa of 128 bits, by which a power with an integer exponent is
//! computed. Such a power is the float nearest to the true one, unless that is so near to the
//! middle between two floats that 128 bits do not tell.
//! INVARIANT: integers alone decide, so a power is the same on every platform.
//! It does not raise exact numbers (`number/power.rs`), and leaves other exponents to `libm`.
//! Read next: `number/exactness.rs`.

use num_bigint::BigUint;
use num_traits::{One, ToPrimitive};

use super::division::divide;
use super::exactness::{compose, decompose};

/// A positive number, which is mantissa × 2^exponent or differs from it by less than the precision.
#[derive(Clone, Copy)]
struct Wide {
    /// Its highest bit is set.
    mantissa: u128,
    exponent: i64,
    is_exact: bool,
}

/// Returns a float to a power.
pub(crate) fn power(base: f64, exponent: f64) -> f64 {
    const INTEGERS_END: f64 = (1u64 << 53) as f64;
    if libm::fabs(exponent) < INTEGERS_END && libm::trunc(exponent) == exponent {
        integer_power(base, exponent as i64)
    } else {
        libm::pow(base, exponent)
    }
}

/// Returns a float to an integer power.
pub(super) fn integer_power(base: f64, count: i64) -> f64 {
    if base == 0.0 || !base.is_finite() || count == 0 {
        // Only the sign and the parity of the exponent count.
        let parity = if count % 2 == 0 { 2.0 } else { 1.0 };
        return libm::pow(base, parity * count.signum() as f64);
    }
    let power = Wide::of(base).power(count.unsigned_abs());
    let magnitude = if count < 0 { power.inverse() } else { power }.to_float();
    if base < 0.0 && count % 2 != 0 {
        -magnitude
    } else {
        magnitude
    }
}

impl Wide {
    /// Returns the magnitude of a finite float that is not zero.
    fn of(value: f64) -> Wide {
        let (mantissa, exponent) = decompose(value);
        let shift = u128::from(mantissa).leading_zeros();
        Wide {
            mantissa: u128::from(mantissa) << shift,
            exponent: exponent - i64::from(shift),
            is_exact: true,
        }
    }

    /// Returns a power; of one that is beyond all floats, a number that is beyond them, too.
    fn power(self, count: u64) -> Wide {
        /// Powers of more are beyond the floats, in either direction.
        const EXPONENT_MAX: u64 = 4096;
        let mut power = self;
        for bit in (0..u64::BITS - 1 - count.leading_zeros()).rev() {
            if power.exponent.unsigned_abs() > EXPONENT_MAX {
                break;
            }
            power = power.times(power);
            if count >> bit & 1 == 1 {
                power = power.times(self);
            }
        }
        power
    }

    fn times(self, other: Wide) -> Wide {
        let (mut high, mut low) = product(self.mantissa, other.mantissa);
        let mut exponent = self.exponent + other.exponent + 128;
        if high.leading_zeros() > 0 {
            (high, low) = (high << 1 | low >> 127, low << 1);
            exponent -= 1;
        }
        Wide {
            mantissa: high,
            exponent,
            is_exact: self.is_exact && other.is_exact && low == 0,
        }
    }

    fn inverse(self) -> Wide {
        if self.mantissa == 1 << 127 {
            return Wide {
                exponent: -254 - self.exponent,
                ..self
            };
        }
        let quotient = divide(&(BigUint::one() << 255u32), &BigUint::from(self.mantissa)).0;
        Wide {
            mantissa: quotient.to_u128().unwrap_or(u128::MAX),
            exponent: -255 - self.exponent,
            is_exact: false,
        }
    }

    /// Returns the nearest float.
    fn to_float(self) -> f64 {
        let (high, low) = ((self.mantissa >> 64) as u64, self.mantissa as u64);
        let sticky = low != 0 || !self.is_exact;
        compose(high | u64::from(sticky), self.exponent + 64)
    }
}

/// Returns the high and the low half of a product.
fn product(a: u128, b: u128) -> (u128, u128) {
    const HALF: u128 = u64::MAX as u128;
    let ([a_high, a_low], [b_high, b_low]) = ([a >> 64, a & HALF], [b >> 64, b & HALF]);
    let lowest = a_low * b_low;
    let middle = a_high * b_low + (lowest >> 64);
    let other = a_low * b_high + (middle & HALF);
    let high = a_high * b_high + (middle >> 64) + (other >> 64);
    (high, other << 64 | lowest & HALF)
}
