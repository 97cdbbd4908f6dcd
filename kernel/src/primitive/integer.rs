//! Integers: division with remainder, common divisors, roots, and bits.
//!
//! INVARIANT: division accepts integers of either exactness; operations on bits accept only exact
//! ones, as infinite two's complement.
//! It does not compute; `number/` does.
//! Read next: `primitive/numeric.rs`.

use num_integer::Integer;

use super::argument::{number_at, wrong_type};
use super::arithmetic::fold_fixnums;
use super::cost;
use super::{Context, PrimitiveError};
use crate::heap::{Heap, Kind};
use crate::number::limbs::{self, Division};
use crate::number::{Number, NumberError};
use crate::value::Value;

primitives! {
    /// Returns the quotient of two integers, rounded towards zero.
    /// Fails with `wrong-type` if an argument is not an integer, with `divide-by-zero` if the
    /// divisor is zero.
    "quotient" "integer divisor" [2, 2] counted => |context, arguments| {
        quotient(context.heap, arguments[0], arguments[1])
    };

    /// Returns the remainder of two integers, with the sign of the first.
    /// Fails with `wrong-type` if an argument is not an integer, with `divide-by-zero` if the
    /// divisor is zero.
    "remainder" "integer divisor" [2, 2] counted => |context, arguments| {
        remainder(context.heap, arguments[0], arguments[1])
    };

    /// Returns the remainder of two integers, with the sign of the second.
    /// Fails with `wrong-type` if an argument is not an integer, with `divide-by-zero` if the
    /// divisor is zero.
    "modulo" "integer divisor" [2, 2] counted => modulo;

    /// Returns the same as `quotient`.
    /// Fails with `wrong-type` if an argument is not an integer, with `divide-by-zero` if the
    /// divisor is zero.
    "truncate-quotient" "integer divisor" [2, 2] counted => |context, arguments| {
        quotient(context.heap, arguments[0], arguments[1])
    };

    /// Returns the same as `remainder`.
    /// Fails with `wrong-type` if an argument is not an integer, with `divide-by-zero` if the
    /// divisor is zero.
    "truncate-remainder" "integer divisor" [2, 2] counted => |context, arguments| {
        remainder(context.heap, arguments[0], arguments[1])
    };

    /// Returns the quotient of two integers, rounded down.
    /// Fails with `wrong-type` if an argument is not an integer, with `divide-by-zero` if the
    /// divisor is zero.
    "floor-quotient" "integer divisor" [2, 2] counted => |context, arguments| {
        general(
            context.heap,
            [arguments[0], arguments[1]],
            Division::FloorQuotient,
            Number::floor_quotient,
        )
    };

    /// Returns the same as `modulo`.
    /// Fails with `wrong-type` if an argument is not an integer, with `divide-by-zero` if the
    /// divisor is zero.
    "floor-remainder" "integer divisor" [2, 2] counted => modulo;

    /// Returns two values: the quotient of two integers, rounded towards zero, and the remainder.
    /// Fails with `wrong-type` if an argument is not an integer, with `divide-by-zero` if the
    /// divisor is zero.
    "truncate/" "integer divisor" [2, 2] (cost::quotient) => |context, arguments| {
        if let (Some(a), Some(b)) = (arguments[0].as_fixnum(), arguments[1].as_fixnum().filter(|b| *b != 0)) {
            return two_integers(context, a / b, a % b);
        }
        let (dividend, divisor) = (whole_at(context.heap, arguments, 0)?, whole_at(context.heap, arguments, 1)?);
        two_values(context, dividend.truncate_division(&divisor)?)
    };

    /// Returns two values: the quotient of two integers, rounded down, and the remainder.
    /// Fails with `wrong-type` if an argument is not an integer, with `divide-by-zero` if the
    /// divisor is zero.
    "floor/" "integer divisor" [2, 2] (cost::quotient) => |context, arguments| {
        if let (Some(a), Some(b)) = (arguments[0].as_fixnum(), arguments[1].as_fixnum().filter(|b| *b != 0)) {
            let is_opposite = a % b != 0 && (a < 0) != (b < 0);
            let (below, rest) = if is_opposite { (1, b) } else { (0, 0) };
            return two_integers(context, a / b - below, a % b + rest);
        }
        let (dividend, divisor) = (whole_at(context.heap, arguments, 0)?, whole_at(context.heap, arguments, 1)?);
        two_values(context, dividend.floor_division(&divisor)?)
    };

    /// Returns the greatest common divisor of the integers, 0 if there are none; never negative.
    /// Fails with `wrong-type` if an argument is not an integer, with `arithmetic` if two of them
    /// have more than 524288 bits each.
    "gcd" "integer …" [0, _] counted => |context, arguments| {
        fold(context, arguments, Number::Fixnum(0), Some(Integer::gcd), Number::gcd)
    };

    /// Returns the least common multiple of the integers, 1 if there are none; never negative.
    /// Fails with `wrong-type` if an argument is not an integer, with `arithmetic` if two of them
    /// have more than 524288 bits each, or the result more than 2097152.
    "lcm" "integer …" [0, _] counted => |context, arguments| {
        fold(context, arguments, Number::Fixnum(1), None, Number::lcm)
    };

    /// Returns two values: the greatest exact integer whose square is not above `k`, and the
    /// difference to `k`.
    /// Fails with `wrong-type` if the argument is not an exact integer, with `out-of-range` if it
    /// is negative.
    "exact-integer-sqrt" "k" [1, 1] (cost::root) => |context, arguments| match exact_at(context.heap, arguments, 0)? {
        negative if negative.is_negative() => Err(PrimitiveError::OutOfRange { argument: 0 }),
        square => two_values(context, square.exact_integer_sqrt()?),
    };

    /// Returns whether the integer is odd.
    /// Fails with `wrong-type` if the argument is not an integer.
    "odd?" "integer" [1, 1] (cost::linear) => |context, arguments| {
        Ok(Value::boolean(whole_at(context.heap, arguments, 0)?.is_odd()?))
    };

    /// Returns whether the integer is even.
    /// Fails with `wrong-type` if the argument is not an integer.
    "even?" "integer" [1, 1] (cost::linear) => |context, arguments| {
        Ok(Value::boolean(whole_at(context.heap, arguments, 0)?.is_even()?))
    };

    /// Returns the integer whose bits are set in all arguments, −1 if there are none.
    /// Fails with `wrong-type` if an argument is not an exact integer.
    "bitwise-and" "integer …" [0, _] counted => |context, arguments| {
        AND.apply(context, arguments)
    };

    /// Returns the integer whose bits are set in at least one argument, 0 if there are none.
    /// Fails with `wrong-type` if an argument is not an exact integer.
    "bitwise-ior" "integer …" [0, _] counted => |context, arguments| {
        OR.apply(context, arguments)
    };

    /// Returns the integer whose bits are set in an odd number of arguments, 0 if there are none.
    /// Fails with `wrong-type` if an argument is not an exact integer.
    "bitwise-xor" "integer …" [0, _] counted => |context, arguments| {
        EXCLUSIVE_OR.apply(context, arguments)
    };

    /// Returns the integer with all bits inverted.
    /// Fails with `wrong-type` if the argument is not an exact integer.
    "bitwise-not" "integer" [1, 1] (cost::linear) => |context, arguments| {
        if let Some(integer) = arguments[0].as_fixnum() {
            return Ok(context.heap.integer(!integer)?);
        }
        let inverse = exact_at(context.heap, arguments, 0)?.bitwise_not()?;
        Ok(context.heap.number(&inverse)?)
    };

    /// Returns the integer times 2 to the power of `count`, rounded down.
    /// Fails with `wrong-type` if an argument is not an exact integer, with `arithmetic` if the
    /// result is too long.
    "arithmetic-shift" "integer count" [2, 2] (cost::shifted) => |context, arguments| {
        if let Some(shifted) = shifted_fixnum(arguments[0], arguments[1]) {
            return Ok(context.heap.integer(shifted)?);
        }
        let (number, count) = (exact_at(context.heap, arguments, 0)?, exact_at(context.heap, arguments, 1)?);
        let shifted = number.arithmetic_shift(&count)?;
        Ok(context.heap.number(&shifted)?)
    };

    /// Returns the number of bits that differ from the sign.
    /// Fails with `wrong-type` if the argument is not an exact integer.
    "bit-count" "integer" [1, 1] (cost::linear) => |context, arguments| {
        Ok(Value::length(exact_at(context.heap, arguments, 0)?.bit_count()? as usize))
    };

    /// Returns the number of bits that an integer needs besides its sign.
    /// Fails with `wrong-type` if the argument is not an exact integer.
    "integer-length" "integer" [1, 1] (cost::linear) => |context, arguments| {
        Ok(Value::length(exact_at(context.heap, arguments, 0)?.integer_length()? as usize))
    };
}

