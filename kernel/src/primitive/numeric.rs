//! Numbers: what they are, exactness, rounding, and their texts.
//!
//! INVARIANT: every number is complex, so `number?` and `complex?` ask the same; questions and operations that make sense on the
//! real line alone fail with `wrong-type` off it. Read next: `primitive/complex.rs`.

use super::argument::{complex_at, integer_at, number_at, string_at};
use super::{Context, Failure};
use crate::heap::{Heap, Kind};
use crate::number::{Complex, Number, NumberError};
use crate::value::Value;

primitives! {
    /// Whether the argument is a number.
    "number?" "object" [1, 1] => is_number;

    /// Whether the argument is a complex number; all numbers are.
    "complex?" "object" [1, 1] => is_number;

    /// Whether the argument is a real number: one whose imaginary part is the exact 0.
    "real?" "object" [1, 1] => |context, arguments| ask(context, arguments, |_| true);

    /// Whether the argument is a rational number: one that is neither infinite nor a NaN.
    "rational?" "object" [1, 1] => |context, arguments| ask(context, arguments, Number::is_rational);

    /// Whether the argument is an integer of either exactness.
    "integer?" "object" [1, 1] => |context, arguments| ask(context, arguments, Number::is_integer);

    /// Whether the argument is an exact integer.
    "exact-integer?" "object" [1, 1] => |context, arguments| {
        let is_exact = arguments[0].is_fixnum() || context.heap.is_kind(arguments[0], Kind::Bignum);
        Ok(Value::boolean(is_exact))
    };

    /// Whether the number is exact. Fails with `wrong-type` if the argument is not a number.
    "exact?" "number" [1, 1] => |context, arguments| test_any(context, arguments, Complex::is_exact);

    /// Whether the number is inexact. Fails with `wrong-type` if the argument is not a number.
    "inexact?" "number" [1, 1] => |context, arguments| test_any(context, arguments, |number| !number.is_exact());

    /// Whether neither part of the number is infinite or a NaN. Fails with `wrong-type` if the argument is not a number.
    "finite?" "number" [1, 1] => |context, arguments| test_any(context, arguments, Complex::is_finite);

    /// Whether a part of the number is an infinity of either sign. Fails with `wrong-type` if the argument is not a number.
    "infinite?" "number" [1, 1] => |context, arguments| test_any(context, arguments, Complex::is_infinite);

    /// Whether a part of the number is a NaN. Fails with `wrong-type` if the argument is not a number.
    "nan?" "number" [1, 1] => |context, arguments| test_any(context, arguments, Complex::is_nan);

    /// Whether the number is zero, of either exactness. Fails with `wrong-type` if the argument is not a number.
    "zero?" "number" [1, 1] => |context, arguments| test_any(context, arguments, Complex::is_zero);

    /// Whether the number is greater than zero. Fails with `wrong-type` if the argument is not a real number.
    "positive?" "number" [1, 1] => |context, arguments| test(context, arguments, Number::is_positive);

    /// Whether the number is less than zero. Fails with `wrong-type` if the argument is not a real number.
    "negative?" "number" [1, 1] => |context, arguments| test(context, arguments, Number::is_negative);

    /// The number without its sign. Fails with `wrong-type` if the argument is not a real number.
    "abs" "number" [1, 1] => |context, arguments| map(context, arguments, Number::abs);

    /// The number times itself. Fails with `wrong-type` if the argument is not a number, with `arithmetic` if an exact result is too long.
    "square" "number" [1, 1] => |context, arguments| try_map_any(context, arguments, Number::square, Complex::square);

    /// The numerator of the number in lowest terms. Fails with `wrong-type` if the argument is not a real number, with `arithmetic` if it is infinite or a NaN.
    "numerator" "number" [1, 1] => |context, arguments| try_map(context, arguments, Number::numerator);

    /// The denominator of the number in lowest terms, which is positive. Fails with `wrong-type` if the argument is not a real number, with `arithmetic` if it is infinite or a NaN.
    "denominator" "number" [1, 1] => |context, arguments| try_map(context, arguments, Number::denominator);

    /// The greatest integer not above the number, of its exactness. Fails with `wrong-type` if the argument is not a real number.
    "floor" "number" [1, 1] => |context, arguments| map(context, arguments, Number::floor);

    /// The least integer not below the number, of its exactness. Fails with `wrong-type` if the argument is not a real number.
    "ceiling" "number" [1, 1] => |context, arguments| map(context, arguments, Number::ceiling);

    /// The integer part of the number, of its exactness. Fails with `wrong-type` if the argument is not a real number.
    "truncate" "number" [1, 1] => |context, arguments| map(context, arguments, Number::truncate);

    /// The integer nearest to the number, of its exactness; the even one of two equally near. Fails with `wrong-type` if the argument is not a real number.
    "round" "number" [1, 1] => |context, arguments| map(context, arguments, Number::round);

    /// The simplest rational number that differs from `number` by no more than `tolerance`. Fails with `wrong-type` if an argument is not a real number, with `arithmetic` if the search would take too long.
    "rationalize" "number tolerance" [2, 2] => |context, arguments| {
        let (number, tolerance) = (number_at(context.heap, arguments, 0)?, number_at(context.heap, arguments, 1)?);
        let simplest = number.rationalize(&tolerance)?;
        Ok(context.heap.number(&simplest)?)
    };

    /// The exact number of the same value. Fails with `wrong-type` if the argument is not a number, with `arithmetic` if it is infinite or a NaN.
    "exact" "number" [1, 1] => |context, arguments| try_map_any(context, arguments, Number::exact, Complex::exact);

    /// The older name of `exact`. Fails with `wrong-type` if the argument is not a number, with `arithmetic` if it is infinite or a NaN.
    "inexact->exact" "number" [1, 1] => |context, arguments| try_map_any(context, arguments, Number::exact, Complex::exact);

    /// The inexact number nearest to the number. Fails with `wrong-type` if the argument is not a number.
    "inexact" "number" [1, 1] => |context, arguments| map_any(context, arguments, Number::inexact, Complex::inexact);

    /// The older name of `inexact`. Fails with `wrong-type` if the argument is not a number.
    "exact->inexact" "number" [1, 1] => |context, arguments| map_any(context, arguments, Number::inexact, Complex::inexact);

    /// Makes a string that `string->number` reads as the same number, in `radix` from 2 to 36 (10 if not given). Fails with `wrong-type` if the arguments are not a number and an exact integer, with `out-of-range` if the radix is none.
    "number->string" "number [radix]" [1, 2] => |context, arguments| {
        let number = complex_at(context.heap, arguments, 0)?;
        let text = number.to_string_radix(radix_at(context.heap, arguments)?);
        Ok(context.heap.string(&text)?)
    };

    /// The number that the string is the external representation of in `radix` from 2 to 36 (10 if not given), which a prefix in the string overrides, or `#f`. Fails with `wrong-type` if the arguments are not a string and an exact integer, with `out-of-range` if the radix is none.
    "string->number" "string [radix]" [1, 2] => |context, arguments| {
        let string = string_at(context.heap, arguments, 0)?;
        let radix = radix_at(context.heap, arguments)?;
        match Complex::parse(&context.heap.string_text(string), radix) {
            Some(number) => Ok(context.heap.complex(&number)?),
            None => Ok(Value::FALSE),
        }
    };
}

