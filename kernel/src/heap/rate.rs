//! How much work a unit of fuel pays: elements, bytes and words of long integers.
//!
//! INVARIANT: a rate is of what a value means, never of how the heap stores it.
//! It charges nothing; `charge.rs` does, and `../primitive/cost.rs` has the primitives' costs.
//! Read next: `charge.rs`.

use super::{Heap, Kind};
use crate::value::Value;

/// Bytes, and characters of a text, that are copied, compared or filled for a unit.
pub(crate) const BYTES: u64 = 128;
/// Bytes that are moved from one place to another for a unit.
pub(crate) const BYTES_MOVED: u64 = 1024;
/// Bytes that are filled for a unit.
pub(crate) const BYTES_FILLED: u64 = 256;
/// Bytes of texts that are compared for a unit.
pub(crate) const BYTES_COMPARED: u64 = 512;
/// Characters that are looked at one by one for a unit.
pub(crate) const CHARACTERS: u64 = 16;
/// Elements of a list that are visited for a unit.
pub(crate) const ELEMENTS: u64 = 16;
/// Pairs that are made for a unit.
pub(crate) const PAIRS: u64 = 4;
/// Nodes of values that are compared or hashed for a unit.
pub(crate) const NODES: u64 = 8;
/// Bytes of packed values that come in or go out for a unit.
pub(crate) const CONVERTED: u64 = 16;
/// Steps on words of long integers for a unit.
pub(crate) const LIMB_STEPS: u64 = 32;
/// Words of long integers that are converted for a unit.
pub(crate) const LIMBS: u64 = 4;

/// Returns the fuel of decoding text from UTF-8: bytes beyond ASCII are decoded one by one.
pub(crate) fn decoding(bytes: &[u8]) -> u64 {
    let beyond = bytes.iter().filter(|byte| !byte.is_ascii()).count() as u64;
    bytes.len() as u64 / BYTES + beyond / CHARACTERS
}

/// Returns the words of 64 bits of a number's exact parts beyond fixnums.
pub(crate) fn limbs(heap: &Heap, number: Value) -> u64 {
    whole_limbs(heap, number).unwrap_or_else(|| (0..2).map(|part| limbs(heap, heap.field(number, part))).sum())
}

/// The same for a number that is not made of two others, as ratios and complex numbers are.
pub(crate) fn whole_limbs(heap: &Heap, number: Value) -> Option<u64> {
    if !number.is_object() {
        return Some(0);
    }
    match heap.kind_of(number) {
        Some(Kind::Bignum) => Some((heap.object_length(number) as u64).div_ceil(8)),
        Some(Kind::Ratio | Kind::Complex) => None,
        Some(_) | None => Some(0),
    }
}

/// Returns the fuel of walking over a long integer of this length once.
pub(crate) fn linear_in(limbs: u64) -> u64 {
    limbs / LIMBS
}

/// Returns the square of a length.
pub(crate) fn square(limbs: u64) -> u64 {
    limbs.saturating_mul(limbs)
}

/// Returns the steps of a product of integers of these lengths: those of the school's method for
/// short ones, of Karatsuba's and Toom's for long ones.
pub(crate) fn product_steps(a: u64, b: u64) -> u64 {
    let (short, long) = (a.min(b), a.max(b));
    let (mut part, mut factor) = (short, 1);
    while part > 256 {
        (part, factor) = (part / 3 + 1, factor * 6);
    }
    while part > 32 {
        (part, factor) = (part / 2 + 1, factor * 3);
    }
    square(part)
        .saturating_mul(factor)
        .saturating_mul(long.div_ceil(short.max(1)))
}

/// Returns the fuel of writing or reading an integer of this length in digits.
pub(crate) fn digits_of(limbs: u64) -> u64 {
    if limbs < 625 {
        return square(limbs) / 2 / LIMB_STEPS + linear_in(limbs * 4);
    }
    product_steps(limbs, limbs) * 8 / LIMB_STEPS + linear_in(limbs * 64)
}
