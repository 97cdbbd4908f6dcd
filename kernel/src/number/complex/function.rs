//! Powers, roots, logarithms and trigonometry in the plane.
//!
//! INVARIANT: on the real line every function gives the result of the same function of [`Number`],
//! where that has one. A branch cut is continuous with the side that the sign of an inexact zero
//! names; an exact zero stands for the side that the defining formula of the report takes.
//! It does not read or write text.
//! Read next: `text.rs`.
//!
//! Source: R7RS 6.2.6; W. Kahan, *Branch Cuts for Complex Elementary Functions*.

use super::super::real::log_magnitude;
use super::{Complex, Number, NumberError, ZERO, is_nothing};

/// Integer powers up to this one are computed as products, which keep whole parts whole; greater
/// ones by magnitude and angle.
const MAX_INEXACT_PRODUCT: u64 = 1024;

/// Parts beyond these are scaled before they are squared.
const SCALED_ABOVE: f64 = 1e150;
const SCALED_BELOW: f64 = 1e-150;
/// The exponent of the power of two that scales them; even, so that its root is a power of two as
/// well.
const SCALE_EXPONENT: i32 = 600;

impl Complex {
    /// Returns *e* to the power of the number.
    pub fn exp(&self) -> Complex {
        if let Some(real) = self.as_real() {
            return real.exp().into();
        }
        let (x, y) = self.to_floats();
        let length = self.real.exp().to_f64();
        if length.is_finite() {
            return Complex::from_floats(length * libm::cos(y), length * libm::sin(y));
        }
        // Multiply by half the exponential twice, because the whole may overflow before a small
        // cosine reduces it.
        let half = libm::exp(x / 2.0);
        Complex::from_floats(half * libm::cos(y) * half, half * libm::sin(y) * half)
    }

    /// Returns the natural logarithm, whose imaginary part is the angle.
    ///
    /// # Errors
    /// [`NumberError::TooLarge`].
    pub fn log(&self) -> Result<Complex, NumberError> {
        if let Some(real) = self.as_real() {
            match real.log() {
                Err(NumberError::NotReal) => {}
                answer => return answer.map(Complex::from),
            }
        }
        let magnitude = if is_nothing(&self.imaginary) {
            self.real.abs().log()?
        } else if is_nothing(&self.real) {
            self.imaginary.abs().log()?
        } else if self.is_exact() {
            Number::Flonum(log_magnitude(&self.norm()?) / 2.0)
        } else {
            let (x, y) = self.to_floats();
            Number::Flonum(log_hypotenuse(x, y))
        };
        Ok(Complex::new(magnitude, self.angle()?))
    }

    /// Returns the logarithm to a base.
    ///
    /// # Errors
    /// [`NumberError::DivideByZero`] for the exact base 1; [`NumberError::TooLarge`].
    pub fn log_base(&self, base: &Complex) -> Result<Complex, NumberError> {
        if let (Some(number), Some(base)) = (self.as_real(), base.as_real()) {
            match number.log_base(base) {
                Err(NumberError::NotReal) => {}
                answer => return answer.map(Complex::from),
            }
        }
        self.log()?.div(&base.log()?)
    }

    /// Returns the sine of an angle in radians.
    pub fn sin(&self) -> Complex {
        let (x, y) = self.to_floats();
        if let Some(real) = self.as_real() {
            real.sin().into()
        } else if is_nothing(&self.real) {
            Complex::new(ZERO, Number::Flonum(libm::sinh(y)))
        } else {
            Complex::from_floats(libm::sin(x) * libm::cosh(y), libm::cos(x) * libm::sinh(y))
        }
    }

    /// Returns the cosine of an angle in radians.
    pub fn cos(&self) -> Complex {
        let (x, y) = self.to_floats();
        if let Some(real) = self.as_real() {
            real.cos().into()
        } else if is_nothing(&self.real) {
            Number::Flonum(libm::cosh(y)).into()
        } else {
            Complex::from_floats(libm::cos(x) * libm::cosh(y), -(libm::sin(x) * libm::sinh(y)))
        }
    }

    /// Returns the tangent of an angle in radians.
    pub fn tan(&self) -> Complex {
        let (x, y) = self.to_floats();
        if let Some(real) = self.as_real() {
            real.tan().into()
        } else if is_nothing(&self.real) {
            Complex::new(ZERO, Number::Flonum(libm::tanh(y)))
        } else if libm::fabs(y) > 20.0 {
            // The hyperbolic sine and cosine are equal here, and their squares might overflow.
            let real = 4.0 * libm::sin(x) * libm::cos(x) * libm::exp(-2.0 * libm::fabs(y));
            Complex::from_floats(real, libm::copysign(1.0, y))
        } else {
            let (tangent, sine, cosine) = (libm::tan(x), libm::sinh(y), libm::cosh(y));
            let secant = 1.0 + tangent * tangent;
            let divisor = 1.0 + secant * sine * sine;
            Complex::from_floats(tangent / divisor, secant * cosine * sine / divisor)
        }
    }

