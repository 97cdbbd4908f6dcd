//! Complex numbers: points of the plane, in rectangular form.
//!
//! Owns the type and the algebra; functions are in `complex/function.rs`, the text in
//! `complex/text.rs`.
//! INVARIANT: each part is a [`Number`] and keeps its own exactness, so an exact zero stays exact:
//! sums and products skip it, and it cannot turn an infinity into a NaN. A point whose imaginary
//! part is the exact zero is a real number.
//! It does not do the arithmetic of real numbers.
//! Read next: `complex/function.rs`.
//!
//! Source: R7RS 6.2.6, "Numerical operations".

mod function;
#[cfg(test)]
mod tests;
mod text;

use super::{Number, NumberError};

/// A complex number; every real number is one, with an exact zero for its imaginary part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complex {
    real: Number,
    imaginary: Number,
}

impl From<Number> for Complex {
    fn from(real: Number) -> Complex {
        Complex { real, imaginary: ZERO }
    }
}

const ZERO: Number = Number::Fixnum(0);

impl Complex {
    /// Returns the number with these parts.
    pub fn new(real: Number, imaginary: Number) -> Complex {
        Complex { real, imaginary }
    }

    /// Returns the number at this distance from zero, in the direction of an angle in radians.
    ///
    /// # Errors
    /// [`NumberError::TooLarge`].
    pub fn from_polar(magnitude: &Number, angle: &Number) -> Result<Complex, NumberError> {
        if is_nothing(angle) {
            return Ok(magnitude.clone().into());
        }
        Ok(Complex::new(
            times(magnitude, &angle.cos())?,
            times(magnitude, &angle.sin())?,
        ))
    }

    /// Returns the real part.
    pub fn real(&self) -> &Number {
        &self.real
    }

    /// Returns the imaginary part.
    pub fn imaginary(&self) -> &Number {
        &self.imaginary
    }

    /// Returns the number, if it is real.
    pub fn as_real(&self) -> Option<&Number> {
        is_nothing(&self.imaginary).then_some(&self.real)
    }

    /// Returns whether both parts are exact.
    pub fn is_exact(&self) -> bool {
        self.real.is_exact() && self.imaginary.is_exact()
    }

    /// Returns whether both parts are neither infinite nor NaN.
    pub fn is_finite(&self) -> bool {
        self.real.is_rational() && self.imaginary.is_rational()
    }

    /// Returns whether a part is infinite.
    pub fn is_infinite(&self) -> bool {
        self.real.is_infinite() || self.imaginary.is_infinite()
    }

    /// Returns whether a part is a NaN.
    pub fn is_nan(&self) -> bool {
        self.real.is_nan() || self.imaginary.is_nan()
    }

    /// Returns whether both parts are zero, of either exactness and sign.
    pub fn is_zero(&self) -> bool {
        self.real.is_zero() && self.imaginary.is_zero()
    }

    /// Returns whether two numbers have the same value (`=`), whatever their exactness.
    pub fn equals(&self, other: &Complex) -> bool {
        self.real.equals(&other.real) && self.imaginary.equals(&other.imaginary)
    }

    /// Returns the exact number of the same value.
    ///
    /// # Errors
    /// [`NumberError::NotRational`] if a part is an infinity or a NaN.
    pub fn exact(&self) -> Result<Complex, NumberError> {
        Ok(Complex::new(self.real.exact()?, self.imaginary.exact()?))
    }

    /// Returns the number whose parts are the flonums nearest to this one's; a real number stays
    /// real.
    pub fn inexact(&self) -> Complex {
        match self.as_real() {
            Some(real) => real.inexact().into(),
            None => Complex::new(self.real.inexact(), self.imaginary.inexact()),
        }
    }

    /// Returns the number with the opposite sign.
    pub fn negate(&self) -> Complex {
        Complex::new(self.real.negate(), self.imaginary.negate())
    }

    /// Returns the sum.
    ///
    /// # Errors
    /// [`NumberError::TooLarge`].
    pub fn add(&self, other: &Complex) -> Result<Complex, NumberError> {
        Ok(Complex::new(
            plus(&self.real, &other.real)?,
            plus(&self.imaginary, &other.imaginary)?,
        ))
    }

    /// Returns the difference.
    ///
    /// # Errors
    /// [`NumberError::TooLarge`].
    pub fn sub(&self, other: &Complex) -> Result<Complex, NumberError> {
        self.add(&other.negate())
    }

    /// Returns the product.
    ///
    /// # Errors
    /// [`NumberError::TooLarge`].
    pub fn mul(&self, other: &Complex) -> Result<Complex, NumberError> {
        let (a, b, c, d) = (&self.real, &self.imaginary, &other.real, &other.imaginary);
        Ok(Complex::new(
            plus(&times(a, c)?, &times(b, d)?.negate())?,
            plus(&times(a, d)?, &times(b, c)?)?,
        ))
    }

