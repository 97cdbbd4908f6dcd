//! What is done with flonums alone, and answers a flonum or a NaN whatever the arguments.
//!
//! INVARIANT: every function is computed by `libm`, the same on every machine; none leaves the real line.
//! What makes sense for other numbers too is in `primitive/arithmetic.rs` and `primitive/numeric.rs`. Read next: `stdlib/srfi/144.sld`.
//!
//! Source: SRFI 144.

use super::argument::wrong_type;
use super::{Context, Failure};
use crate::heap::{Flags, Heap, Kind};
use crate::value::Value;

primitives! {
    /// The flonum next to `x` on the way to `y`. Fails with `wrong-type` if an argument is not a flonum.
    "fladjacent" "x y" [2, 2] => |context, arguments| of_two(context, arguments, libm::nextafter);

    /// The flonum with the magnitude of `x` and the sign of `y`. Fails with `wrong-type` if an argument is not a flonum.
    "flcopysign" "x y" [2, 2] => |context, arguments| of_two(context, arguments, libm::copysign);

    /// The flonum nearest to `x` times two to the power of `n`. Fails with `wrong-type` if the arguments are not a flonum and an exact integer.
    "make-flonum" "x n" [2, 2] => |context, arguments| {
        let (x, n) = (flonum_at(context.heap, arguments, 0)?, exponent_at(context.heap, arguments, 1)?);
        Ok(context.heap.flonum(libm::scalbn(x, n))?)
    };

    /// Two values: a fraction between a half and one, of the sign of `x`, and the power of two by which it is `x`. Fails with `wrong-type` if the argument is not a flonum.
    "flnormalized-fraction-exponent" "x" [1, 1] => |context, arguments| {
        let (fraction, exponent) = libm::frexp(flonum_at(context.heap, arguments, 0)?);
        with_integer(context, fraction, exponent)
    };

    /// The sign of `x` as a bit: 1 for a minus sign, which zeros and NaNs can have too, otherwise 0. Fails with `wrong-type` if the argument is not a flonum.
    "flsign-bit" "x" [1, 1] => |context, arguments| {
        Ok(Value::small(flonum_at(context.heap, arguments, 0)?.is_sign_negative().into()))
    };

    /// `x` times `y` plus `z`, rounded once. Fails with `wrong-type` if an argument is not a flonum.
    "fl+*" "x y z" [3, 3] => |context, arguments| {
        let [x, y, z] = [0, 1, 2].map(|argument| flonum_at(context.heap, arguments, argument));
        Ok(context.heap.flonum(libm::fma(x?, y?, z?))?)
    };

    /// Two to the power of `x`. Fails with `wrong-type` if the argument is not a flonum.
    "flexp2" "x" [1, 1] => |context, arguments| of_one(context, arguments, libm::exp2);

    /// `e` to the power of `x`, minus 1, exact to the last places near zero too. Fails with `wrong-type` if the argument is not a flonum.
    "flexp-1" "x" [1, 1] => |context, arguments| of_one(context, arguments, libm::expm1);

    /// The square root of `x`. Fails with `wrong-type` if the argument is not a flonum.
    "flsqrt" "x" [1, 1] => |context, arguments| of_one(context, arguments, libm::sqrt);

    /// The cube root of `x`. Fails with `wrong-type` if the argument is not a flonum.
    "flcbrt" "x" [1, 1] => |context, arguments| of_one(context, arguments, libm::cbrt);

    /// The length of the hypotenuse over `x` and `y`. Fails with `wrong-type` if an argument is not a flonum.
    "flhypot" "x y" [2, 2] => |context, arguments| of_two(context, arguments, libm::hypot);

    /// `x` to the power of `y`. Fails with `wrong-type` if an argument is not a flonum.
    "flexpt" "x y" [2, 2] => |context, arguments| of_two(context, arguments, libm::pow);

    /// The natural logarithm of `x`. Fails with `wrong-type` if the argument is not a flonum.
    "fllog" "x" [1, 1] => |context, arguments| of_one(context, arguments, libm::log);

    /// The natural logarithm of 1 plus `x`, exact to the last places near zero too. Fails with `wrong-type` if the argument is not a flonum.
    "fllog1+" "x" [1, 1] => |context, arguments| of_one(context, arguments, libm::log1p);

    /// The logarithm of `x` by base 2. Fails with `wrong-type` if the argument is not a flonum.
    "fllog2" "x" [1, 1] => |context, arguments| of_one(context, arguments, libm::log2);

    /// The logarithm of `x` by base 10. Fails with `wrong-type` if the argument is not a flonum.
    "fllog10" "x" [1, 1] => |context, arguments| of_one(context, arguments, libm::log10);

    /// The angle whose sine is `x`. Fails with `wrong-type` if the argument is not a flonum.
    "flasin" "x" [1, 1] => |context, arguments| of_one(context, arguments, libm::asin);

    /// The angle whose cosine is `x`. Fails with `wrong-type` if the argument is not a flonum.
    "flacos" "x" [1, 1] => |context, arguments| of_one(context, arguments, libm::acos);

    /// The hyperbolic sine of `x`. Fails with `wrong-type` if the argument is not a flonum.
    "flsinh" "x" [1, 1] => |context, arguments| of_one(context, arguments, libm::sinh);

    /// The hyperbolic cosine of `x`. Fails with `wrong-type` if the argument is not a flonum.
    "flcosh" "x" [1, 1] => |context, arguments| of_one(context, arguments, libm::cosh);

    /// The hyperbolic tangent of `x`. Fails with `wrong-type` if the argument is not a flonum.
    "fltanh" "x" [1, 1] => |context, arguments| of_one(context, arguments, libm::tanh);

    /// The number whose hyperbolic sine is `x`. Fails with `wrong-type` if the argument is not a flonum.
    "flasinh" "x" [1, 1] => |context, arguments| of_one(context, arguments, libm::asinh);

    /// The number whose hyperbolic cosine is `x`. Fails with `wrong-type` if the argument is not a flonum.
    "flacosh" "x" [1, 1] => |context, arguments| of_one(context, arguments, libm::acosh);

    /// The number whose hyperbolic tangent is `x`. Fails with `wrong-type` if the argument is not a flonum.
    "flatanh" "x" [1, 1] => |context, arguments| of_one(context, arguments, libm::atanh);

    /// What is left of `x` after the greatest integer number of times `y`, with the sign of `x`. Fails with `wrong-type` if an argument is not a flonum.
    "flremainder" "x y" [2, 2] => |context, arguments| of_two(context, arguments, libm::fmod);

    /// Two values: what is left of `x` after the nearest integer number of times `y`, and at least the last three bits of that number, with its sign. Fails with `wrong-type` if an argument is not a flonum.
    "flremquo" "x y" [2, 2] => |context, arguments| {
        let (x, y) = (flonum_at(context.heap, arguments, 0)?, flonum_at(context.heap, arguments, 1)?);
        let (remainder, quotient) = libm::remquo(x, y);
        with_integer(context, remainder, quotient)
    };

    /// The gamma function of `x`. Fails with `wrong-type` if the argument is not a flonum.
    "flgamma" "x" [1, 1] => |context, arguments| of_one(context, arguments, libm::tgamma);

    /// Two values: the natural logarithm of the magnitude of the gamma function of `x`, and its sign, 1.0 or −1.0. Fails with `wrong-type` if the argument is not a flonum.
    "flloggamma" "x" [1, 1] => |context, arguments| {
        let (logarithm, sign) = libm::lgamma_r(flonum_at(context.heap, arguments, 0)?);
        let sign = context.heap.flonum(if sign < 0 { -1.0 } else { 1.0 })?;
        let logarithm = context.heap.flonum(logarithm)?;
        Ok(context.heap.make(Kind::Values, &[logarithm, sign])?)
    };

    /// The Bessel function of the first kind and order `n` of `x`. Fails with `wrong-type` if the arguments are not an exact integer and a flonum, with `out-of-range` if the order is beyond 10,000.
    "flfirst-bessel" "n x" [2, 2] => |context, arguments| {
        let (n, x) = (order_at(context.heap, arguments, 0)?, flonum_at(context.heap, arguments, 1)?);
        Ok(context.heap.flonum(libm::jn(n, x))?)
    };

    /// The Bessel function of the second kind and order `n` of `x`. Fails with `wrong-type` if the arguments are not an exact integer and a flonum, with `out-of-range` if the order is beyond 10,000.
    "flsecond-bessel" "n x" [2, 2] => |context, arguments| {
        let (n, x) = (order_at(context.heap, arguments, 0)?, flonum_at(context.heap, arguments, 1)?);
        Ok(context.heap.flonum(libm::yn(n, x))?)
    };

    /// The error function of `x`. Fails with `wrong-type` if the argument is not a flonum.
    "flerf" "x" [1, 1] => |context, arguments| of_one(context, arguments, libm::erf);

    /// One minus the error function of `x`, exact to the last places where that is small too. Fails with `wrong-type` if the argument is not a flonum.
    "flerfc" "x" [1, 1] => |context, arguments| of_one(context, arguments, libm::erfc);
}

