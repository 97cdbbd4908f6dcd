//! The four operations and numerical order.
//!
//! Pairs of fixnums and of immediate flonums have fast paths; other real numbers become a
//! [`Number`], and the rest a [`Complex`].
//! INVARIANT: the fast paths give the results of the general path.
//! It does not divide integers with remainder.
//! Read next: `primitive/integer.rs`.

use std::cmp::Ordering;

use super::argument::{complex_at, number_at, wrong_type};
use super::{Context, PrimitiveError, cost};
use crate::heap::Heap;
use crate::number::limbs;
use crate::number::{Complex, Number, NumberError, ShortRatio};
use crate::value::Value;

primitives! {
    /// Returns the sum of the numbers, 0 if there are none.
    /// Fails with `wrong-type` if an argument is not a number, with `arithmetic` if an exact result
    /// is too long.
    "+" "number …" [0, _] counted => |context, arguments| match arguments {
        [a, b] => add(context.heap, *a, *b),
        _ => accumulate(context.heap, arguments, Value::ZERO, add),
    };

    /// Returns the product of the numbers, 1 if there are none.
    /// Fails with `wrong-type` if an argument is not a number, with `arithmetic` if an exact result
    /// is too long.
    "*" "number …" [0, _] counted => |context, arguments| match arguments {
        [a, b] => multiply(context.heap, *a, *b),
        _ => accumulate(context.heap, arguments, Value::small(1), multiply),
    };

    /// Returns the first number minus all the others; with one argument, its negation.
    /// Fails with `wrong-type` if an argument is not a number, with `arithmetic` if an exact result
    /// is too long.
    "-" "number₁ number₂ …" [1, _] counted => |context, arguments| match arguments {
        [a, b] => subtract(context.heap, *a, *b),
        [_] => negate(context, arguments),
        _ => accumulate(context.heap, arguments, Value::ZERO, subtract),
    };

    /// Returns the first number divided by all the others; with one argument, its reciprocal. Exact
    /// numbers have an exact quotient.
    /// Fails with `wrong-type` if an argument is not a number, with `divide-by-zero` if a divisor
    /// is an exact zero, with `arithmetic` if an exact result is too long.
    "/" "number₁ number₂ …" [1, _] counted => |context, arguments| match arguments {
        [a, b] => divide(context.heap, *a, *b),
        [_] => reciprocal(context, arguments),
        _ => accumulate(context.heap, arguments, Value::small(1), divide),
    };

    /// Returns whether all numbers have the same value, whatever their exactness.
    /// Fails with `wrong-type` if an argument is not a number.
    "=" "number₁ number₂ …" [1, _] counted => |context, arguments| ordered(context.heap, arguments, is_equal);

    /// Returns whether the numbers increase.
    /// Fails with `wrong-type` if an argument is not a real number.
    "<" "number₁ number₂ …" [1, _] counted => |context, arguments| ordered(context.heap, arguments, is_less);

    /// Returns whether the numbers decrease.
    /// Fails with `wrong-type` if an argument is not a real number.
    ">" "number₁ number₂ …" [1, _] counted => |context, arguments| ordered(context.heap, arguments, is_greater);

    /// Returns whether the numbers never decrease.
    /// Fails with `wrong-type` if an argument is not a real number.
    "<=" "number₁ number₂ …" [1, _] counted => |context, arguments| ordered(context.heap, arguments, is_at_most);

    /// Returns whether the numbers never increase.
    /// Fails with `wrong-type` if an argument is not a real number.
    ">=" "number₁ number₂ …" [1, _] counted => |context, arguments| ordered(context.heap, arguments, is_at_least);

    /// Returns the greatest of the numbers, inexact if one of them is.
    /// Fails with `wrong-type` if an argument is not a real number.
    "max" "number₁ number₂ …" [1, _] (cost::comparison) => |context, arguments| {
        extreme(context, arguments, i64::max, Number::max)
    };

    /// Returns the least of the numbers, inexact if one of them is.
    /// Fails with `wrong-type` if an argument is not a real number.
    "min" "number₁ number₂ …" [1, _] (cost::comparison) => |context, arguments| {
        extreme(context, arguments, i64::min, Number::min)
    };
}