/// Returns the quotient of two integers, rounded towards zero.
///
/// # Errors
/// [`PrimitiveError::WrongType`], in which the integers are arguments 0 and 1;
/// [`PrimitiveError::Arithmetic`];
/// [`PrimitiveError::HeapFull`].
#[inline]
pub(crate) fn quotient(heap: &mut Heap, a: Value, b: Value) -> Result<Value, PrimitiveError> {
    match (a.as_fixnum(), b.as_fixnum()) {
        // Cannot overflow: the least fixnum ÷ −1 is a 64-bit integer.
        (Some(a), Some(b)) if b != 0 => Ok(heap.integer(a / b)?),
        _ => general(heap, [a, b], Division::Quotient, Number::quotient),
    }
}

/// Returns the remainder of two integers, with the sign of the first.
///
/// # Errors
/// As [`quotient`].
#[inline]
pub(crate) fn remainder(heap: &mut Heap, a: Value, b: Value) -> Result<Value, PrimitiveError> {
    match (a.as_fixnum(), b.as_fixnum()) {
        (Some(a), Some(b)) if b != 0 => Ok(heap.integer(a % b)?),
        _ => general(heap, [a, b], Division::Remainder, Number::remainder),
    }
}

fn modulo(context: &mut Context<'_>, arguments: &[Value]) -> Result<Value, PrimitiveError> {
    match (arguments[0].as_fixnum(), arguments[1].as_fixnum()) {
        (Some(a), Some(b)) if b != 0 => {
            let remainder = a % b;
            let is_opposite = remainder != 0 && (remainder < 0) != (b < 0);
            Ok(context.heap.integer(remainder + if is_opposite { b } else { 0 })?)
        }
        _ => general(
            context.heap,
            [arguments[0], arguments[1]],
            Division::Modulo,
            Number::modulo,
        ),
    }
}