    /// Returns the number times itself.
    ///
    /// # Errors
    /// [`NumberError::TooLarge`].
    pub fn square(&self) -> Result<Complex, NumberError> {
        self.mul(self)
    }

    /// Returns the quotient, exact if both operands are.
    ///
    /// # Errors
    /// [`NumberError::DivideByZero`] if the divisor is an exact zero; [`NumberError::TooLarge`].
    pub fn div(&self, other: &Complex) -> Result<Complex, NumberError> {
        let (a, b, c, d) = (&self.real, &self.imaginary, &other.real, &other.imaginary);
        if is_nothing(d) {
            return Ok(Complex::new(over(a, c)?, over(b, c)?));
        }
        if is_nothing(c) {
            return Ok(Complex::new(over(b, d)?, over(&a.negate(), d)?));
        }
        if self.is_exact() && other.is_exact() {
            let conjugate = Complex::new(c.clone(), d.negate());
            let (product, norm) = (self.mul(&conjugate)?, other.norm()?);
            return Ok(Complex::new(product.real.div(&norm)?, product.imaginary.div(&norm)?));
        }
        let Point { real, imaginary } = self.to_point().over(&other.to_point());
        Ok(Complex::from_floats(real, imaginary))
    }

    /// Returns the distance from zero.
    ///
    /// # Errors
    /// [`NumberError::TooLarge`].
    pub fn magnitude(&self) -> Result<Number, NumberError> {
        if is_nothing(&self.imaginary) {
            return Ok(self.real.abs());
        }
        if is_nothing(&self.real) {
            return Ok(self.imaginary.abs());
        }
        if self.is_exact() {
            return self.norm()?.sqrt();
        }
        let (x, y) = self.to_floats();
        Ok(Number::Flonum(libm::hypot(x, y)))
    }

    /// Returns the angle, −π to π radians, between the number and the positive real line; that of
    /// exact zero is 0.
    ///
    /// # Errors
    /// [`NumberError::TooLarge`] if exact parts beyond the range of floats cannot be scaled into it
    /// together.
    pub fn angle(&self) -> Result<Number, NumberError> {
        if is_nothing(&self.real) && is_nothing(&self.imaginary) {
            return Ok(ZERO);
        }
        self.imaginary.atan2(&self.real)
    }

    /// Returns the square of the magnitude.
    fn norm(&self) -> Result<Number, NumberError> {
        plus(&self.real.square()?, &self.imaginary.square()?)
    }

    fn to_floats(&self) -> (f64, f64) {
        (self.real.to_f64(), self.imaginary.to_f64())
    }

    fn to_point(&self) -> Point {
        let (real, imaginary) = self.to_floats();
        Point { real, imaginary }
    }

    fn from_floats(real: f64, imaginary: f64) -> Complex {
        Complex::new(Number::Flonum(real), Number::Flonum(imaginary))
    }
}

/// Returns whether a part is the exact zero, which counts as absent.
fn is_nothing(part: &Number) -> bool {
    matches!(part, Number::Fixnum(0))
}

/// Adds two parts; an absent part changes nothing, not even the sign of an inexact zero.
fn plus(a: &Number, b: &Number) -> Result<Number, NumberError> {
    if is_nothing(a) {
        Ok(b.clone())
    } else if is_nothing(b) {
        Ok(a.clone())
    } else {
        a.add(b)
    }
}

/// Multiplies two parts; the product with an absent part is absent.
fn times(a: &Number, b: &Number) -> Result<Number, NumberError> {
    if is_nothing(a) || is_nothing(b) {
        Ok(ZERO)
    } else {
        a.mul(b)
    }
}

/// Divides a part by a real number.
fn over(part: &Number, divisor: &Number) -> Result<Number, NumberError> {
    if is_nothing(part) && !is_nothing(divisor) {
        Ok(ZERO)
    } else {
        part.div(divisor)
    }
}

/// A complex number of two floats.
struct Point {
    real: f64,
    imaginary: f64,
}

impl Point {
    /// Divides by another point.
    ///
    /// Source: R. L. Smith, *Algorithm 116: Complex division*, which avoids the overflow of the
    /// divisor's square.
    fn over(&self, divisor: &Point) -> Point {
        let (a, b) = (self.real, self.imaginary);
        let (c, d) = (divisor.real, divisor.imaginary);
        let (real, imaginary) = if libm::fabs(c) >= libm::fabs(d) {
            let ratio = d / c;
            let divisor = c + d * ratio;
            ((a + b * ratio) / divisor, (b - a * ratio) / divisor)
        } else {
            let ratio = c / d;
            let divisor = c * ratio + d;
            ((a * ratio + b) / divisor, (b * ratio - a) / divisor)
        };
        Point { real, imaginary }
    }
}
