//! Powers, roots, logarithms and trigonometry, and the parts of complex numbers as far as they are real.
//!
//! INVARIANT: a result is exact only where it is known to be; the same on every platform. Read next: `number/real.rs`.

use super::argument::number_at;
use super::numeric::{map, try_map};
use super::{Context, Failure};
use crate::number::{Number, NumberError};
use crate::value::Value;

primitives! {
    /// The number e to the power of `number`. Fails with `wrong-type` if the argument is not a number.
    "exp" "number" [1, 1] => |context, arguments| map(context, arguments, Number::exp);

    /// The logarithm of `number` to `base` (e if not given); that of zero is −∞. Fails with `wrong-type` if an argument is not a number, with `divide-by-zero` for the exact base 1, with `arithmetic` if an argument is negative.
    "log" "number [base]" [1, 2] => |context, arguments| match arguments {
        [_] => try_map(context, arguments, Number::log),
        _ => binary(context, arguments, Number::log_base),
    };

    /// The sine of an angle in radians. Fails with `wrong-type` if the argument is not a number.
    "sin" "radians" [1, 1] => |context, arguments| map(context, arguments, Number::sin);

    /// The cosine of an angle in radians. Fails with `wrong-type` if the argument is not a number.
    "cos" "radians" [1, 1] => |context, arguments| map(context, arguments, Number::cos);

    /// The tangent of an angle in radians. Fails with `wrong-type` if the argument is not a number.
    "tan" "radians" [1, 1] => |context, arguments| map(context, arguments, Number::tan);

    /// The angle, −π/2 to π/2 radians, with this sine. Fails with `wrong-type` if the argument is not a number, with `arithmetic` if it is not from −1 to 1.
    "asin" "number" [1, 1] => |context, arguments| try_map(context, arguments, Number::asin);

    /// The angle, 0 to π radians, with this cosine. Fails with `wrong-type` if the argument is not a number, with `arithmetic` if it is not from −1 to 1.
    "acos" "number" [1, 1] => |context, arguments| try_map(context, arguments, Number::acos);

    /// The angle, −π/2 to π/2 radians, with this tangent; with two arguments, the angle, −π to π radians, of the point with this ordinate and abscissa. Fails with `wrong-type` if an argument is not a number, with `divide-by-zero` if both are exact zeros.
    "atan" "ordinate [abscissa]" [1, 2] => |context, arguments| match arguments {
        [_] => map(context, arguments, Number::atan),
        _ => binary(context, arguments, Number::atan2),
    };

    /// The root of a number that is not negative, exact for exact squares. Fails with `wrong-type` if the argument is not a number, with `arithmetic` if it is negative.
    "sqrt" "number" [1, 1] => |context, arguments| try_map(context, arguments, Number::sqrt);

    /// The number `base` to the power of `exponent`, exact if `base` is and `exponent` is an exact integer. Fails with `wrong-type` if an argument is not a number, with `divide-by-zero` for a negative power of exact zero, with `arithmetic` for a fractional power of a negative number, with `arithmetic` if an exact result is too long.
    "expt" "base exponent" [2, 2] => |context, arguments| binary(context, arguments, Number::expt);

    /// The real part of a number: the number. Fails with `wrong-type` if the argument is not a number.
    "real-part" "number" [1, 1] => |context, arguments| map(context, arguments, Number::clone);

    /// The imaginary part of a number: 0, as numbers are real. Fails with `wrong-type` if the argument is not a number.
    "imag-part" "number" [1, 1] => |context, arguments| map(context, arguments, |_| Number::Fixnum(0));

    /// The angle of a number in the plane, in radians: π if it is negative, else 0. Fails with `wrong-type` if the argument is not a number.
    "angle" "number" [1, 1] => |context, arguments| try_map(context, arguments, |number| {
        if *number == Number::Fixnum(0) { Ok(Number::Fixnum(0)) } else { Number::Fixnum(0).atan2(number) }
    });

    /// The number with these parts, of which the second must be exactly 0, as numbers are real. Fails with `wrong-type` if an argument is not a number, with `arithmetic` for any other imaginary part.
    "make-rectangular" "real imaginary" [2, 2] => real_only;

    /// The number with this magnitude and angle, which must be exactly 0, as numbers are real. Fails with `wrong-type` if an argument is not a number, with `arithmetic` for any other angle.
    "make-polar" "magnitude angle" [2, 2] => real_only;
}

fn binary(
    context: &mut Context<'_>,
    arguments: &[Value],
    function: fn(&Number, &Number) -> Result<Number, NumberError>,
) -> Result<Value, Failure> {
    let result = function(
        &number_at(context.heap, arguments, 0)?,
        &number_at(context.heap, arguments, 1)?,
    )?;
    Ok(context.heap.number(&result)?)
}

fn real_only(context: &mut Context<'_>, arguments: &[Value]) -> Result<Value, Failure> {
    binary(context, arguments, |real, rest| {
        if *rest == Number::Fixnum(0) {
            Ok(real.clone())
        } else {
            Err(NumberError::NotReal)
        }
    })
}