/// Returns the sum of two numbers.
///
/// # Errors
/// [`PrimitiveError::WrongType`], in which the numbers are arguments 0 and 1;
/// [`PrimitiveError::Arithmetic`];
/// [`PrimitiveError::HeapFull`].
#[inline]
pub(crate) fn add(heap: &mut Heap, a: Value, b: Value) -> Result<Value, PrimitiveError> {
    match (a.as_fixnum(), b.as_fixnum()) {
        // The sum of two fixnums cannot overflow 64 bits.
        (Some(a), Some(b)) => Ok(heap.integer(a + b)?),
        _ => by_floats(heap, a, b, |a, b| a + b, &ADDITION),
    }
}

/// Returns the difference of two numbers.
///
/// # Errors
/// As [`add`].
#[inline]
pub(crate) fn subtract(heap: &mut Heap, a: Value, b: Value) -> Result<Value, PrimitiveError> {
    match (a.as_fixnum(), b.as_fixnum()) {
        (Some(a), Some(b)) => Ok(heap.integer(a - b)?),
        _ => by_floats(heap, a, b, |a, b| a - b, &SUBTRACTION),
    }
}

/// Returns the product of two numbers.
///
/// # Errors
/// As [`add`].
#[inline]
pub(crate) fn multiply(heap: &mut Heap, a: Value, b: Value) -> Result<Value, PrimitiveError> {
    let product = match (a.as_fixnum(), b.as_fixnum()) {
        (Some(a), Some(b)) => a.checked_mul(b),
        _ => None,
    };
    match product {
        Some(product) => Ok(heap.integer(product)?),
        None => by_floats(heap, a, b, |a, b| a * b, &MULTIPLICATION),
    }
}

/// Returns the quotient of two numbers.
///
/// # Errors
/// As [`add`].
#[inline]
pub(crate) fn divide(heap: &mut Heap, a: Value, b: Value) -> Result<Value, PrimitiveError> {
    if b == Value::ZERO {
        return by_numbers(heap, &[a, b], &DIVISION);
    }
    by_floats(heap, a, b, |a, b| a / b, &DIVISION)
}

/// A predicate on two numbers.
///
/// # Errors
/// [`PrimitiveError::WrongType`], in which the numbers are arguments 0 and 1.
pub(crate) type Comparison = fn(&Heap, Value, Value) -> Result<bool, PrimitiveError>;

/// Returns whether two numbers have the same value; a [`Comparison`].
pub(crate) fn is_equal(heap: &Heap, a: Value, b: Value) -> Result<bool, PrimitiveError> {
    match compare(heap, a, b) {
        Ok(order) => Ok(order.is_some_and(Ordering::is_eq)),
        Err(_) => Ok(complex_at(heap, &[a, b], 0)?.equals(&complex_at(heap, &[a, b], 1)?)),
    }
}

/// Returns whether the first real number is less than the second; a [`Comparison`].
pub(crate) fn is_less(heap: &Heap, a: Value, b: Value) -> Result<bool, PrimitiveError> {
    Ok(compare(heap, a, b)?.is_some_and(Ordering::is_lt))
}

/// Returns whether the first real number is greater than the second; a [`Comparison`].
pub(crate) fn is_greater(heap: &Heap, a: Value, b: Value) -> Result<bool, PrimitiveError> {
    Ok(compare(heap, a, b)?.is_some_and(Ordering::is_gt))
}

/// Returns whether the first real number is less than the second or equal; a [`Comparison`].
pub(crate) fn is_at_most(heap: &Heap, a: Value, b: Value) -> Result<bool, PrimitiveError> {
    Ok(compare(heap, a, b)?.is_some_and(Ordering::is_le))
}

/// Returns whether the first real number is greater than the second or equal; a [`Comparison`].
pub(crate) fn is_at_least(heap: &Heap, a: Value, b: Value) -> Result<bool, PrimitiveError> {
    Ok(compare(heap, a, b)?.is_some_and(Ordering::is_ge))
}

