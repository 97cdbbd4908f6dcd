//! Operations on flonums alone, which return a flonum or a NaN whatever the arguments.
//!
//! INVARIANT: every function is the same on every machine, because `libm` or integers compute it;
//! none leaves the real line.
//! It does not contain operations on all numbers, which are in `primitive/arithmetic.rs` and
//! `primitive/numeric.rs`.
//! Read next: `stdlib/srfi/144.sld`.
//!
//! Source: SRFI 144.

use super::argument::wrong_type;
use super::cost;
use super::{Context, PrimitiveError};
use crate::heap::{Flags, Heap, Kind};
use crate::number::flonum_power::power;
use crate::value::Value;

primitives! {
    /// Returns the flonum adjacent to `x` in the direction of `y`.
    /// Fails with `wrong-type` if an argument is not a flonum.
    "fladjacent" "x y" [2, 2] free => |context, arguments| of_two(context, arguments, libm::nextafter);

    /// Returns the flonum with the magnitude of `x` and the sign of `y`.
    /// Fails with `wrong-type` if an argument is not a flonum.
    "flcopysign" "x y" [2, 2] free => |context, arguments| of_two(context, arguments, libm::copysign);

    /// Returns the flonum nearest to `x` times two to the power of `n`.
    /// Fails with `wrong-type` if the arguments are not a flonum and an exact integer.
    "make-flonum" "x n" [2, 2] free => |context, arguments| {
        let (x, n) = (flonum_at(context.heap, arguments, 0)?, exponent_at(context.heap, arguments, 1)?);
        Ok(context.heap.flonum(libm::scalbn(x, n))?)
    };

    /// Returns two values: a fraction from a half to one, with the sign of `x`, and the power of
    /// two that scales it to `x`.
    /// Fails with `wrong-type` if the argument is not a flonum.
    "flnormalized-fraction-exponent" "x" [1, 1] free => |context, arguments| {
        let (fraction, exponent) = libm::frexp(flonum_at(context.heap, arguments, 0)?);
        with_integer(context, fraction, exponent)
    };

    /// Returns the sign bit of `x`: 1 for a minus sign, which zeros and NaNs can also have,
    /// otherwise 0.
    /// Fails with `wrong-type` if the argument is not a flonum.
    "flsign-bit" "x" [1, 1] free => |context, arguments| {
        Ok(Value::small(flonum_at(context.heap, arguments, 0)?.is_sign_negative().into()))
    };

    /// Returns `x` times `y` plus `z`, rounded once.
    /// Fails with `wrong-type` if an argument is not a flonum.
    "fl+*" "x y z" [3, 3] free => |context, arguments| {
        let [x, y, z] = [0, 1, 2].map(|argument| flonum_at(context.heap, arguments, argument));
        Ok(context.heap.flonum(libm::fma(x?, y?, z?))?)
    };

    /// Returns two to the power of `x`.
    /// Fails with `wrong-type` if the argument is not a flonum.
    "flexp2" "x" [1, 1] free => |context, arguments| of_one(context, arguments, libm::exp2);

    /// Returns *e* to the power of `x`, minus 1, accurate also near zero.
    /// Fails with `wrong-type` if the argument is not a flonum.
    "flexp-1" "x" [1, 1] free => |context, arguments| of_one(context, arguments, libm::expm1);

    /// Returns the square root of `x`.
    /// Fails with `wrong-type` if the argument is not a flonum.
    "flsqrt" "x" [1, 1] free => |context, arguments| of_one(context, arguments, libm::sqrt);

    /// Returns the cube root of `x`.
    /// Fails with `wrong-type` if the argument is not a flonum.
    "flcbrt" "x" [1, 1] free => |context, arguments| of_one(context, arguments, libm::cbrt);

    /// Returns the length of the hypotenuse with the legs `x` and `y`.
    /// Fails with `wrong-type` if an argument is not a flonum.
    "flhypot" "x y" [2, 2] free => |context, arguments| of_two(context, arguments, libm::hypot);

    /// Returns `x` to the power of `y`.
    /// Fails with `wrong-type` if an argument is not a flonum.
    "flexpt" "x y" [2, 2] (cost::flonum_power) => |context, arguments| of_two(context, arguments, power);

    /// Returns the natural logarithm of `x`.
    /// Fails with `wrong-type` if the argument is not a flonum.
    "fllog" "x" [1, 1] free => |context, arguments| of_one(context, arguments, libm::log);

    /// Returns the natural logarithm of 1 plus `x`, accurate also near zero.
    /// Fails with `wrong-type` if the argument is not a flonum.
    "fllog1+" "x" [1, 1] free => |context, arguments| of_one(context, arguments, libm::log1p);

    /// Returns the logarithm of `x` to base 2.
    /// Fails with `wrong-type` if the argument is not a flonum.
    "fllog2" "x" [1, 1] free => |context, arguments| of_one(context, arguments, libm::log2);

    /// Returns the logarithm of `x` to base 10.
    /// Fails with `wrong-type` if the argument is not a flonum.
    "fllog10" "x" [1, 1] free => |context, arguments| of_one(context, arguments, libm::log10);

    /// Returns the angle whose sine is `x`.
    /// Fails with `wrong-type` if the argument is not a flonum.
    "flasin" "x" [1, 1] free => |context, arguments| of_one(context, arguments, libm::asin);

    /// Returns the angle whose cosine is `x`.
    /// Fails with `wrong-type` if the argument is not a flonum.
    "flacos" "x" [1, 1] free => |context, arguments| of_one(context, arguments, libm::acos);

    /// Returns the hyperbolic sine of `x`.
    /// Fails with `wrong-type` if the argument is not a flonum.
    "flsinh" "x" [1, 1] free => |context, arguments| of_one(context, arguments, libm::sinh);

    /// Returns the hyperbolic cosine of `x`.
    /// Fails with `wrong-type` if the argument is not a flonum.
    "flcosh" "x" [1, 1] free => |context, arguments| of_one(context, arguments, libm::cosh);

    /// Returns the hyperbolic tangent of `x`.
    /// Fails with `wrong-type` if the argument is not a flonum.
    "fltanh" "x" [1, 1] free => |context, arguments| of_one(context, arguments, libm::tanh);

    /// Returns the number whose hyperbolic sine is `x`.
    /// Fails with `wrong-type` if the argument is not a flonum.
    "flasinh" "x" [1, 1] free => |context, arguments| of_one(context, arguments, libm::asinh);

    /// Returns the number whose hyperbolic cosine is `x`.
    /// Fails with `wrong-type` if the argument is not a flonum.
    "flacosh" "x" [1, 1] free => |context, arguments| of_one(context, arguments, libm::acosh);

    /// Returns the number whose hyperbolic tangent is `x`.
    /// Fails with `wrong-type` if the argument is not a flonum.
    "flatanh" "x" [1, 1] free => |context, arguments| of_one(context, arguments, libm::atanh);

    /// Returns the remainder of `x` divided by `y`, with the quotient truncated, and so with the
    /// sign of `x`.
    /// Fails with `wrong-type` if an argument is not a flonum.
    "flremainder" "x y" [2, 2] free => |context, arguments| of_two(context, arguments, libm::fmod);

    /// Returns two values: the remainder of `x` divided by `y`, with the quotient rounded to the
    /// nearest integer, and at least the last three bits of the quotient, with its sign.
    /// Fails with `wrong-type` if an argument is not a flonum.
    "flremquo" "x y" [2, 2] (cost::periods) => |context, arguments| {
        let (x, y) = (flonum_at(context.heap, arguments, 0)?, flonum_at(context.heap, arguments, 1)?);
        let (remainder, quotient) = libm::remquo(x, y);
        with_integer(context, remainder, quotient)
    };

    /// Returns the gamma function of `x`.
    /// Fails with `wrong-type` if the argument is not a flonum.
    "flgamma" "x" [1, 1] free => |context, arguments| of_one(context, arguments, libm::tgamma);

    /// Returns two values: the natural logarithm of the magnitude of the gamma function of `x`, and
    /// its sign, 1.0 or −1.0.
    /// Fails with `wrong-type` if the argument is not a flonum.
    "flloggamma" "x" [1, 1] free => |context, arguments| {
        let (logarithm, sign) = libm::lgamma_r(flonum_at(context.heap, arguments, 0)?);
        let sign = context.heap.flonum(if sign < 0 { -1.0 } else { 1.0 })?;
        let logarithm = context.heap.flonum(logarithm)?;
        Ok(context.heap.make(Kind::Values, &[logarithm, sign])?)
    };

    /// Returns the Bessel function of the first kind and order `n` of `x`.
    /// Fails with `wrong-type` if the arguments are not an exact integer and a flonum, with
    /// `out-of-range` if the order is beyond 10,000.
    "flfirst-bessel" "n x" [2, 2] (cost::order) => |context, arguments| {
        let (n, x) = (order_at(context.heap, arguments, 0)?, flonum_at(context.heap, arguments, 1)?);
        Ok(context.heap.flonum(libm::jn(n, x))?)
    };

    /// Returns the Bessel function of the second kind and order `n` of `x`.
    /// Fails with `wrong-type` if the arguments are not an exact integer and a flonum, with
    /// `out-of-range` if the order is beyond 10,000.
    "flsecond-bessel" "n x" [2, 2] (cost::growing_order) => |context, arguments| {
        let (n, x) = (order_at(context.heap, arguments, 0)?, flonum_at(context.heap, arguments, 1)?);
        Ok(context.heap.flonum(libm::yn(n, x))?)
    };

    /// Returns the error function of `x`.
    /// Fails with `wrong-type` if the argument is not a flonum.
    "flerf" "x" [1, 1] free => |context, arguments| of_one(context, arguments, libm::erf);

    /// Returns one minus the error function of `x`, accurate also where that is small.
    /// Fails with `wrong-type` if the argument is not a flonum.
    "flerfc" "x" [1, 1] free => |context, arguments| of_one(context, arguments, libm::erfc);
}