#[inline(never)]
fn general(
    heap: &mut Heap,
    operands: [Value; 2],
    division: Division,
    operation: fn(&Number, &Number) -> Result<Number, NumberError>,
) -> Result<Value, PrimitiveError> {
    heap.spend(cost::division(heap, operands[0], operands[1]))?;
    if operands[1] != Value::ZERO
        && let Some(result) = heap.by_limbs(&operands, |a, b, scratch| Some(limbs::divide(a, b, division, scratch)))
    {
        return Ok(result?);
    }
    let result = operation(&whole_at(heap, &operands, 0)?, &whole_at(heap, &operands, 1)?)?;
    Ok(heap.number(&result)?)
}

/// Returns the argument, which must be an integer of either exactness.
fn whole_at(heap: &Heap, arguments: &[Value], argument: usize) -> Result<Number, PrimitiveError> {
    number_at(heap, arguments, argument)
        .ok()
        .filter(Number::is_integer)
        .ok_or(wrong_type(argument, "an integer"))
}

/// Returns the argument, which must be an exact integer.
fn exact_at(heap: &Heap, arguments: &[Value], argument: usize) -> Result<Number, PrimitiveError> {
    if arguments[argument].is_fixnum() || heap.is_kind(arguments[argument], Kind::Bignum) {
        number_at(heap, arguments, argument)
    } else {
        Err(wrong_type(argument, "an exact integer"))
    }
}

