//! What primitives cost, in units of fuel, besides their calls.
//!
//! Owns one function for each way in which work grows with the operands. A unit is about as much
//! work as a call, a few dozen to a few hundred instructions of the processor, so small operands
//! cost nothing.
//! INVARIANT: a cost depends on the operands' values alone, so that a turn costs the same whatever
//! the storage, the optimiser and the tier.
//! It does not count what a walk finds on its way; `heap/charge.rs` does.
//! Read next: `heap/charge.rs`.

pub(crate) use crate::heap::rate::{
    BYTES, CHARACTERS, CONVERTED, ELEMENTS, PAIRS, decoding, digits_of, limbs, linear_in,
};
use crate::heap::rate::{BYTES_COMPARED, BYTES_FILLED, BYTES_MOVED, LIMB_STEPS, product_steps, square, whole_limbs};
use crate::heap::{Heap, Kind, Spent};
use crate::number::{MAX_BITS, MAX_GCD_BITS};
use crate::value::Value;
use std::ops;

mod flonum;
mod parsing;
mod plane;

use flonum::{bessel, exponent_distance, second_bessel, squares};
pub(super) use parsing::parsing;

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
/// The cost of looking for parts that occur twice, however short an object is.
pub(super) const OF_LABELS: u64 = 2;
/// The cost of a new ratio, however short its parts are.
const RATIO: u64 = 3;
/// The cost of the shortest digits of a flonum, and of the two parts of a ratio.
const DIGITS_OF_FLONUM: u64 = 3;
/// The cost of an operation on complex numbers, however short their parts are.
const COMPLEX: u64 = 4;
/// The cost of comparing an exact number that is no fixnum with a flonum.
const MIXED: u64 = 2;
/// The cost of making a text of another by a walk along its characters, however short it is.
pub(super) const TEXT: u64 = 1;
/// The cost of a new port.
const PORT: u64 = 1;
/// Words that are copied or filled for a unit.
const WORDS: u64 = 32;
/// Words that are moved from one object to another for a unit.
const WORDS_MOVED: u64 = 128;
/// How many times as long it takes to copy a text that has characters beyond ASCII, ...
const WIDE: u64 = 4;
/// ... and to encode it.
const ENCODED: u64 = 8;
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

/// Returns `times` if a range of an object is text with characters beyond ASCII, and 1 otherwise.
fn if_wide(heap: &Heap, value: Value, range: ops::Range<u64>, times: u64) -> u64 {
    let is_text = matches!(heap.kind_of(value), Some(Kind::String | Kind::Symbol));
    if is_text && heap.is_beyond_ascii(value, range.start as usize..range.end as usize) {
        times
    } else {
        1
    }
}

/// Returns the sum of the arguments' sizes; a text beyond ASCII counts `times` times.
#[inline(always)]
fn weights(heap: &Heap, values: &[Value], times: u64) -> u64 {
    let weight = |value: &Value| {
        // Nearly all of them are short texts, so the common case must be quick.
        heap.length_if_narrow(*value).map_or_else(
            || {
                let size = size(heap, *value);
                size * if_wide(heap, *value, 0..size, times)
            },
            |length| length as u64,
        )
    };
    values.iter().map(weight).sum()
}

/// Returns the elements of argument `object` that the optional arguments from `first` on select.
fn selected(heap: &Heap, arguments: &[Value], object: usize, first: usize) -> ops::Range<u64> {
    let length = size(heap, arguments[object]);
    let index = |argument: usize, default: u64| {
        let index = arguments.get(argument).and_then(|index| index.as_fixnum());
        index.map_or(default, |index| u64::try_from(index).unwrap_or(0).min(length))
    };
    let end = index(first + 1, length);
    index(first, 0).min(end)..end
}

/// Returns how many they are.
fn span(heap: &Heap, arguments: &[Value], object: usize, first: usize) -> u64 {
    let range = selected(heap, arguments, object, first);
    range.end - range.start
}

