//! What primitives cost, in units of fuel, besides their calls.
//!
//! Owns one function for each way in which work grows with the operands. A unit is about as much
//! work as a call, a few dozen to a few hundred instructions of the processor, so small operands
//! cost nothing.
//! INVARIANT: a cost depends on the operands' values alone, so that a turn costs the same whatever
//! the storage, the optimiser and the tier.
//! It does not count what a walk finds on its way; `heap/charge.rs` does.
//! Read next: `heap/charge.rs`.

pub(crate) use crate::heap::rate::{BYTES, CHARACTERS, CONVERTED, ELEMENTS, PAIRS, digits_of, limbs, linear_in};
use crate::heap::rate::{LIMB_STEPS, product_steps, square};
use crate::heap::{Heap, Kind, Spent};
use crate::number::MAX_BITS;
use crate::value::Value;

/// What a primitive costs.
#[derive(Clone, Copy, Debug)]
pub enum Cost {
    /// Nothing: its work has a small bound.
    Free,
    /// It charges while it works, because only the work shows how long it is.
    Counted,
    /// The fuel that follows from its operands, whatever they are; checked before it works.
    Operands(fn(&Heap, &[Value]) -> u64),
}

impl Cost {
    /// Charges the cost that the operands show before the work; fails if there is no fuel for it.
    #[inline(always)]
    pub(crate) fn spend(self, heap: &Heap, arguments: &[Value]) -> Result<(), Spent> {
        match self {
            Cost::Free | Cost::Counted => Ok(()),
            Cost::Operands(fuel) => match fuel(heap, arguments) {
                0 => Ok(()),
                fuel => heap.spend(fuel),
            },
        }
    }
}

/// The cost of reading a datum, however short it is.
pub(super) const OF_READING: u64 = 4;
/// The cost of a new ratio, however short its parts are.
const RATIO: u64 = 3;
/// The cost of the shortest digits of a flonum, and of the two parts of a ratio.
const DIGITS_OF_FLONUM: u64 = 3;
/// Words that are copied or filled for a unit.
const WORDS: u64 = 32;
/// Characters that are converted for a unit.
const CONVERSIONS: u64 = 4;

/// Returns the number of elements of a string, vector, bytevector or record, or of characters of a
/// name.
fn size(heap: &Heap, value: Value) -> u64 {
    let length = match heap.kind_of(value) {
        Some(Kind::String | Kind::Symbol) => heap.string_length(value),
        Some(Kind::Vector | Kind::Bytevector | Kind::Record) => heap.object_length(value),
        Some(Kind::Dictionary | Kind::Set) => heap.table_places(value),
        Some(_) | None => 0,
    };
    length as u64
}

fn sizes(heap: &Heap, values: &[Value]) -> u64 {
    values.iter().map(|value| size(heap, *value)).sum()
}

/// Returns how many elements of argument `object` the optional arguments from `first` on select.
fn span(heap: &Heap, arguments: &[Value], object: usize, first: usize) -> u64 {
    let length = size(heap, arguments[object]);
    let index = |argument: usize, default: u64| {
        let index = arguments.get(argument).and_then(|index| index.as_fixnum());
        index.map_or(default, |index| u64::try_from(index).unwrap_or(0).min(length))
    };
    index(first + 1, length).saturating_sub(index(first, 0))
}

/// Returns the count in the first argument, as far as the memory could hold as many words.
fn count(heap: &Heap, arguments: &[Value]) -> u64 {
    let count = arguments[0].as_fixnum().and_then(|count| u64::try_from(count).ok());
    count.unwrap_or(0).min(heap.words_max() as u64)
}

/// Declares costs `name = units, "what they are for";`.
macro_rules! costs {
    ($($name:ident($heap:ident, $arguments:ident) = $fuel:expr, $documentation:literal;)*) => {
        $(#[doc = $documentation]
        pub(super) fn $name($heap: &Heap, $arguments: &[Value]) -> u64 {
            $fuel
        })*
    };
}