/// The argument, which must be an inexact real number.
fn flonum_at(heap: &Heap, arguments: &[Value], argument: usize) -> Result<f64, Failure> {
    heap.as_flonum(arguments[argument])
        .ok_or(wrong_type(argument, "an inexact real number"))
}

/// The argument, which must be an exact integer; from some thousands on a power of two leads to zero or beyond all flonums, however great it is.
fn exponent_at(heap: &Heap, arguments: &[Value], argument: usize) -> Result<i32, Failure> {
    const MOST: i64 = 10_000;
    let value = arguments[argument];
    match value.as_fixnum() {
        Some(exponent) => Ok(exponent.clamp(-MOST, MOST) as i32),
        None if heap.is_kind(value, Kind::Bignum) && heap.flags(value).has(Flags::NEGATIVE) => Ok(-MOST as i32),
        None if heap.is_kind(value, Kind::Bignum) => Ok(MOST as i32),
        None => Err(wrong_type(argument, "an exact integer")),
    }
}

/// The argument, which must be an exact integer that is the order of a Bessel function; computing one takes steps in proportion to its order.
fn order_at(heap: &Heap, arguments: &[Value], argument: usize) -> Result<i32, Failure> {
    const MOST: i64 = 10_000;
    let value = arguments[argument];
    match value.as_fixnum() {
        Some(order) if (-MOST..=MOST).contains(&order) => Ok(order as i32),
        Some(_) => Err(Failure::OutOfRange { argument }),
        None if heap.is_kind(value, Kind::Bignum) => Err(Failure::OutOfRange { argument }),
        None => Err(wrong_type(argument, "an exact integer")),
    }
}

fn of_one(context: &mut Context<'_>, arguments: &[Value], function: fn(f64) -> f64) -> Result<Value, Failure> {
    let x = flonum_at(context.heap, arguments, 0)?;
    Ok(context.heap.flonum(function(x))?)
}

fn of_two(context: &mut Context<'_>, arguments: &[Value], function: fn(f64, f64) -> f64) -> Result<Value, Failure> {
    let (x, y) = (
        flonum_at(context.heap, arguments, 0)?,
        flonum_at(context.heap, arguments, 1)?,
    );
    Ok(context.heap.flonum(function(x, y))?)
}

/// A flonum and an integer as two values.
fn with_integer(context: &mut Context<'_>, flonum: f64, integer: i32) -> Result<Value, Failure> {
    let flonum = context.heap.flonum(flonum)?;
    Ok(context.heap.make(Kind::Values, &[flonum, Value::small(integer)])?)
}
