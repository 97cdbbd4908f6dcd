//! The transcendental functions.
//!
//! INVARIANT: every value comes from the `libm` crate, never from the platform, so that it is the
//! same everywhere. An exact argument gives an exact value where that is a simple number (the sine
//! of 0 is 0); every other value is a flonum.
//! It does not leave the real line (`number/complex/function.rs`).
//! Read next: `number/complex.rs`.
//!
//! Source: R7RS 6.2.6, `exp`, `log`, `sin`, `atan`.

use num_bigint::BigUint;
use num_traits::ToPrimitive;

use super::arithmetic::product;
use super::exactness::quotient_to_f64;
use super::{Number, NumberError};

impl Number {
    /// Returns *e* to the power of the number.
    pub fn exp(&self) -> Number {
        // `libm::exp` returns *e* itself with a wrong last place.
        self.transcend(0, 1, |value| {
            if value == 1.0 {
                std::f64::consts::E
            } else {
                libm::exp(value)
            }
        })
    }

    /// Returns the natural logarithm; that of zero is negative infinity.
    ///
    /// # Errors
    /// [`NumberError::NotReal`] for a negative number and for the negative zero.
    pub fn log(&self) -> Result<Number, NumberError> {
        let is_below_zero = matches!(self, Number::Flonum(value) if *value == 0.0 && value.is_sign_negative());
        if is_below_zero || self.is_negative() {
            return Err(NumberError::NotReal);
        }
        Ok(match self {
            Number::Fixnum(1) => Number::Fixnum(0),
            Number::Fixnum(_) | Number::Big(_) | Number::Ratio(_) => Number::Flonum(log_magnitude(self)),
            Number::Flonum(value) => Number::Flonum(libm::log(*value)),
        })
    }

    /// Returns the logarithm to a base, which is a whole number if the number is a power of the
    /// base.
    ///
    /// # Errors
    /// [`NumberError::NotReal`] if either is negative; [`NumberError::DivideByZero`] for the exact
    /// base 1.
    pub fn log_base(&self, base: &Number) -> Result<Number, NumberError> {
        let estimate = self.log()?.div(&base.log()?)?;
        let nearest = estimate.round();
        // A quotient of two rounded logarithms misses whole numbers: that of 9 to the base 3 is
        // above 2.
        let is_close = libm::fabs(estimate.to_f64() - nearest.to_f64()) < 1e-9;
        if is_close && is_power(self, base, &nearest) {
            Ok(nearest)
        } else {
            Ok(estimate)
        }
    }

    /// Returns the sine of an angle in radians.
    pub fn sin(&self) -> Number {
        self.transcend(0, 0, libm::sin)
    }

    /// Returns the cosine of an angle in radians.
    pub fn cos(&self) -> Number {
        self.transcend(0, 1, libm::cos)
    }

    /// Returns the tangent of an angle in radians.
    pub fn tan(&self) -> Number {
        self.transcend(0, 0, libm::tan)
    }

    /// Returns the angle, −π/2 to π/2 radians, with this sine.
    ///
    /// # Errors
    /// [`NumberError::NotReal`] outside −1 to 1.
    pub fn asin(&self) -> Result<Number, NumberError> {
        self.within_unit()?;
        Ok(self.transcend(0, 0, libm::asin))
    }

    /// Returns the angle, 0 to π radians, with this cosine.
    ///
    /// # Errors
    /// [`NumberError::NotReal`] outside −1 to 1.
    pub fn acos(&self) -> Result<Number, NumberError> {
        self.within_unit()?;
        Ok(self.transcend(1, 0, libm::acos))
    }

    /// Returns the angle, −π/2 to π/2 radians, with this tangent.
    pub fn atan(&self) -> Number {
        self.transcend(0, 0, libm::atan)
    }