    /// Returns the angle with this sine, whose real part is −π/2 to π/2.
    pub fn asin(&self) -> Complex {
        if let Some(Ok(angle)) = self.as_real().map(Number::asin) {
            return angle.into();
        }
        let (x, y) = self.beside_real_cut();
        let (below, above) = (root(1.0 - x, -y), root(1.0 + x, y));
        Complex::from_floats(
            libm::atan2(x, below.0 * above.0 - below.1 * above.1),
            libm::asinh(below.0 * above.1 - below.1 * above.0),
        )
    }

    /// Returns the angle with this cosine, whose real part is 0 to π.
    pub fn acos(&self) -> Complex {
        if let Some(Ok(angle)) = self.as_real().map(Number::acos) {
            return angle.into();
        }
        let (x, y) = self.beside_real_cut();
        let (below, above) = (root(1.0 - x, -y), root(1.0 + x, y));
        Complex::from_floats(
            2.0 * libm::atan2(below.0, above.0),
            libm::asinh(above.0 * below.1 - above.1 * below.0),
        )
    }

    /// Returns the angle with this tangent, whose real part is −π/2 to π/2; that of ±i is infinite.
    pub fn atan(&self) -> Complex {
        if let Some(real) = self.as_real() {
            return real.atan().into();
        }
        let (x, y) = self.to_floats();
        let x = if is_nothing(&self.real) {
            libm::copysign(0.0, y)
        } else {
            x
        };
        let angle = (libm::atan2(x, 1.0 - y) - libm::atan2(-x, 1.0 + y)) / 2.0;
        let height = libm::fabs(y);
        let distance = x * x + (1.0 - height) * (1.0 - height);
        let imaginary = libm::copysign(libm::log1p(4.0 * height / distance) / 4.0, y);
        if is_nothing(&self.real) && libm::fabs(y) <= 1.0 {
            return Complex::new(ZERO, Number::Flonum(imaginary));
        }
        Complex::from_floats(angle, imaginary)
    }

    /// Returns the square root with a positive real part, or, if the real part is zero, with a
    /// non-negative imaginary part; exact for the square of an exact number.
    ///
    /// # Errors
    /// [`NumberError::TooLarge`].
    pub fn sqrt(&self) -> Result<Complex, NumberError> {
        if let Some(real) = self.as_real() {
            return if real.is_negative() {
                Ok(Complex::new(ZERO, real.negate().sqrt()?))
            } else {
                real.sqrt().map(Complex::from)
            };
        }
        if self.is_exact()
            && let Some(exact) = self.exact_root()?
        {
            return Ok(exact);
        }
        let (x, y) = self.to_floats();
        let (real, imaginary) = root(x, y);
        Ok(Complex::from_floats(real, imaginary))
    }

    /// Returns the root of an exact number that is not real, if the root is exact.
    fn exact_root(&self) -> Result<Option<Complex>, NumberError> {
        let magnitude = self.norm()?.sqrt()?;
        if !magnitude.is_exact() {
            return Ok(None);
        }
        let half = |number: Number| number.div(&Number::Fixnum(2))?.sqrt();
        let real = half(magnitude.add(&self.real)?)?;
        let imaginary = half(magnitude.sub(&self.real)?)?;
        let signed = if self.imaginary.is_negative() {
            imaginary.negate()
        } else {
            imaginary
        };
        let root = Complex::new(real, signed);
        Ok(root.is_exact().then_some(root))
    }

    /// Returns the number to a power. The result is exact if the base is exact and the exponent an
    /// exact integer, or if the exponent is half of an exact integer and the base a square.
    ///
    /// # Errors
    /// [`NumberError::DivideByZero`] for a power of zero whose real part is not positive;
    /// [`NumberError::TooLarge`].
    pub fn expt(&self, exponent: &Complex) -> Result<Complex, NumberError> {
        if let (Some(base), Some(exponent)) = (self.as_real(), exponent.as_real()) {
            match base.expt(exponent) {
                Err(NumberError::NotReal) => {}
                answer => return answer.map(Complex::from),
            }
        }
        if self.is_zero() {
            return self.power_of_zero(exponent);
        }
        let Some(power) = exponent.as_real() else {
            return Ok(exponent.mul(&self.log()?)?.exp());
        };
        if power.is_exact_integer()
            && let Some(product) = self.integer_power(power)?
        {
            return Ok(product);
        }
        let doubled = power.add(power)?;
        if doubled.is_integer() && !power.is_integer() {
            let root = self.sqrt()?;
            if let Some(product) = root.integer_power(&doubled.exact()?)? {
                return Ok(product);
            }
        }
        Complex::from_polar(&self.magnitude()?.expt(power)?, &self.angle()?.mul(power)?)
    }

