//! Checks of arguments: one function per expected type, named for its result.
//!
//! INVARIANT: a failed check is a [`PrimitiveError`] that names the argument's position; nothing
//! here allocates in the heap or changes it. It does not contain checks of a single family.
//! Read next: `primitive/pair.rs`.

use super::{PrimitiveError, cost};
use crate::heap::{Heap, Kind};
use crate::number::{Complex, Number};
use crate::value::Value;

/// Returns the failure of an argument that is not `expected`.
pub(crate) fn wrong_type(argument: usize, expected: &'static str) -> PrimitiveError {
    PrimitiveError::WrongType { argument, expected }
}

/// Returns the argument, which must be of `kind`.
pub(super) fn object_at(
    heap: &Heap,
    arguments: &[Value],
    argument: usize,
    kind: Kind,
    expected: &'static str,
) -> Result<Value, PrimitiveError> {
    if heap.is_kind(arguments[argument], kind) {
        Ok(arguments[argument])
    } else {
        Err(wrong_type(argument, expected))
    }
}

#[inline]
pub(super) fn pair_at(arguments: &[Value], argument: usize) -> Result<Value, PrimitiveError> {
    if arguments[argument].is_pair() {
        Ok(arguments[argument])
    } else {
        Err(wrong_type(argument, "a pair"))
    }
}

pub(super) fn string_at(heap: &Heap, arguments: &[Value], argument: usize) -> Result<Value, PrimitiveError> {
    object_at(heap, arguments, argument, Kind::String, "a string")
}

pub(super) fn symbol_at(heap: &Heap, arguments: &[Value], argument: usize) -> Result<Value, PrimitiveError> {
    object_at(heap, arguments, argument, Kind::Symbol, "a symbol")
}

pub(super) fn vector_at(heap: &Heap, arguments: &[Value], argument: usize) -> Result<Value, PrimitiveError> {
    object_at(heap, arguments, argument, Kind::Vector, "a vector")
}

pub(super) fn bytevector_at(heap: &Heap, arguments: &[Value], argument: usize) -> Result<Value, PrimitiveError> {
    object_at(heap, arguments, argument, Kind::Bytevector, "a bytevector")
}

pub(super) fn character_at(arguments: &[Value], argument: usize) -> Result<char, PrimitiveError> {
    arguments[argument]
        .as_character()
        .ok_or(wrong_type(argument, "a character"))
}

/// Returns the argument, which must be a real number.
pub(super) fn number_at(heap: &Heap, arguments: &[Value], argument: usize) -> Result<Number, PrimitiveError> {
    heap.as_number(arguments[argument])
        .ok_or_else(|| not_real(heap, arguments[argument], argument))
}

/// Returns the failure of an argument that is not a real number.
#[cold]
fn not_real(heap: &Heap, value: Value, argument: usize) -> PrimitiveError {
    let expected = if heap.is_number(value) {
        "a real number"
    } else {
        "a number"
    };
    wrong_type(argument, expected)
}

/// Returns the argument, which must be a number, as a point of the plane.
pub(super) fn complex_at(heap: &Heap, arguments: &[Value], argument: usize) -> Result<Complex, PrimitiveError> {
    heap.as_complex(arguments[argument])
        .ok_or(wrong_type(argument, "a number"))
}

/// Checks that the argument, a string, vector or bytevector, is not a literal.
pub(super) fn mutable_at(heap: &Heap, arguments: &[Value], argument: usize) -> Result<(), PrimitiveError> {
    if heap.is_immutable(arguments[argument]) {
        Err(PrimitiveError::Immutable { argument })
    } else {
        Ok(())
    }
}

/// Returns the argument, which must be an exact integer from 0 to `most`.
pub(super) fn integer_at(
    heap: &Heap,
    arguments: &[Value],
    argument: usize,
    most: usize,
) -> Result<usize, PrimitiveError> {
    let value = arguments[argument];
    match value.as_fixnum() {
        Some(integer) => usize::try_from(integer)
            .ok()
            .filter(|integer| *integer <= most)
            .ok_or(PrimitiveError::OutOfRange { argument }),
        None if heap.is_kind(value, Kind::Bignum) => Err(PrimitiveError::OutOfRange { argument }),
        None => Err(wrong_type(argument, "an exact integer")),
    }
}

/// Returns the argument, which must be a non-negative exact integer: a length or a count.
pub(super) fn count_at(heap: &Heap, arguments: &[Value], argument: usize) -> Result<usize, PrimitiveError> {
    integer_at(heap, arguments, argument, usize::MAX)
}

/// Returns the argument, which must be the index of one of `length` elements.
pub(super) fn index_at(
    heap: &Heap,
    arguments: &[Value],
    argument: usize,
    length: usize,
) -> Result<usize, PrimitiveError> {
    match integer_at(heap, arguments, argument, length) {
        Ok(index) if index == length => Err(PrimitiveError::OutOfRange { argument }),
        checked => checked,
    }
}