    /// Returns the angle, −π to π radians, of the point whose ordinate is this number.
    ///
    /// # Errors
    /// [`NumberError::DivideByZero`] if both are exact zeros; [`NumberError::TooLarge`] if exact
    /// numbers beyond the range of floats cannot be scaled into it together.
    pub fn atan2(&self, abscissa: &Number) -> Result<Number, NumberError> {
        match (self, abscissa) {
            (Number::Fixnum(0), Number::Fixnum(0)) => return Err(NumberError::DivideByZero),
            (Number::Fixnum(0), _) if abscissa.is_exact() && abscissa.is_positive() => return Ok(Number::Fixnum(0)),
            _ => {}
        }
        let (y, x) = (self.to_f64(), abscissa.to_f64());
        let lost = |exact: &Number, float: f64| {
            exact.is_exact() && !exact.is_zero() && (float.is_infinite() || libm::fabs(float) < f64::MIN_POSITIVE)
        };
        if abscissa.is_exact() && self.is_exact() && (lost(self, y) || lost(abscissa, x)) {
            let slope = slope(self, abscissa)?;
            return Ok(Number::Flonum(libm::atan2(
                libm::copysign(slope, y),
                libm::copysign(1.0, x),
            )));
        }
        Ok(Number::Flonum(libm::atan2(y, x)))
    }

    /// Applies a function of floats, unless the argument is the exact integer at which the function
    /// has an integral value.
    fn transcend(&self, exact_at: i64, value: i64, function: impl FnOnce(f64) -> f64) -> Number {
        match self {
            Number::Fixnum(argument) if *argument == exact_at => Number::Fixnum(value),
            Number::Fixnum(_) | Number::Big(_) | Number::Ratio(_) | Number::Flonum(_) => {
                Number::Flonum(function(self.to_f64()))
            }
        }
    }

    fn within_unit(&self) -> Result<(), NumberError> {
        if self.abs().compare(&Number::Fixnum(1)) == Some(std::cmp::Ordering::Greater) {
            Err(NumberError::NotReal)
        } else {
            Ok(())
        }
    }
}

/// Returns whether a number is exactly a base to an integer power.
fn is_power(number: &Number, base: &Number, exponent: &Number) -> bool {
    let parts = (number.exact(), base.exact(), exponent.exact());
    let (Ok(number), Ok(base), Ok(exponent)) = parts else {
        return false;
    };
    base.expt(&exponent).is_ok_and(|power| power == number)
}

/// Returns the natural logarithm of an exact number's magnitude, however far beyond the range of
/// floats it is.
pub(super) fn log_magnitude(number: &Number) -> f64 {
    let float = libm::fabs(number.to_f64());
    if number.is_zero() || (float >= f64::MIN_POSITIVE && float.is_finite()) {
        return libm::log(float);
    }
    match number {
        Number::Ratio(value) => log_long(value.numer().magnitude()) - log_long(value.denom().magnitude()),
        Number::Fixnum(_) | Number::Big(_) | Number::Flonum(_) => {
            log_long(number.to_big().unwrap_or_default().magnitude())
        }
    }
}

/// Returns the natural logarithm of a positive integer of any length.
fn log_long(value: &BigUint) -> f64 {
    let excess = value.bits().saturating_sub(64);
    let leading = (value >> excess).to_u64().unwrap_or(u64::MAX);
    libm::log(leading as f64) + excess as f64 * std::f64::consts::LN_2
}

/// Returns the magnitude of a quotient of exact numbers that are beyond the range of floats.
fn slope(y: &Number, x: &Number) -> Result<f64, NumberError> {
    if x.is_zero() {
        return Ok(f64::INFINITY);
    }
    let part = |number: Result<Number, NumberError>| Ok(number?.to_big().unwrap_or_default().into_owned());
    let above = product(&part(y.numerator())?, &part(x.denominator())?)?;
    let below = product(&part(y.denominator())?, &part(x.numerator())?)?;
    Ok(quotient_to_f64(above.magnitude(), below.magnitude()))
}
