//! The cost of operations on flonums.
//!
//! INVARIANT: a cost grows with the steps of an operation, which the operands' exponents bound.
//! It does not compute; `number/flonum_power.rs` and `../flonum.rs` do.
//! Read next: `../cost.rs`.

use super::exponent;
use crate::heap::Heap;
use crate::value::Value;

/// Steps of a recurrence of flonums for a unit.
const RECURRENCE: u64 = 8;
/// Bits of an exponent for a unit.
const SQUARES: u64 = 8;

pub(super) fn exponent_distance(heap: &Heap, arguments: &[Value]) -> u64 {
    exponent(heap, arguments[0]) + exponent(heap, arguments[1])
}

/// Returns the fuel of a power by as many squares as an exponent has bits.
pub(super) fn squares(bits: u64) -> u64 {
    bits.min(64) / SQUARES
}

pub(super) fn bessel(arguments: &[Value]) -> u64 {
    arguments[0].as_fixnum().map_or(0, i64::unsigned_abs).min(1 << 31) / RECURRENCE
}

/// A function of the second kind grows beyond all flonums soon after twice its argument.
pub(super) fn second_bessel(heap: &Heap, arguments: &[Value]) -> u64 {
    let argument = heap.as_flonum(arguments[1]).map_or(0.0, f64::abs);
    bessel(arguments).min((2.0 * argument + 512.0) as u64 / RECURRENCE)
}
