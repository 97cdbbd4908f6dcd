//! Numbers: types, exactness, rounding, and text.
//!
//! INVARIANT: every number is complex, so `number?` and `complex?` are the same predicate;
//! predicates and operations for real numbers fail with `wrong-type` for others.
//! It does not compute; `number/` does.
//! Read next: `primitive/complex.rs`.

use super::argument::{complex_at, integer_at, number_at, string_at};
use super::cost;
use super::{Context, PrimitiveError};
use crate::heap::{Heap, Kind, Spent};
use crate::number::{Complex, Number, NumberError};
use crate::value::Value;

primitives! {
    /// Returns whether the argument is a number.
    "number?" "object" [1, 1] free => is_number;

    /// Returns whether the argument is a complex number; all numbers are.
    "complex?" "object" [1, 1] free => is_number;

    /// Returns whether the argument is a real number: one whose imaginary part is the exact 0.
    "real?" "object" [1, 1] (cost::linear) => |context, arguments| ask(context, arguments, |_| true);

    /// Returns whether the argument is a rational number: one that is neither infinite nor a NaN.
    "rational?" "object" [1, 1] (cost::linear) => |context, arguments| ask(context, arguments, Number::is_rational);

    /// Returns whether the argument is an integer of either exactness.
    "integer?" "object" [1, 1] (cost::linear) => |context, arguments| ask(context, arguments, Number::is_integer);

    /// Returns whether the argument is an exact integer.
    "exact-integer?" "object" [1, 1] free => |context, arguments| {
        let is_exact = arguments[0].is_fixnum() || context.heap.is_kind(arguments[0], Kind::Bignum);
        Ok(Value::boolean(is_exact))
    };

    /// Returns whether the number is exact.
    /// Fails with `wrong-type` if the argument is not a number.
    "exact?" "number" [1, 1] (cost::linear) => |context, arguments| {
        if arguments[0].is_fixnum() {
            return Ok(Value::TRUE);
        }
        test_any(context, arguments, Complex::is_exact)
    };

    /// Returns whether the number is inexact.
    /// Fails with `wrong-type` if the argument is not a number.
    "inexact?" "number" [1, 1] (cost::linear) => |context, arguments| {
        test_any(context, arguments, |number| !number.is_exact())
    };

    /// Returns whether neither part of the number is infinite or a NaN.
    /// Fails with `wrong-type` if the argument is not a number.
    "finite?" "number" [1, 1] (cost::linear) => |context, arguments| test_any(context, arguments, Complex::is_finite);

    /// Returns whether a part of the number is an infinity of either sign.
    /// Fails with `wrong-type` if the argument is not a number.
    "infinite?" "number" [1, 1] (cost::linear) => |context, arguments| {
        test_any(context, arguments, Complex::is_infinite)
    };

    /// Returns whether a part of the number is a NaN.
    /// Fails with `wrong-type` if the argument is not a number.
    "nan?" "number" [1, 1] (cost::linear) => |context, arguments| test_any(context, arguments, Complex::is_nan);

    /// Returns whether the number is zero, of either exactness.
    /// Fails with `wrong-type` if the argument is not a number.
    "zero?" "number" [1, 1] (cost::linear) => |context, arguments| test_any(context, arguments, Complex::is_zero);

    /// Returns whether the number is greater than zero.
    /// Fails with `wrong-type` if the argument is not a real number.
    "positive?" "number" [1, 1] (cost::linear) => |context, arguments| match arguments[0].as_fixnum() {
        Some(integer) => Ok(Value::boolean(integer > 0)),
        None => test(context, arguments, Number::is_positive),
    };

    /// Returns whether the number is less than zero.
    /// Fails with `wrong-type` if the argument is not a real number.
    "negative?" "number" [1, 1] (cost::linear) => |context, arguments| match arguments[0].as_fixnum() {
        Some(integer) => Ok(Value::boolean(integer < 0)),
        None => test(context, arguments, Number::is_negative),
    };

    /// Returns the absolute value.
    /// Fails with `wrong-type` if the argument is not a real number.
    "abs" "number" [1, 1] (cost::linear) => |context, arguments| match arguments[0].as_fixnum() {
        Some(integer) => Ok(context.heap.integer(integer.abs())?),
        None => map_with_floats(context, arguments, libm::fabs, Number::abs),
    };

    /// Returns the number times itself.
    /// Fails with `wrong-type` if the argument is not a number, with `arithmetic` if an exact
    /// result is too long.
    "square" "number" [1, 1] (cost::squared) => |context, arguments| {
        match arguments[0].as_fixnum().and_then(|integer| integer.checked_mul(integer)) {
            Some(square) => Ok(context.heap.integer(square)?),
            None => try_map_any(context, arguments, Number::square, Complex::square),
        }
    };

    /// Returns the numerator of the number in lowest terms.
    /// Fails with `wrong-type` if the argument is not a real number, with `arithmetic` if it is
    /// infinite or a NaN.
    "numerator" "number" [1, 1] (cost::unfolded) => |context, arguments| try_map(context, arguments, Number::numerator);

    /// Returns the denominator of the number in lowest terms, which is positive.
    /// Fails with `wrong-type` if the argument is not a real number, with `arithmetic` if it is
    /// infinite or a NaN.
    "denominator" "number" [1, 1] (cost::unfolded) => |context, arguments| {
        try_map(context, arguments, Number::denominator)
    };

    /// Returns the greatest integer not above the number, with the same exactness.
    /// Fails with `wrong-type` if the argument is not a real number.
    "floor" "number" [1, 1] (cost::rounding) => |context, arguments| {
        round(context, arguments, libm::floor, Number::floor)
    };

    /// Returns the least integer not below the number, with the same exactness.
    /// Fails with `wrong-type` if the argument is not a real number.
    "ceiling" "number" [1, 1] (cost::rounding) => |context, arguments| {
        round(context, arguments, libm::ceil, Number::ceiling)
    };

    /// Returns the integer part of the number, with the same exactness.
    /// Fails with `wrong-type` if the argument is not a real number.
    "truncate" "number" [1, 1] (cost::rounding) => |context, arguments| {
        round(context, arguments, libm::trunc, Number::truncate)
    };

    /// Returns the integer nearest to the number, with the same exactness; the even one of two
    /// equally near.
    /// Fails with `wrong-type` if the argument is not a real number.
    "round" "number" [1, 1] (cost::rounding) => |context, arguments| {
        round(context, arguments, libm::roundeven, Number::round)
    };

    /// Returns the simplest rational number that differs from `number` by at most `tolerance`.
    /// Fails with `wrong-type` if an argument is not a real number, with `arithmetic` if the search
    /// would take too long.
    "rationalize" "number tolerance" [2, 2] (cost::simplest) => |context, arguments| {
        let (number, tolerance) = (number_at(context.heap, arguments, 0)?, number_at(context.heap, arguments, 1)?);
        let simplest = number.rationalize(&tolerance)?;
        Ok(context.heap.number(&simplest)?)
    };

    /// Returns the exact number of the same value.
    /// Fails with `wrong-type` if the argument is not a number, with `arithmetic` if it is infinite
    /// or a NaN.
    "exact" "number" [1, 1] (cost::unfolded) => exact;

    /// Returns the same as `exact`, its newer name.
    /// Fails with `wrong-type` if the argument is not a number, with `arithmetic` if it is infinite
    /// or a NaN.
    "inexact->exact" "number" [1, 1] (cost::unfolded) => exact;

    /// Returns the inexact number nearest to the number.
    /// Fails with `wrong-type` if the argument is not a number.
    "inexact" "number" [1, 1] (cost::linear) => |context, arguments| {
        map_any(context, arguments, Number::inexact, Complex::inexact)
    };

    /// Returns the same as `inexact`, its newer name.
    /// Fails with `wrong-type` if the argument is not a number.
    "exact->inexact" "number" [1, 1] (cost::linear) => |context, arguments| {
        map_any(context, arguments, Number::inexact, Complex::inexact)
    };

    /// Makes a string that `string->number` reads as the same number, in `radix` from 2 to 36
    /// (default 10).
    /// Fails with `wrong-type` if the arguments are not a number and an exact integer, with
    /// `out-of-range` if the radix is not from 2 to 36.
    "number->string" "number [radix]" [1, 2] (cost::digits) => |context, arguments| {
        let heap = &*context.heap;
        let text = match heap.as_number(arguments[0]) {
            Some(number) => {
                let goes_on = || !heap.is_stop_wanted();
                let text = number.to_string_while(radix_at(heap, arguments)?, &goes_on);
                text.ok_or(Spent)?
            }
            None => complex_at(heap, arguments, 0)?.to_string_radix(radix_at(heap, arguments)?),
        };
        Ok(context.heap.string(&text)?)
    };

    /// Reads a number in `radix` from 2 to 36 (default 10), which a prefix in the string overrides;
    /// returns `#f` if the string is not a number, or an exact one with parts of more than 2097152
    /// bits.
    /// Fails with `wrong-type` if the arguments are not a string and an exact integer, with
    /// `out-of-range` if the radix is not from 2 to 36.
    "string->number" "string [radix]" [1, 2] counted => |context, arguments| {
        let string = string_at(context.heap, arguments, 0)?;
        let radix = radix_at(context.heap, arguments)?;
        context.heap.spend(1 + cost::all_characters(context.heap, &arguments[..1]))?;
        let text = context.heap.string_text(string);
        context.heap.spend(cost::parsing(&text, radix))?;
        match Complex::parse(&text, radix) {
            Some(number) => {
                let number = context.heap.complex(&number)?;
                // An exponent makes a long integer of a short text.
                context.heap.charge(cost::of_power(cost::limbs(context.heap, number)));
                Ok(number)
            }
            None => Ok(Value::FALSE),
        }
    };
}