/// Returns two numbers as flonums, if one is a flonum and the other a flonum or a fixnum: an
/// operation on them costs nothing.
fn as_flonums(heap: &Heap, a: Value, b: Value) -> Option<[f64; 2]> {
    let flonum = |value: Value| {
        heap.as_flonum(value)
            .or(value.as_fixnum().map(|integer| integer as f64))
    };
    if Value::are_fixnums(a, b) {
        return None;
    }
    Some([flonum(a)?, flonum(b)?])
}

/// Whether a number, if it is a fixnum, is equal to its flonum.
fn is_equal_flonum(number: Value, flonum: f64) -> bool {
    number.as_fixnum().is_none_or(|integer| flonum as i64 == integer)
}

/// Returns the order of two real numbers; nothing if one is a NaN.
#[inline]
fn compare(heap: &Heap, a: Value, b: Value) -> Result<Option<Ordering>, PrimitiveError> {
    if let (Some(a), Some(b)) = (a.as_fixnum(), b.as_fixnum()) {
        return Ok(Some(a.cmp(&b)));
    }
    if let (Some(a), Some(b)) = (a.as_flonum(), b.as_flonum()) {
        return Ok(a.partial_cmp(&b));
    }
    if let Some([flonum_a, flonum_b]) = as_flonums(heap, a, b)
        && [(a, flonum_a), (b, flonum_b)]
            .iter()
            .all(|(value, flonum)| is_equal_flonum(*value, *flonum))
    {
        return Ok(flonum_a.partial_cmp(&flonum_b));
    }
    heap.spend(cost::comparison(heap, &[a, b]))?;
    let (mut fixnum_a, mut fixnum_b) = ([0], [0]);
    if let (Some(a), Some(b)) = (heap.operand(a, &mut fixnum_a), heap.operand(b, &mut fixnum_b)) {
        return Ok(Some(limbs::order(a, b)));
    }
    if let (Some(a), Some(b)) = (heap.as_short_ratio(a), heap.as_short_ratio(b)) {
        return Ok(Some(a.order(b)));
    }
    Ok(number_at(heap, &[a, b], 0)?.compare(&number_at(heap, &[a, b], 1)?))
}

/// An operation on two numbers that are not both immediate.
struct Operation {
    /// The operation on two short integers; `None` if their result is no integer.
    short: Option<limbs::Operation>,
    /// The operation on two exact numbers with short parts; `None` if it has no such result.
    ratio: fn(ShortRatio, ShortRatio) -> Option<ShortRatio>,
    real: fn(&Number, &Number) -> Result<Number, NumberError>,
    complex: fn(&Complex, &Complex) -> Result<Complex, NumberError>,
    cost: fn(&Heap, Value, Value) -> u64,
}

const ADDITION: Operation = Operation {
    short: Some(|a, b, scratch| Some(limbs::sum(a, b, scratch))),
    ratio: ShortRatio::sum,
    real: Number::add,
    complex: Complex::add,
    cost: cost::addition,
};

const SUBTRACTION: Operation = Operation {
    short: Some(|a, b, scratch| Some(limbs::difference(a, b, scratch))),
    ratio: ShortRatio::difference,
    real: Number::sub,
    complex: Complex::sub,
    cost: cost::addition,
};

const MULTIPLICATION: Operation = Operation {
    short: Some(limbs::product),
    ratio: ShortRatio::product,
    real: Number::mul,
    complex: Complex::mul,
    cost: cost::multiplication,
};

const DIVISION: Operation = Operation {
    short: None,
    ratio: ShortRatio::quotient,
    real: Number::div,
    complex: Complex::div,
    cost: cost::ratio,
};

#[inline]
fn by_floats(
    heap: &mut Heap,
    a: Value,
    b: Value,
    float: fn(f64, f64) -> f64,
    general: &Operation,
) -> Result<Value, PrimitiveError> {
    if let (Some(a), Some(b)) = (a.as_flonum(), b.as_flonum()) {
        return Ok(heap.flonum(float(a, b))?);
    }
    match as_flonums(heap, a, b) {
        Some([a, b]) => Ok(heap.flonum(float(a, b))?),
        None => by_numbers(heap, &[a, b], general),
    }
}