costs! {
    arguments(_heap, arguments) = arguments.len() as u64 / CHARACTERS, "Looking at each argument.";
    new_words(heap, arguments) = count(heap, arguments) / WORDS, "As many new words as the first argument says.";
    new_bytes(heap, arguments) = count(heap, arguments) / BYTES, "As many new bytes as the first argument says.";
    new_pairs(heap, arguments) = count(heap, arguments) / (2 * PAIRS), "As many new pairs as the first argument says.";
    numbers(heap, arguments) = iota(heap, arguments), "As many numbers in a list.";
    words(heap, arguments) = span(heap, arguments, 0, 1) / WORDS, "Copying a range of the first argument's words.";
    words_filled(heap, arguments) = span(heap, arguments, 0, 2) / WORDS, "Filling a range of its words.";
    words_copied(heap, arguments) = span(heap, arguments, 2, 3) / WORDS, "Copying a range of the third one's words.";
    all_words(heap, arguments) = sizes(heap, arguments) / WORDS, "Copying the words of all arguments.";
    bytes(heap, arguments) = span(heap, arguments, 0, 1) / BYTES, "Copying a range of the first argument's bytes.";
    bytes_filled(heap, arguments) = span(heap, arguments, 0, 2) / BYTES, "Filling a range of its bytes.";
    bytes_copied(heap, arguments) = span(heap, arguments, 2, 3) / BYTES, "Copying a range of the third one's bytes.";
    all_bytes(heap, arguments) = sizes(heap, arguments) / BYTES, "Copying or comparing the bytes of all arguments.";
    characters(heap, arguments) = span(heap, arguments, 0, 1) / CHARACTERS, "A range of its characters, one by one.";
    converted(heap, arguments) = sizes(heap, arguments) / CONVERSIONS, "Converting the characters of all arguments.";
    characters_set(heap, arguments) = span(heap, arguments, 0, 2) / CONVERSIONS, "Filling a range of characters.";
    all_characters(heap, arguments) = sizes(heap, arguments) / CHARACTERS, "All arguments' characters, one by one.";
    listed(heap, arguments) = span(heap, arguments, 0, 1) / PAIRS, "A list of a range of the first argument.";
    entries(heap, arguments) = size(heap, arguments[0]), "Copying a table.";
    linear(heap, arguments) = conversion(heap, arguments), "Converting numbers.";
    comparison(heap, arguments) = ordering(heap, arguments), "Comparing numbers.";
    squared(heap, arguments) = multiplication(heap, arguments[0], arguments[0]), "A number times itself.";
    quotient(heap, arguments) = division(heap, arguments[0], arguments[1]), "A division.";
    rounding(heap, arguments) = parts_division(heap, arguments[0]), "The division of a ratio's parts.";
    root(heap, arguments) = square_root(heap, arguments[0]), "A root.";
    simplest(heap, arguments) = 12 + square(limbs_of(heap, arguments)) * 8 / LIMB_STEPS, "A continued fraction.";
    power(heap, arguments) = exponentiation(heap, arguments), "A power.";
    digits(heap, arguments) = written(heap, arguments), "The digits of a number.";
    shifted(heap, arguments) = shift(heap, arguments), "A shift.";
    order(_heap, arguments) = bessel(arguments), "A recurrence of as many steps as the first argument says.";
}

fn limbs_of(heap: &Heap, numbers: &[Value]) -> u64 {
    numbers.iter().map(|number| limbs(heap, *number)).sum()
}

/// Whether a ratio is part of the number.
fn has_ratio(heap: &Heap, number: Value) -> bool {
    if !number.is_object() {
        return false;
    }
    match heap.kind_of(number) {
        Some(Kind::Ratio) => true,
        Some(Kind::Complex) => (0..2).any(|part| heap.is_kind(heap.field(number, part), Kind::Ratio)),
        Some(_) | None => false,
    }
}

/// Returns the fuel of making numbers of values; a ratio has two.
fn conversion(heap: &Heap, numbers: &[Value]) -> u64 {
    let ratios = numbers.iter().filter(|number| has_ratio(heap, **number)).count();
    linear_in(limbs_of(heap, numbers)) + ratios as u64
}

/// Returns the steps of a common divisor.
fn divisor_steps(a: u64, b: u64) -> u64 {
    let (short, long) = (a.min(b), a.max(b));
    (long - short).saturating_mul(short) + 8 * square(short) + 128 * short
}

/// Returns the fuel of reducing a ratio with parts of these lengths.
fn reduction(a: u64, b: u64) -> u64 {
    divisor_steps(a, b) / LIMB_STEPS
}

/// Returns the fuel of a sum or a difference.
pub(crate) fn addition(heap: &Heap, a: Value, b: Value) -> u64 {
    if !a.is_object() && !b.is_object() {
        return 0;
    }
    let total = linear(heap, &[a, b]);
    if has_ratio(heap, a) || has_ratio(heap, b) {
        return total + rational(heap, a, b);
    }
    total
}

/// Returns the fuel of a product.
pub(crate) fn multiplication(heap: &Heap, a: Value, b: Value) -> u64 {
    if !a.is_object() && !b.is_object() {
        return 0;
    }
    if has_ratio(heap, a) || has_ratio(heap, b) {
        return linear(heap, &[a, b]) + rational(heap, a, b);
    }
    let (length_a, length_b) = (limbs(heap, a), limbs(heap, b));
    linear(heap, &[a, b]) * 2 + product_steps(length_a, length_b) / LIMB_STEPS
}