fn is_number(context: &mut Context<'_>, arguments: &[Value]) -> Result<Value, PrimitiveError> {
    Ok(Value::boolean(context.heap.is_number(arguments[0])))
}

/// Returns whether the argument, any object, is a real number that satisfies the predicate.
fn ask(context: &Context<'_>, arguments: &[Value], predicate: fn(&Number) -> bool) -> Result<Value, PrimitiveError> {
    if arguments[0].is_fixnum() {
        // Each predicate holds of all integers.
        return Ok(Value::TRUE);
    }
    let number = context.heap.as_number(arguments[0]);
    Ok(Value::boolean(number.is_some_and(|number| predicate(&number))))
}

/// Returns whether the argument, a real number, satisfies the predicate.
fn test(context: &Context<'_>, arguments: &[Value], predicate: fn(&Number) -> bool) -> Result<Value, PrimitiveError> {
    Ok(Value::boolean(predicate(&number_at(context.heap, arguments, 0)?)))
}

/// Returns whether the argument, any number, satisfies the predicate.
fn test_any(
    context: &Context<'_>,
    arguments: &[Value],
    predicate: fn(&Complex) -> bool,
) -> Result<Value, PrimitiveError> {
    Ok(Value::boolean(predicate(&complex_at(context.heap, arguments, 0)?)))
}