#[inline(never)]
fn by_numbers(heap: &mut Heap, operands: &[Value; 2], general: &Operation) -> Result<Value, PrimitiveError> {
    heap.spend((general.cost)(heap, operands[0], operands[1]))?;
    if let Some(result) = general.short.and_then(|short| heap.by_limbs(operands, short)) {
        return Ok(result?);
    }
    if let [Some(a), Some(b)] = operands.map(|operand| heap.as_short_ratio(operand))
        && let Some(result) = (general.ratio)(a, b)
    {
        return Ok(heap.short_ratio(result)?);
    }
    match operands.map(|operand| heap.as_number(operand)) {
        [Some(a), Some(b)] => {
            let result = (general.real)(&a, &b)?;
            Ok(heap.number(&result)?)
        }
        _ => by_points(heap, operands, general),
    }
}

#[cold]
fn by_points(heap: &mut Heap, operands: &[Value; 2], general: &Operation) -> Result<Value, PrimitiveError> {
    let result = (general.complex)(&complex_at(heap, operands, 0)?, &complex_at(heap, operands, 1)?)?;
    Ok(heap.complex(&result)?)
}

/// Folds an operation over the numbers from left to right; `nothing` is the result of no arguments.
fn accumulate(
    heap: &mut Heap,
    arguments: &[Value],
    nothing: Value,
    operation: fn(&mut Heap, Value, Value) -> Result<Value, PrimitiveError>,
) -> Result<Value, PrimitiveError> {
    numbers_only(heap, arguments)?;
    let Some((first, others)) = arguments.split_first() else {
        return Ok(nothing);
    };
    others
        .iter()
        .try_fold(*first, |result, next| operation(heap, result, *next))
}

fn numbers_only(heap: &Heap, arguments: &[Value]) -> Result<(), PrimitiveError> {
    match arguments.iter().position(|argument| !heap.is_number(*argument)) {
        Some(argument) => Err(wrong_type(argument, "a number")),
        None => Ok(()),
    }
}

fn negate(context: &mut Context<'_>, arguments: &[Value]) -> Result<Value, PrimitiveError> {
    context.heap.charge(cost::linear(context.heap, arguments));
    let negative = complex_at(context.heap, arguments, 0)?.negate();
    Ok(context.heap.complex(&negative)?)
}

fn reciprocal(context: &mut Context<'_>, arguments: &[Value]) -> Result<Value, PrimitiveError> {
    complex_at(context.heap, arguments, 0)?;
    divide(context.heap, Value::small(1), arguments[0])
}

/// Returns whether every two neighbours satisfy a relation.
fn ordered(heap: &Heap, arguments: &[Value], holds: Comparison) -> Result<Value, PrimitiveError> {
    let truth = match arguments {
        [a, b] => holds(heap, *a, *b)?,
        _ => {
            numbers_only(heap, arguments)?;
            let mut truth = true;
            for neighbours in arguments.windows(2) {
                truth = holds(heap, neighbours[0], neighbours[1])? && truth;
            }
            truth
        }
    };
    Ok(Value::boolean(truth))
}

/// Joins the arguments from the first on, if there are any and all are fixnums.
pub(super) fn fold_fixnums(arguments: &[Value], operation: fn(i64, i64) -> i64) -> Option<i64> {
    let (first, others) = arguments.split_first()?;
    others.iter().try_fold(first.as_fixnum()?, |joined, other| {
        Some(operation(joined, other.as_fixnum()?))
    })
}

fn extreme(
    context: &mut Context<'_>,
    arguments: &[Value],
    choose_short: fn(i64, i64) -> i64,
    choose: fn(&Number, &Number) -> Number,
) -> Result<Value, PrimitiveError> {
    if let Some(chosen) = fold_fixnums(arguments, choose_short) {
        return Ok(context.heap.integer(chosen)?);
    }
    if arguments.len() > 1 && arguments.iter().any(|argument| argument.as_fixnum().is_none()) {
        context.heap.charge(1);
    }
    let mut chosen = number_at(context.heap, arguments, 0)?;
    for argument in 1..arguments.len() {
        chosen = choose(&chosen, &number_at(context.heap, arguments, argument)?);
    }
    Ok(context.heap.number(&chosen)?)
}