fn is_number(context: &mut Context<'_>, arguments: &[Value]) -> Result<Value, Failure> {
    Ok(Value::boolean(context.heap.is_number(arguments[0])))
}

/// Whether the argument, any object, is a real number of which the predicate holds.
fn ask(context: &Context<'_>, arguments: &[Value], predicate: fn(&Number) -> bool) -> Result<Value, Failure> {
    let number = context.heap.as_number(arguments[0]);
    Ok(Value::boolean(number.is_some_and(|number| predicate(&number))))
}

/// Whether the predicate holds of the argument, a real number.
fn test(context: &Context<'_>, arguments: &[Value], predicate: fn(&Number) -> bool) -> Result<Value, Failure> {
    Ok(Value::boolean(predicate(&number_at(context.heap, arguments, 0)?)))
}

/// Whether the predicate holds of the argument, a number that need not be real.
fn test_any(context: &Context<'_>, arguments: &[Value], predicate: fn(&Complex) -> bool) -> Result<Value, Failure> {
    Ok(Value::boolean(predicate(&complex_at(context.heap, arguments, 0)?)))
}

/// What a function gives for the argument, a real number.
fn map(context: &mut Context<'_>, arguments: &[Value], function: fn(&Number) -> Number) -> Result<Value, Failure> {
    let result = function(&number_at(context.heap, arguments, 0)?);
    Ok(context.heap.number(&result)?)
}

/// What a function that may have no answer gives for the argument, a real number.
fn try_map(
    context: &mut Context<'_>,
    arguments: &[Value],
    function: fn(&Number) -> Result<Number, NumberError>,
) -> Result<Value, Failure> {
    let result = function(&number_at(context.heap, arguments, 0)?)?;
    Ok(context.heap.number(&result)?)
}

/// What a function gives for the argument, a number: `real` on the real line, `plane` off it.
pub(super) fn map_any(
    context: &mut Context<'_>,
    arguments: &[Value],
    real: fn(&Number) -> Number,
    plane: fn(&Complex) -> Complex,
) -> Result<Value, Failure> {
    match context.heap.as_number(arguments[0]) {
        Some(number) => Ok(context.heap.number(&real(&number))?),
        None => {
            let result = plane(&complex_at(context.heap, arguments, 0)?);
            Ok(context.heap.complex(&result)?)
        }
    }
}

/// What a function that may have no answer gives for the argument, a number: `real` where it has a real answer, else `plane`.
pub(super) fn try_map_any(
    context: &mut Context<'_>,
    arguments: &[Value],
    real: fn(&Number) -> Result<Number, NumberError>,
    plane: fn(&Complex) -> Result<Complex, NumberError>,
) -> Result<Value, Failure> {
    match context.heap.as_number(arguments[0]).map(|number| real(&number)) {
        Some(Ok(result)) => Ok(context.heap.number(&result)?),
        Some(Err(error)) if error != NumberError::NotReal => Err(error.into()),
        Some(Err(_)) | None => {
            let result = plane(&complex_at(context.heap, arguments, 0)?)?;
            Ok(context.heap.complex(&result)?)
        }
    }
}

/// The radix that the optional argument 1 is.
fn radix_at(heap: &Heap, arguments: &[Value]) -> Result<u32, Failure> {
    if arguments.len() < 2 {
        return Ok(10);
    }
    match integer_at(heap, arguments, 1, 36)? {
        0 | 1 => Err(Failure::OutOfRange { argument: 1 }),
        radix => Ok(radix as u32),
    }
}