/// The exact number of the same value.
fn exact(context: &mut Context<'_>, arguments: &[Value]) -> Result<Value, PrimitiveError> {
    let number = arguments[0];
    if number.is_fixnum() {
        return Ok(number);
    }
    if let Some(float) = number.as_flonum()
        && libm::fabs(float) < EXACT_FLOATS
        && libm::trunc(float) == float
    {
        return Ok(context.heap.integer(float as i64)?);
    }
    try_map_any(context, arguments, Number::exact, Complex::exact)
}

/// All integers below it in magnitude are flonums.
const EXACT_FLOATS: f64 = 9_007_199_254_740_992.0;

/// Applies a function that rounds to the argument, a real number; `of_floats` is the same function.
fn round(
    context: &mut Context<'_>,
    arguments: &[Value],
    of_floats: fn(f64) -> f64,
    function: fn(&Number) -> Number,
) -> Result<Value, PrimitiveError> {
    if arguments[0].is_fixnum() {
        return Ok(arguments[0]);
    }
    map_with_floats(context, arguments, of_floats, function)
}

/// Applies a function to the argument, a real number; `of_floats` is the same function.
fn map_with_floats(
    context: &mut Context<'_>,
    arguments: &[Value],
    of_floats: fn(f64) -> f64,
    function: fn(&Number) -> Number,
) -> Result<Value, PrimitiveError> {
    match arguments[0].as_flonum() {
        Some(float) => Ok(context.heap.flonum(of_floats(float))?),
        None => map(context, arguments, function),
    }
}

/// Applies a function to the argument, a real number.
fn map(
    context: &mut Context<'_>,
    arguments: &[Value],
    function: fn(&Number) -> Number,
) -> Result<Value, PrimitiveError> {
    let result = function(&number_at(context.heap, arguments, 0)?);
    Ok(context.heap.number(&result)?)
}

/// Applies a function that may fail to the argument, a real number.
fn try_map(
    context: &mut Context<'_>,
    arguments: &[Value],
    function: fn(&Number) -> Result<Number, NumberError>,
) -> Result<Value, PrimitiveError> {
    let result = function(&number_at(context.heap, arguments, 0)?)?;
    Ok(context.heap.number(&result)?)
}

/// Applies a function to the argument, a number: `real` on the real line, `plane` off it.
pub(super) fn map_any(
    context: &mut Context<'_>,
    arguments: &[Value],
    real: fn(&Number) -> Number,
    plane: fn(&Complex) -> Complex,
) -> Result<Value, PrimitiveError> {
    match context.heap.as_number(arguments[0]) {
        Some(number) => Ok(context.heap.number(&real(&number))?),
        None => {
            let result = plane(&complex_at(context.heap, arguments, 0)?);
            Ok(context.heap.complex(&result)?)
        }
    }
}

/// Applies a function that may fail to the argument, a number: `real` where it has a real result,
/// else `plane`.
pub(super) fn try_map_any(
    context: &mut Context<'_>,
    arguments: &[Value],
    real: fn(&Number) -> Result<Number, NumberError>,
    plane: fn(&Complex) -> Result<Complex, NumberError>,
) -> Result<Value, PrimitiveError> {
    match context.heap.as_number(arguments[0]).map(|number| real(&number)) {
        Some(Ok(result)) => Ok(context.heap.number(&result)?),
        Some(Err(error)) if error != NumberError::NotReal => Err(error.into()),
        Some(Err(_)) | None => {
            let result = plane(&complex_at(context.heap, arguments, 0)?)?;
            Ok(context.heap.complex(&result)?)
        }
    }
}

/// Returns the radix in the optional argument 1.
fn radix_at(heap: &Heap, arguments: &[Value]) -> Result<u32, PrimitiveError> {
    if arguments.len() < 2 {
        return Ok(10);
    }
    match integer_at(heap, arguments, 1, 36)? {
        0 | 1 => Err(PrimitiveError::OutOfRange { argument: 1 }),
        radix => Ok(radix as u32),
    }
}