/// An object of which a primitive takes a range, and the first of the arguments that select it.
struct Range {
    object: usize,
    first: usize,
}

const OF_FIRST: Range = Range { object: 0, first: 1 };
const AFTER_FILL: Range = Range { object: 0, first: 2 };
const OF_THIRD: Range = Range { object: 2, first: 3 };

/// Returns how many elements a range has, `times` times if it is of a text beyond ASCII.
fn weight(heap: &Heap, arguments: &[Value], range: Range, times: u64) -> u64 {
    let chosen = selected(heap, arguments, range.object, range.first);
    (chosen.end - chosen.start) * if_wide(heap, arguments[range.object], chosen, times)
}

/// Returns the cost of copying a range of a text.
pub(super) fn copied_text(heap: &Heap, text: Value, range: ops::Range<usize>) -> u64 {
    let range = range.start as u64..range.end as u64;
    (range.end - range.start) * if_wide(heap, text, range, WIDE) / BYTES
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
    new_pairs(heap, arguments) = count(heap, arguments) / (2 * PAIRS), "As many new pairs as the first one says.";
    numbers(heap, arguments) = iota(heap, arguments), "As many numbers in a list.";
    words(heap, arguments) = span(heap, arguments, 0, 1) / WORDS, "Copying a range of the first argument's words.";
    words_filled(heap, arguments) = span(heap, arguments, 0, 2) / WORDS, "Filling a range of its words.";
    words_copied(heap, arguments) = span(heap, arguments, 2, 3) / WORDS_MOVED, "Moving the third one's words.";
    all_words(heap, arguments) = sizes(heap, arguments) / WORDS, "Copying the words of all arguments.";
    bytes(heap, arguments) = weight(heap, arguments, OF_FIRST, WIDE) / BYTES, "Copying a range of its bytes.";
    bytes_filled(heap, arguments) = span(heap, arguments, 0, 2) / BYTES_FILLED, "Filling a range of its bytes.";
    bytes_copied(heap, arguments) = weight(heap, arguments, OF_THIRD, WIDE) / BYTES_MOVED, "Moving its bytes.";
    encoded(heap, arguments) = weight(heap, arguments, OF_FIRST, ENCODED) / BYTES, "Encoding a range of it.";
    written_text(heap, arguments) = weight(heap, arguments, AFTER_FILL, ENCODED) / BYTES, "Writing a range of it.";
    decoded(heap, arguments) = decoded_range(heap, arguments), "Decoding a range of its bytes.";
    all_bytes(heap, arguments) = weights(heap, arguments, WIDE) / BYTES, "Copying the bytes of all arguments.";
    joined(heap, arguments) = TEXT + weights(heap, arguments, WIDE) / BYTES, "Concatenating all arguments.";
    compared(heap, arguments) = sizes(heap, arguments) / BYTES_COMPARED, "Comparing the bytes of all arguments.";
    characters(heap, arguments) = span(heap, arguments, 0, 1) / CHARACTERS, "A range of its characters, one by one.";
    port(_heap, _arguments) = PORT, "A new port.";
    port_of_text(heap, arguments) = PORT + characters(heap, arguments), "A port of all characters.";
    port_of_bytes(heap, arguments) = PORT + all_bytes(heap, arguments), "A port of all bytes.";
    keyword(heap, arguments) = TEXT + all_characters(heap, arguments), "A keyword of a name.";
    converted(heap, arguments) = TEXT + weights(heap, arguments, 5) / CONVERSIONS, "Converting all characters.";
    folded(heap, arguments) = TEXT + weights(heap, arguments, 2) * 2 / CONVERSIONS, "Folding all characters.";
    characters_set(heap, arguments) = span(heap, arguments, 0, 2) / CONVERSIONS, "Filling a range of characters.";
    all_characters(heap, arguments) = weights(heap, arguments, 2) / CHARACTERS, "All characters, one by one.";
    listed(heap, arguments) = span(heap, arguments, 0, 1) / PAIRS, "A list of a range of the first argument.";
    entries(heap, arguments) = size(heap, arguments[0]), "Copying a table.";
    linear(heap, arguments) = conversion(heap, arguments), "Converting numbers.";
    comparison(heap, arguments) = ordering(heap, arguments), "Comparing numbers.";
    squared(heap, arguments) = multiplication(heap, arguments[0], arguments[0]), "A number times itself.";
    distance(heap, arguments) = plane::distance(heap, arguments[0]), "A distance from zero.";
    logarithm(heap, arguments) = plane::logarithms(heap, arguments), "A logarithm, or the quotient of two.";
    wave(heap, arguments) = 1 + conversion(heap, arguments), "A sine, a cosine or a tangent.";
    arc(heap, arguments) = 3 + conversion(heap, arguments), "The inverse of one, which may be complex.";
    unfolded(heap, arguments) = exact_value(heap, arguments), "The exact value.";
    periods(heap, arguments) = exponent_distance(heap, arguments) / 64, "A remainder of flonums, bit by bit.";
    polar(heap, arguments) = 1 + conversion(heap, arguments), "A sine and a cosine.";
    quotient(heap, arguments) = division(heap, arguments[0], arguments[1]), "A division.";
    rounding(heap, arguments) = parts_division(heap, arguments[0]), "The division of a ratio's parts.";
    root(heap, arguments) = square_root(heap, arguments[0]), "A root.";
    exact_root(heap, arguments) = root_if_square(heap, arguments[0]), "A root, or the nearest flonum.";
    simplest(heap, arguments) = continued_fraction(heap, arguments), "A continued fraction.";
    power(heap, arguments) = exponentiation(heap, arguments), "A power.";
    digits(heap, arguments) = written(heap, arguments), "The digits of a number.";
    shifted(heap, arguments) = shift(heap, arguments), "A shift.";
    order(_heap, arguments) = bessel(arguments), "A recurrence of as many steps as the first argument says.";
    flonum_power(heap, arguments) = squares(exponent(heap, arguments[1])), "A power of flonums.";
    growing_order(heap, arguments) = second_bessel(heap, arguments), "The same, until the result is infinite.";
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

/// Returns the fuel of making numbers of values; a ratio and a complex number have two.
fn conversion(heap: &Heap, numbers: &[Value]) -> u64 {
    if numbers.iter().all(|number| !number.is_object()) {
        return 0;
    }
    let pairs = |number: &&Value| has_ratio(heap, **number) || heap.is_kind(**number, Kind::Complex);
    linear_in(limbs_of(heap, numbers)) + 2 * numbers.iter().filter(pairs).count() as u64
}

/// Returns the fuel of the decoding of a range of bytes.
fn decoded_range(heap: &Heap, arguments: &[Value]) -> u64 {
    if !heap.is_kind(arguments[0], Kind::Bytevector) {
        return 0;
    }
    let start = arguments
        .get(1)
        .and_then(|index| index.as_fixnum())
        .and_then(|index| usize::try_from(index).ok());
    let count = span(heap, arguments, 0, 1) as usize;
    let bytes = heap.raw_bytes(arguments[0]).get(start.unwrap_or(0)..).unwrap_or(&[]);
    decoding(&bytes[..count.min(bytes.len())])
}

/// Returns the steps of a common divisor.
fn divisor_steps(a: u64, b: u64) -> u64 {
    let (short, long) = (a.min(b), a.max(b));
    (long - short).saturating_mul(short) + 8 * square(short) + 128 * short
}

/// Returns the fuel of reducing a ratio with parts of these lengths.
fn reduction(a: u64, b: u64) -> u64 {
    if a.min(b) > MAX_GCD_BITS / 64 {
        // It is refused.
        return 0;
    }
    divisor_steps(a, b) / LIMB_STEPS
}

/// Returns the fuel of a sum or a difference.
pub(crate) fn addition(heap: &Heap, a: Value, b: Value) -> u64 {
    if !a.is_object() && !b.is_object() {
        return 0;
    }
    if let [Some(length_a), Some(length_b)] = [a, b].map(|number| whole_limbs(heap, number)) {
        return linear_in(length_a + length_b);
    }
    let total = linear(heap, &[a, b]) + of_points(heap, a, b);
    if has_ratio(heap, a) || has_ratio(heap, b) {
        return total + rational_sum(Parts::of(heap, a), Parts::of(heap, b));
    }
    total
}

/// Returns the surcharge of an operation on a complex number.
fn of_points(heap: &Heap, a: Value, b: Value) -> u64 {
    let is_complex = |number| heap.is_kind(number, Kind::Complex);
    if is_complex(a) || is_complex(b) { COMPLEX } else { 0 }
}

/// Returns the fuel of a product.
pub(crate) fn multiplication(heap: &Heap, a: Value, b: Value) -> u64 {
    if !a.is_object() && !b.is_object() {
        return 0;
    }
    if let [Some(length_a), Some(length_b)] = [a, b].map(|number| whole_limbs(heap, number)) {
        return linear_in(length_a + length_b) * 2 + product_steps(length_a, length_b) / LIMB_STEPS;
    }
    let of_points = of_points(heap, a, b);
    if has_ratio(heap, a) || has_ratio(heap, b) {
        return of_points + linear(heap, &[a, b]) + rational_product(Parts::of(heap, a), Parts::of(heap, b));
    }
    let (length_a, length_b) = (limbs(heap, a), limbs(heap, b));
    of_points + linear(heap, &[a, b]) * 2 + product_steps(length_a, length_b) / LIMB_STEPS
}

/// Returns the fuel of a quotient that may be a ratio.
pub(crate) fn ratio(heap: &Heap, a: Value, b: Value) -> u64 {
    if let (Some(a), Some(b)) = (a.as_fixnum(), b.as_fixnum()) {
        return if b != 0 && a % b != 0 { RATIO } else { 0 };
    }
    let of_points = of_points(heap, a, b);
    if has_ratio(heap, a) || has_ratio(heap, b) {
        let divisor = Parts::of(heap, b);
        let inverse = Parts {
            above: divisor.below,
            below: divisor.above,
        };
        return of_points + linear(heap, &[a, b]) + rational_product(Parts::of(heap, a), inverse);
    }
    let (length_a, length_b) = (limbs(heap, a), limbs(heap, b));
    let division = length_a.saturating_sub(length_b) * length_b / LIMB_STEPS;
    of_points + RATIO + linear(heap, &[a, b]) + division + reduction(length_a, length_b)
}

/// The lengths of a number's numerator and denominator; of a complex number, the greatest ones.
#[derive(Clone, Copy)]
struct Parts {
    above: u64,
    below: u64,
}

impl Parts {
    fn of(heap: &Heap, number: Value) -> Parts {
        let kind = if number.is_object() { heap.kind_of(number) } else { None };
        match kind {
            Some(Kind::Ratio) => Parts {
                above: limbs(heap, heap.field(number, 0)),
                below: limbs(heap, heap.field(number, 1)),
            },
            Some(Kind::Complex) => {
                let [real, imaginary] = [0, 1].map(|part| Parts::of(heap, heap.field(number, part)));
                Parts {
                    above: real.above.max(imaginary.above),
                    below: real.below.max(imaginary.below),
                }
            }
            Some(_) | None => Parts {
                above: limbs(heap, number),
                below: 0,
            },
        }
    }
}

/// Returns the fuel of a product of ratios: the products of their parts, and the reduction.
fn rational_product(a: Parts, b: Parts) -> u64 {
    let products = product_steps(a.above, b.above) + product_steps(a.below, b.below);
    RATIO + products / LIMB_STEPS + reduction(a.above + b.above, a.below + b.below)
}

/// Returns the fuel of a sum of ratios, of which the products of parts take most.
fn rational_sum(a: Parts, b: Parts) -> u64 {
    let products = product_steps(a.above, b.below) + product_steps(b.above, a.below) + product_steps(a.below, b.below);
    let above = (a.above + b.below).max(b.above + a.below);
    RATIO + products / LIMB_STEPS + reduction(above, a.below + b.below)
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
    // Two integers are made, however short they are.
    4 + linear(heap, &[a, b]) + steps / LIMB_STEPS
}

fn parts_division(heap: &Heap, number: Value) -> u64 {
    if !number.is_object() {
        0
    } else if heap.is_kind(number, Kind::Ratio) {
        RATIO + division(heap, heap.field(number, 0), heap.field(number, 1))
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
        .map(|pair| {
            let (a, b) = (Parts::of(heap, pair[0]), Parts::of(heap, pair[1]));
            (product_steps(a.above, b.below) + product_steps(b.above, a.below)) / LIMB_STEPS
        })
        .sum();
    let mixed = if numbers.iter().any(|number| heap.as_flonum(*number).is_some()) {
        MIXED
    } else {
        0
    };
    linear(heap, numbers) + products + mixed
}

/// Returns the fuel of the simplest ratio within a tolerance: the steps are as many as the shorter
/// number allows, each along the longer one. They begin with the two ends of the interval.
fn continued_fraction(heap: &Heap, arguments: &[Value]) -> u64 {
    let [a, b] = [0, 1].map(|place| limbs(heap, arguments[place]) + exponent_limbs(heap, arguments[place]));
    let ends = 2 * addition(heap, arguments[0], arguments[1]);
    16 + ends + (1 + a.min(b)).saturating_mul(a + b) * 16 / LIMB_STEPS
}

/// Returns the binary exponent of a flonum, without its sign; 0 for any other number.
fn exponent(heap: &Heap, number: Value) -> u64 {
    let Some(number) = heap.as_flonum(number).filter(|number| number.is_finite()) else {
        return 0;
    };
    (number.to_bits() >> 52 & 0x7ff).abs_diff(1023)
}

fn exact_value(heap: &Heap, arguments: &[Value]) -> u64 {
    1 + conversion(heap, arguments) + exponent_limbs(heap, arguments[0]) / 4
}

/// Returns the length of the exact value of a flonum, in words of 64 bits; 0 for an ordinary one.
fn exponent_limbs(heap: &Heap, number: Value) -> u64 {
    exponent(heap, number) / 64
}

/// Returns the fuel of an exact power: that of its last square, and of those before it.
fn exponentiation(heap: &Heap, arguments: &[Value]) -> u64 {
    let [base, exponent] = [arguments[0], arguments[1]];
    if [base, exponent]
        .iter()
        .any(|number| heap.is_kind(*number, Kind::Complex))
    {
        return plane::power(heap, base, exponent);
    }
    let of_ratios = if has_ratio(heap, base) { RATIO } else { 0 };
    of_ratios + real_power(heap, arguments)
}

fn real_power(heap: &Heap, arguments: &[Value]) -> u64 {
    let [base, exponent] = [arguments[0], arguments[1]];
    let length = |count: u64| match bits_of(heap, base).saturating_mul(count) {
        // It is refused.
        bits if bits > 4 * MAX_BITS => 0,
        bits => bits / 64,
    };
    if heap.as_flonum(base).is_some() && exponent.is_fixnum() {
        return squares(bits_of(heap, exponent));
    }
    if let Some(count) = exponent.as_fixnum() {
        return linear(heap, arguments) + of_power(length(count.unsigned_abs()));
    }
    let of_root = 2 + linear(heap, arguments) + square_root(heap, base);
    if heap.is_kind(exponent, Kind::Ratio) {
        return of_root + of_power(length(half_count(heap, exponent)));
    }
    of_root
}

/// Returns the exponent of a square root whose power is wanted, over two, if it is half of an
/// integer; else 0.
fn half_count(heap: &Heap, exponent: Value) -> u64 {
    if heap.field(exponent, 1).as_fixnum() != Some(2) {
        return 0;
    }
    heap.field(exponent, 0).as_fixnum().map_or(u64::MAX, i64::unsigned_abs) / 2
}

/// Returns the length of the longest part of an exact number, in bits; that of a flonum is 0.
fn bits_of(heap: &Heap, number: Value) -> u64 {
    if let Some(integer) = number.as_fixnum() {
        return u64::from(i64::BITS - integer.unsigned_abs().leading_zeros());
    }
    if heap.is_kind(number, Kind::Ratio) || heap.is_kind(number, Kind::Complex) {
        let [first, second] = [0, 1].map(|part| bits_of(heap, heap.field(number, part)));
        return first.max(second);
    }
    limbs(heap, number) * 64
}

/// Returns the fuel of a power of this length.
pub(super) fn of_power(length: u64) -> u64 {
    linear_in(length) + product_steps(length / 2, length / 2) * 2 / LIMB_STEPS
}

/// Returns the fuel of writing a number in the radix of the second argument, if there is one.
fn written(heap: &Heap, arguments: &[Value]) -> u64 {
    TEXT + digits_written(heap, arguments)
}

fn digits_written(heap: &Heap, arguments: &[Value]) -> u64 {
    let limbs = limbs(heap, arguments[0]);
    if has_ratio(heap, arguments[0]) {
        return DIGITS_OF_FLONUM + digits_of(limbs);
    }
    if limbs == 0 && !arguments[0].is_fixnum() {
        let is_decimal = arguments.get(1).is_none_or(|radix| radix.as_fixnum() == Some(10));
        let exponent = exponent(heap, arguments[0]);
        let of_digits = if is_decimal { exponent / 128 } else { 8 + exponent };
        return DIGITS_OF_FLONUM + of_digits;
    }
    match arguments.get(1).and_then(|radix| radix.as_fixnum()) {
        Some(2 | 4 | 8 | 16 | 32) => linear_in(limbs * 16),
        Some(_) | None => digits_of(limbs),
    }
}

/// Returns the fuel of the root of a number; that of an exact one takes some divisions.
fn square_root(heap: &Heap, number: Value) -> u64 {
    if heap.is_kind(number, Kind::Complex) {
        return plane::root(heap, number);
    }
    let length = limbs(heap, number);
    if !number.is_fixnum() && length == 0 {
        return if has_ratio(heap, number) { 2 * RATIO } else { 0 };
    }
    root_of(length)
}

/// Returns the fuel of the root of an integer of this length.
fn root_of(length: u64) -> u64 {
    5 + linear_in(length) + product_steps(length, length) * 3 / 2 / LIMB_STEPS
}

/// Returns the fuel of a root that is taken only of what may be the square of an exact number.
fn root_if_square(heap: &Heap, number: Value) -> u64 {
    if may_be_square(heap, number) {
        square_root(heap, number)
    } else {
        5 + conversion(heap, &[number]) * 3 / 2
    }
}

/// Whether the last six bits of a number's parts are those of a square.
fn may_be_square(heap: &Heap, number: Value) -> bool {
    if !number.is_object() {
        return true;
    }
    match heap.kind_of(number) {
        Some(Kind::Bignum) => {
            let low = heap.raw_bytes(number).first().map_or(0, |byte| byte & 63);
            (0..32u8).any(|root| root.wrapping_mul(root) & 63 == low)
        }
        Some(Kind::Ratio) => (0..2).all(|part| may_be_square(heap, heap.field(number, part))),
        Some(_) | None => true,
    }
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