/// Returns the range of `length` elements that the optional arguments `first` (its start) and
/// `first + 1` (its end) select.
pub(super) fn range_at(
    heap: &Heap,
    arguments: &[Value],
    first: usize,
    length: usize,
) -> Result<std::ops::Range<usize>, PrimitiveError> {
    let start = match arguments.get(first) {
        Some(_) => integer_at(heap, arguments, first, length)?,
        None => 0,
    };
    let end = match arguments.get(first + 1) {
        Some(_) => integer_at(heap, arguments, first + 1, length)?,
        None => length,
    };
    if start > end {
        return Err(PrimitiveError::OutOfRange { argument: first + 1 });
    }
    Ok(start..end)
}

/// The places of a copy's elements: see [`copy_at`].
pub(super) struct Copy {
    /// The index of the first one in the target.
    pub(super) at: usize,
    /// The indices in the source.
    pub(super) from: std::ops::Range<usize>,
}

/// Returns the copy that the arguments `to at from [start [end]]` select, given the lengths of
/// target and source.
pub(super) fn copy_at(
    heap: &Heap,
    arguments: &[Value],
    to_length: usize,
    from_length: usize,
) -> Result<Copy, PrimitiveError> {
    let at = integer_at(heap, arguments, 1, to_length)?;
    let from = range_at(heap, arguments, 3, from_length)?;
    if from.len() > to_length - at {
        return Err(PrimitiveError::OutOfRange { argument: 1 });
    }
    Ok(Copy { at, from })
}

/// Returns the elements of the argument, which must be a proper list.
pub(super) fn list_at(heap: &Heap, arguments: &[Value], argument: usize) -> Result<Vec<Value>, PrimitiveError> {
    let length = list_length(heap, arguments[argument]).ok_or(wrong_type(argument, "a proper list"))?;
    heap.spend(length as u64 / cost::ELEMENTS)?;
    let mut elements = Vec::with_capacity(length);
    let mut rest = arguments[argument];
    while rest.is_pair() {
        elements.push(heap.car(rest));
        rest = heap.cdr(rest);
        if heap.ends_walk(elements.len()) {
            break;
        }
    }
    Ok(elements)
}

/// Returns the number of elements of a proper list; nothing for any other value.
#[inline]
pub(super) fn list_length(heap: &Heap, list: Value) -> Option<usize> {
    // Most lists are shorter than what costs fuel, and then they have no cycle either.
    let (mut rest, mut length) = (list, 0);
    while rest.is_pair() && length < cost::ELEMENTS as usize - 1 {
        rest = heap.cdr(rest);
        length += 1;
    }
    if rest.is_pair() {
        return long_list_length(heap, list);
    }
    (rest == Value::NIL).then_some(length)
}

fn long_list_length(heap: &Heap, list: Value) -> Option<usize> {
    let mut pairs = Pairs::of(list);
    while pairs.next(heap).is_some() {}
    (pairs.rest == Value::NIL).then_some(pairs.passed)
}

/// A walk along the pairs of a chain that also ends in a cycle.
///
/// Source: Brent, "An improved Monte Carlo factorization algorithm", BIT 20 (1980): compare with a
/// mark that moves at doubling distances.
pub(super) struct Pairs {
    /// The rest after the pairs returned so far: at the end, the tail of the chain, or a pair if it
    /// is cyclic.
    pub(super) rest: Value,
    /// The number of pairs returned so far.
    pub(super) passed: usize,
    marked: Value,
    marked_at: usize,
    lap: usize,
}

impl Pairs {
    /// Starts at `chain`.
    pub(super) fn of(chain: Value) -> Pairs {
        Pairs {
            rest: chain,
            passed: 0,
            marked: Value::ABSENT,
            marked_at: 0,
            lap: 1,
        }
    }

    /// Returns the next pair, or nothing at the end of the chain, after a cycle, or when the
    /// computation has to end. Of a cyclic chain every pair is returned at least once.
    #[inline]
    pub(super) fn next(&mut self, heap: &Heap) -> Option<Value> {
        if !self.rest.is_pair() || self.rest == self.marked {
            return None;
        }
        if self.passed == self.marked_at + self.lap {
            self.lap *= 2;
            self.marked = self.rest;
            self.marked_at = self.passed;
        }
        let pair = self.rest;
        self.rest = heap.cdr(pair);
        self.passed += 1;
        // Whoever walks on what is spent would do so in vain; the machine stops soon.
        if self.passed.is_multiple_of(cost::ELEMENTS as usize) && heap.spend(1).is_err() {
            return None;
        }
        Some(pair)
    }

    /// Returns the number of pairs in the cycle, after a walk along a cyclic chain.
    pub(super) fn period(&self) -> usize {
        self.passed - self.marked_at
    }
}