/// Returns two values, which 64 bits can hold.
fn two_integers(context: &mut Context<'_>, first: i64, second: i64) -> Result<Value, PrimitiveError> {
    let values = [context.heap.integer(first)?, context.heap.integer(second)?];
    Ok(context.heap.make(Kind::Values, &values)?)
}

fn two_values(context: &mut Context<'_>, numbers: (Number, Number)) -> Result<Value, PrimitiveError> {
    let values = [context.heap.number(&numbers.0)?, context.heap.number(&numbers.1)?];
    Ok(context.heap.make(Kind::Values, &values)?)
}

/// The cost of a common divisor or multiple of short integers.
const OF_DIVISOR: u64 = 3;

fn fold(
    context: &mut Context<'_>,
    arguments: &[Value],
    neutral: Number,
    of_fixnums: Option<fn(&i64, &i64) -> i64>,
    operation: fn(&Number, &Number) -> Result<Number, NumberError>,
) -> Result<Value, PrimitiveError> {
    let mut result = neutral;
    for argument in 0..arguments.len() {
        if let (Number::Fixnum(divisor), Some(other)) = (&result, arguments[argument].as_fixnum())
            && let Some(of_fixnums) = of_fixnums
        {
            context.heap.spend(OF_DIVISOR)?;
            result = Number::from_i64(of_fixnums(divisor, &other));
            continue;
        }
        let length = cost::limbs(context.heap, arguments[argument]);
        context.heap.spend(OF_DIVISOR + cost::divisor(result.limbs(), length))?;
        result = operation(&result, &whole_at(context.heap, arguments, argument)?)?;
    }
    Ok(context.heap.number(&result)?)
}

/// The fixnum times 2 to the power of the count, rounded down; `None` if either is no short integer
/// or the product has more than 64 bits.
fn shifted_fixnum(number: Value, count: Value) -> Option<i64> {
    let (number, count) = (number.as_fixnum()?, count.as_fixnum()?);
    if count <= 0 {
        return Some(number >> count.unsigned_abs().min(63));
    }
    let factor = u32::try_from(count).ok().filter(|count| *count < 63)?;
    number.checked_mul(1 << factor)
}

/// An operation on the bits of integers.
struct Bitwise {
    neutral: i64,
    of_fixnums: fn(i64, i64) -> i64,
    operation: fn(&Number, &Number) -> Result<Number, NumberError>,
}

const AND: Bitwise = Bitwise {
    neutral: -1,
    of_fixnums: |a, b| a & b,
    operation: Number::bitwise_and,
};
const OR: Bitwise = Bitwise {
    neutral: 0,
    of_fixnums: |a, b| a | b,
    operation: Number::bitwise_or,
};
const EXCLUSIVE_OR: Bitwise = Bitwise {
    neutral: 0,
    of_fixnums: |a, b| a ^ b,
    operation: Number::bitwise_xor,
};

impl Bitwise {
    fn apply(&self, context: &mut Context<'_>, arguments: &[Value]) -> Result<Value, PrimitiveError> {
        if let Some(joined) = fold_fixnums(arguments, self.of_fixnums) {
            return Ok(context.heap.integer(joined)?);
        }
        let mut result = Number::Fixnum(self.neutral);
        for argument in 0..arguments.len() {
            let length = cost::limbs(context.heap, arguments[argument]);
            context.heap.spend(cost::linear_in(result.limbs() + length))?;
            result = (self.operation)(&result, &exact_at(context.heap, arguments, argument)?)?;
        }
        Ok(context.heap.number(&result)?)
    }
}
