//! Powers, roots, logarithms and trigonometry, and the parts of complex numbers.
//!
//! INVARIANT: a result is exact only if it is exactly known, and the same on every platform. A real
//! argument is handled as a real number wherever the result is real.
//! It does not compute; `number/` does.
//! Read next: `number/complex.rs`.

use super::argument::{complex_at, number_at};
use super::cost;
use super::numeric::{map_any, try_map_any};
use super::{Context, PrimitiveError};
use crate::number::{Complex, Number, NumberError};
use crate::value::Value;

primitives! {
    /// Returns the number e to the power of `number`.
    /// Fails with `wrong-type` if the argument is not a number.
    "exp" "number" [1, 1] (cost::linear) => |context, arguments| map_any(context, arguments, Number::exp, Complex::exp);

    /// Returns the logarithm of `number` to `base` (default *e*); that of zero is −∞, and the
    /// imaginary part of any other is the number's angle.
    /// Fails with `wrong-type` if an argument is not a number, with `divide-by-zero` for the exact
    /// base 1.
    "log" "number [base]" [1, 2] (cost::logarithm) => |context, arguments| match arguments {
        [_] => try_map_any(context, arguments, Number::log, Complex::log),
        _ => binary(context, arguments, Number::log_base, Complex::log_base),
    };

    /// Returns the sine of an angle in radians.
    /// Fails with `wrong-type` if the argument is not a number.
    "sin" "radians" [1, 1] (cost::wave) => |context, arguments| {
        map_any(context, arguments, Number::sin, Complex::sin)
    };

    /// Returns the cosine of an angle in radians.
    /// Fails with `wrong-type` if the argument is not a number.
    "cos" "radians" [1, 1] (cost::wave) => |context, arguments| {
        map_any(context, arguments, Number::cos, Complex::cos)
    };

    /// Returns the tangent of an angle in radians.
    /// Fails with `wrong-type` if the argument is not a number.
    "tan" "radians" [1, 1] (cost::wave) => |context, arguments| {
        map_any(context, arguments, Number::tan, Complex::tan)
    };

    /// Returns the angle with this sine; its real part is −π/2 to π/2 radians. Complex if the
    /// number is not from −1 to 1.
    /// Fails with `wrong-type` if the argument is not a number.
    "asin" "number" [1, 1] (cost::arc) => |context, arguments| {
        try_map_any(context, arguments, Number::asin, |number| Ok(number.asin()))
    };

    /// Returns the angle with this cosine; its real part is 0 to π radians. Complex if the number
    /// is not from −1 to 1.
    /// Fails with `wrong-type` if the argument is not a number.
    "acos" "number" [1, 1] (cost::arc) => |context, arguments| {
        try_map_any(context, arguments, Number::acos, |number| Ok(number.acos()))
    };

    /// Returns the angle with this tangent; its real part is −π/2 to π/2 radians. With two
    /// arguments, returns the angle, −π to π radians, of the point with this ordinate and abscissa.
    /// Fails with `wrong-type` if an argument is not a number, or one of two is not real, with
    /// `divide-by-zero` if both are exact zeros.
    "atan" "ordinate [abscissa]" [1, 2] (cost::linear) => |context, arguments| match arguments {
        [_] => map_any(context, arguments, Number::atan, Complex::atan),
        _ => {
            let angle = number_at(context.heap, arguments, 0)?.atan2(&number_at(context.heap, arguments, 1)?)?;
            Ok(context.heap.number(&angle)?)
        }
    };

    /// Returns the square root with a positive real part, or, if the real part is zero, with a
    /// positive imaginary part; exact for squares of exact numbers.
    /// Fails with `wrong-type` if the argument is not a number.
    "sqrt" "number" [1, 1] (cost::exact_root) => |context, arguments| {
        try_map_any(context, arguments, Number::sqrt, Complex::sqrt)
    };

    /// Returns the number `base` to the power of `exponent`, exact if `base` is and `exponent` is
    /// an exact integer.
    /// Fails with `wrong-type` if an argument is not a number, with `divide-by-zero` for a negative
    /// power of exact zero, with `arithmetic` if an exact result is too long.
    "expt" "base exponent" [2, 2] (cost::power) => |context, arguments| {
        binary(context, arguments, Number::expt, Complex::expt)
    };

    /// Returns the real part of a number.
    /// Fails with `wrong-type` if the argument is not a number.
    "real-part" "number" [1, 1] (cost::linear) => |context, arguments| {
        part(context, arguments, |number| Ok(number.real().clone()))
    };

    /// Returns the imaginary part of a number: 0 if it is real.
    /// Fails with `wrong-type` if the argument is not a number.
    "imag-part" "number" [1, 1] (cost::linear) => |context, arguments| {
        part(context, arguments, |number| Ok(number.imaginary().clone()))
    };

    /// Returns the distance of a number from zero; for a real number, its absolute value.
    /// Fails with `wrong-type` if the argument is not a number.
    "magnitude" "number" [1, 1] (cost::distance) => |context, arguments| part(context, arguments, Complex::magnitude);

    /// Returns the angle of a number in the plane, −π to π radians; for a real number, π if it is
    /// negative, else 0.
    /// Fails with `wrong-type` if the argument is not a number.
    "angle" "number" [1, 1] (cost::linear) => |context, arguments| part(context, arguments, Complex::angle);

    /// Returns the number with these parts; it is real if the second is the exact 0.
    /// Fails with `wrong-type` if an argument is not a real number.
    "make-rectangular" "real imaginary" [2, 2] (cost::linear) => |context, arguments| {
        let number = Complex::new(number_at(context.heap, arguments, 0)?, number_at(context.heap, arguments, 1)?);
        Ok(context.heap.complex(&number)?)
    };

    /// Returns the number with this magnitude and angle in radians; it is real if the angle is the
    /// exact 0.
    /// Fails with `wrong-type` if an argument is not a real number.
    "make-polar" "magnitude angle" [2, 2] (cost::polar) => |context, arguments| {
        let (magnitude, angle) = (number_at(context.heap, arguments, 0)?, number_at(context.heap, arguments, 1)?);
        let number = Complex::from_polar(&magnitude, &angle)?;
        Ok(context.heap.complex(&number)?)
    };
}

/// Applies a function of two numbers: `real` where it has a real result, else `plane`.
fn binary(
    context: &mut Context<'_>,
    arguments: &[Value],
    real: fn(&Number, &Number) -> Result<Number, NumberError>,
    plane: fn(&Complex, &Complex) -> Result<Complex, NumberError>,
) -> Result<Value, PrimitiveError> {
    let operands = [arguments[0], arguments[1]].map(|operand| context.heap.as_number(operand));
    if let [Some(a), Some(b)] = &operands {
        match real(a, b) {
            Err(NumberError::NotReal) => {}
            answer => return Ok(context.heap.number(&answer?)?),
        }
    }
    let result = plane(
        &complex_at(context.heap, arguments, 0)?,
        &complex_at(context.heap, arguments, 1)?,
    )?;
    Ok(context.heap.complex(&result)?)
}

/// Applies a function from numbers to real numbers.
fn part(
    context: &mut Context<'_>,
    arguments: &[Value],
    function: fn(&Complex) -> Result<Number, NumberError>,
) -> Result<Value, PrimitiveError> {
    let result = function(&complex_at(context.heap, arguments, 0)?)?;
    Ok(context.heap.number(&result)?)
}