    fn power_of_zero(&self, exponent: &Complex) -> Result<Complex, NumberError> {
        if !exponent.real.is_positive() {
            Err(NumberError::DivideByZero)
        } else if self.is_exact() && exponent.is_exact() {
            Ok(ZERO.into())
        } else {
            Ok(Number::Flonum(0.0).into())
        }
    }

    /// Returns an integer power as a product; nothing for an inexact number if there would be too
    /// many factors.
    fn integer_power(&self, exponent: &Number) -> Result<Option<Complex>, NumberError> {
        if is_nothing(&self.real) && matches!(self.imaginary, Number::Fixnum(1 | -1)) {
            let turns = exponent.mul(&self.imaginary)?.modulo(&Number::Fixnum(4))?;
            return Ok(Some(quarter_turns(&turns)));
        }
        let count = match exponent {
            Number::Fixnum(count) => count.unsigned_abs(),
            Number::Big(_) | Number::Ratio(_) | Number::Flonum(_) => u64::MAX,
        };
        if !self.is_exact() && count > MAX_INEXACT_PRODUCT {
            return Ok(None);
        }
        let mut product = Complex::from(Number::Fixnum(1));
        for bit in (0..u64::BITS - count.leading_zeros()).rev() {
            product = product.square()?;
            if count >> bit & 1 == 1 {
                product = product.mul(self)?;
            }
        }
        if exponent.is_negative() {
            product = Complex::from(Number::Fixnum(1)).div(&product)?;
        }
        Ok(Some(product))
    }

    /// Returns the point as floats; an exact zero becomes the side of the real line that arc sine
    /// and arc cosine take.
    fn beside_real_cut(&self) -> (f64, f64) {
        let (x, y) = self.to_floats();
        if is_nothing(&self.imaginary) {
            (x, libm::copysign(0.0, -x))
        } else {
            (x, y)
        }
    }
}

/// Returns i to the power of 0, 1, 2 or 3.
fn quarter_turns(turns: &Number) -> Complex {
    let (real, imaginary) = match turns {
        Number::Fixnum(0) => (1, 0),
        Number::Fixnum(1) => (0, 1),
        Number::Fixnum(2) => (-1, 0),
        Number::Fixnum(_) | Number::Big(_) | Number::Ratio(_) | Number::Flonum(_) => (0, -1),
    };
    Complex::new(Number::Fixnum(real), Number::Fixnum(imaginary))
}

/// Scales a point so that the squares of its parts are floats; also returns the power of two that
/// undoes the scaling.
fn scaled(x: f64, y: f64) -> (f64, f64, i32) {
    let size = libm::fmax(libm::fabs(x), libm::fabs(y));
    let exponent = if size > SCALED_ABOVE {
        SCALE_EXPONENT
    } else if size < SCALED_BELOW {
        -SCALE_EXPONENT
    } else {
        0
    };
    (libm::ldexp(x, -exponent), libm::ldexp(y, -exponent), exponent)
}

/// Returns the root of a point; on the negative real line the sign of the zero chooses the side.
fn root(x: f64, y: f64) -> (f64, f64) {
    if x == 0.0 && y == 0.0 {
        return (0.0, y);
    }
    if y.is_infinite() {
        return (f64::INFINITY, y);
    }
    if x.is_infinite() && !y.is_nan() {
        let (far, near) = (f64::INFINITY, 0.0);
        return if x > 0.0 {
            (far, libm::copysign(near, y))
        } else {
            (near, libm::copysign(far, y))
        };
    }
    let (x, y, exponent) = scaled(x, y);
    let longer = libm::sqrt((libm::hypot(x, y) + libm::fabs(x)) / 2.0);
    let shorter = libm::fabs(y) / (2.0 * longer);
    let (real, imaginary) = if x >= 0.0 { (longer, shorter) } else { (shorter, longer) };
    (
        libm::ldexp(real, exponent / 2),
        libm::copysign(libm::ldexp(imaginary, exponent / 2), y),
    )
}

/// Returns the natural logarithm of the distance of a point from zero.
fn log_hypotenuse(x: f64, y: f64) -> f64 {
    let (x, y, exponent) = scaled(libm::fabs(x), libm::fabs(y));
    let (long, short) = (libm::fmax(x, y), libm::fmin(x, y));
    let distance = libm::hypot(long, short);
    if exponent == 0 && distance > 0.5 && distance < 2.0 {
        // Near one the distance has lost the digits that its logarithm needs.
        return libm::log1p((long - 1.0) * (long + 1.0) + short * short) / 2.0;
    }
    libm::log(distance) + f64::from(exponent) * std::f64::consts::LN_2
}