/// Returns the fuel of a quotient that may be a ratio.
pub(crate) fn ratio(heap: &Heap, a: Value, b: Value) -> u64 {
    if let (Some(a), Some(b)) = (a.as_fixnum(), b.as_fixnum()) {
        return if b != 0 && a % b != 0 { RATIO } else { 0 };
    }
    if has_ratio(heap, a) || has_ratio(heap, b) {
        return linear(heap, &[a, b]) + rational(heap, a, b);
    }
    let (length_a, length_b) = (limbs(heap, a), limbs(heap, b));
    let division = length_a.saturating_sub(length_b) * length_b / LIMB_STEPS;
    RATIO + linear(heap, &[a, b]) + division + reduction(length_a, length_b)
}

/// Returns the fuel of an operation on ratios: products of their parts, and the reduction.
fn rational(heap: &Heap, a: Value, b: Value) -> u64 {
    let (length_a, length_b) = (limbs(heap, a), limbs(heap, b));
    let length = length_a + length_b;
    RATIO + product_steps(length_a, length_b) / LIMB_STEPS + reduction(length / 2, length / 2)
}

/// Returns the fuel of an integer's division.
pub(crate) fn division(heap: &Heap, a: Value, b: Value) -> u64 {
    if !a.is_object() && !b.is_object() {
        return 0;
    }
    let (length_a, length_b) = (limbs(heap, a), limbs(heap, b));
    let steps = if length_a < length_b {
        0
    } else {
        (length_a - length_b + 1) * length_b
    };
    linear(heap, &[a, b]) + steps / LIMB_STEPS
}

fn parts_division(heap: &Heap, number: Value) -> u64 {
    if heap.is_kind(number, Kind::Ratio) {
        division(heap, heap.field(number, 0), heap.field(number, 1))
    } else {
        linear_in(limbs(heap, number))
    }
}

/// Returns the fuel of a common divisor of integers of these lengths.
pub(super) fn divisor(a: u64, b: u64) -> u64 {
    linear_in(a + b) + reduction(a, b)
}

fn ordering(heap: &Heap, numbers: &[Value]) -> u64 {
    if numbers.iter().all(|number| !number.is_object()) {
        return 0;
    }
    let products: u64 = numbers
        .windows(2)
        .filter(|pair| has_ratio(heap, pair[0]) || has_ratio(heap, pair[1]))
        .map(|pair| product_steps(limbs(heap, pair[0]), limbs(heap, pair[1])) / LIMB_STEPS)
        .sum();
    linear(heap, numbers) + products
}

/// Returns the fuel of an exact power: that of its last square, and of those before it.
fn exponentiation(heap: &Heap, arguments: &[Value]) -> u64 {
    let Some(exponent) = arguments[1].as_fixnum() else {
        return linear(heap, arguments) + square_root(heap, arguments[0]);
    };
    let bits = match arguments[0].as_fixnum() {
        Some(base) => u64::from(i64::BITS - base.unsigned_abs().leading_zeros()),
        None => limbs(heap, arguments[0]) * 64,
    };
    let bits = bits.saturating_mul(exponent.unsigned_abs());
    if bits > 4 * MAX_BITS {
        return linear(heap, arguments);
    }
    let length = bits / 64;
    linear_in(length) + product_steps(length / 2, length / 2) * 2 / LIMB_STEPS
}

/// Returns the fuel of writing a number in the radix of the second argument, if there is one.
fn written(heap: &Heap, arguments: &[Value]) -> u64 {
    let limbs = limbs(heap, arguments[0]);
    if has_ratio(heap, arguments[0]) {
        return DIGITS_OF_FLONUM + digits_of(limbs);
    }
    if limbs == 0 && !arguments[0].is_fixnum() {
        return DIGITS_OF_FLONUM;
    }
    match arguments.get(1).and_then(|radix| radix.as_fixnum()) {
        Some(2 | 4 | 8 | 16 | 32) => linear_in(limbs * 16),
        Some(_) | None => digits_of(limbs),
    }
}

/// Returns the fuel of the root of a number; that of an exact one takes some divisions.
fn square_root(heap: &Heap, number: Value) -> u64 {
    let length = limbs(heap, number);
    if !number.is_fixnum() && length == 0 {
        return 0;
    }
    4 + linear_in(length) + product_steps(length, length) / LIMB_STEPS
}

fn shift(heap: &Heap, arguments: &[Value]) -> u64 {
    let count = arguments[1].as_fixnum().unwrap_or(0).clamp(0, MAX_BITS as i64) as u64;
    linear_in(limbs(heap, arguments[0]) + count / 64)
}

fn iota(heap: &Heap, arguments: &[Value]) -> u64 {
    let count = count(heap, arguments);
    let (start, step) = match arguments {
        [_, start, step] => (*start, *step),
        [_, start] => (*start, Value::small(1)),
        _ => return count / PAIRS,
    };
    let each = multiplication(heap, step, step) + addition(heap, start, step);
    count / 2 + count.saturating_mul(each)
}

fn bessel(arguments: &[Value]) -> u64 {
    arguments[0].as_fixnum().map_or(0, i64::unsigned_abs).min(1 << 31) / ELEMENTS
}