/// Returns the argument, which must be an inexact real number.
fn flonum_at(heap: &Heap, arguments: &[Value], argument: usize) -> Result<f64, PrimitiveError> {
    heap.as_flonum(arguments[argument])
        .ok_or(wrong_type(argument, "an inexact real number"))
}

/// Returns the argument, which must be an exact integer, limited to some thousands, beyond which a
/// power of two leads to zero or infinity.
fn exponent_at(heap: &Heap, arguments: &[Value], argument: usize) -> Result<i32, PrimitiveError> {
    const MOST: i64 = 10_000;
    let value = arguments[argument];
    match value.as_fixnum() {
        Some(exponent) => Ok(exponent.clamp(-MOST, MOST) as i32),
        None if heap.is_kind(value, Kind::Bignum) && heap.flags(value).has(Flags::NEGATIVE) => Ok(-MOST as i32),
        None if heap.is_kind(value, Kind::Bignum) => Ok(MOST as i32),
        None => Err(wrong_type(argument, "an exact integer")),
    }
}

/// Returns the argument, which must be an exact integer and small enough for the order of a Bessel
/// function; the number of steps grows with the order.
fn order_at(heap: &Heap, arguments: &[Value], argument: usize) -> Result<i32, PrimitiveError> {
    const MOST: i64 = 10_000;
    let value = arguments[argument];
    match value.as_fixnum() {
        Some(order) if (-MOST..=MOST).contains(&order) => Ok(order as i32),
        Some(_) => Err(PrimitiveError::OutOfRange { argument }),
        None if heap.is_kind(value, Kind::Bignum) => Err(PrimitiveError::OutOfRange { argument }),
        None => Err(wrong_type(argument, "an exact integer")),
    }
}

fn of_one(context: &mut Context<'_>, arguments: &[Value], function: fn(f64) -> f64) -> Result<Value, PrimitiveError> {
    let x = flonum_at(context.heap, arguments, 0)?;
    Ok(context.heap.flonum(function(x))?)
}

fn of_two(
    context: &mut Context<'_>,
    arguments: &[Value],
    function: fn(f64, f64) -> f64,
) -> Result<Value, PrimitiveError> {
    let (x, y) = (
        flonum_at(context.heap, arguments, 0)?,
        flonum_at(context.heap, arguments, 1)?,
    );
    Ok(context.heap.flonum(function(x, y))?)
}

/// Returns a flonum and an integer as two values.
fn with_integer(context: &mut Context<'_>, flonum: f64, integer: i32) -> Result<Value, PrimitiveError> {
    let flonum = context.heap.flonum(flonum)?;
    Ok(context.heap.make(Kind::Values, &[flonum, Value::small(integer)])?)
}
