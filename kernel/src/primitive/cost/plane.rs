//! The cost of functions of exact numbers that are not real.
//!
//! INVARIANT: a number whose parts are not both exact costs what flonums do.
//! It does not compute; `number/complex/function.rs` does.
//! Read next: `../cost.rs`.

use super::{
    COMPLEX, Parts, RATIO, addition, bits_of, conversion, half_count, linear_in, of_power, product_steps,
    rational_product, rational_sum, reduction, root_of,
};
use crate::heap::rate::LIMB_STEPS;
use crate::heap::{Heap, Kind};
use crate::number::{MAX_BITS, MAX_GCD_BITS};
use crate::value::Value;

/// Whether both parts of a complex number are exact.
fn is_exact(heap: &Heap, number: Value) -> bool {
    (0..2).all(|part| heap.as_flonum(heap.field(number, part)).is_none())
}

/// Whether a ratio is one of the parts.
fn has_ratio(heap: &Heap, number: Value) -> bool {
    (0..2).any(|part| heap.is_kind(heap.field(number, part), Kind::Ratio))
}

/// Returns the fuel of the square of a magnitude: that of two squares and of their sum.
fn norm(heap: &Heap, number: Value) -> u64 {
    let parts = Parts::of(heap, number);
    if !has_ratio(heap, number) {
        return COMPLEX + linear_in(parts.above) * 4 + product_steps(parts.above, parts.above) * 2 / LIMB_STEPS;
    }
    let squared = Parts {
        above: 2 * parts.above,
        below: 2 * parts.below,
    };
    COMPLEX + 2 * rational_product(parts, parts) + rational_sum(squared, squared)
}

/// Returns the fuel of a magnitude; that of a real number is the number without its sign.
pub(super) fn distance(heap: &Heap, number: Value) -> u64 {
    if heap.is_kind(number, Kind::Complex) {
        root(heap, number)
    } else {
        conversion(heap, &[number])
    }
}

/// Returns the fuel of the logarithms of all numbers.
pub(super) fn logarithms(heap: &Heap, numbers: &[Value]) -> u64 {
    let is_norm_needed = |number: &&Value| heap.is_kind(**number, Kind::Complex) && is_exact(heap, **number);
    let norms: u64 = numbers
        .iter()
        .filter(is_norm_needed)
        .map(|number| norm(heap, *number))
        .sum();
    conversion(heap, numbers) + norms
}

/// Returns the fuel of the root of a complex number.
pub(super) fn root(heap: &Heap, number: Value) -> u64 {
    if !is_exact(heap, number) {
        return 4 * COMPLEX;
    }
    let parts = Parts::of(heap, number);
    4 * COMPLEX + norm(heap, number) + root_of(2 * parts.above) + root_of(2 * parts.below)
}

/// Returns the fuel of a power if the base or the exponent is not real.
pub(super) fn power(heap: &Heap, base: Value, exponent: Value) -> u64 {
    let of_floats = 2 * COMPLEX + conversion(heap, &[base, exponent]) + addition(heap, exponent, exponent);
    if !heap.is_kind(base, Kind::Complex) || !is_exact(heap, base) {
        return of_floats;
    }
    match exponent.as_fixnum() {
        Some(count) => of_floats + integer_power(heap, base, count.unsigned_abs()),
        None if heap.is_kind(exponent, Kind::Bignum) => of_floats + integer_power(heap, base, u64::MAX),
        None if heap.is_kind(exponent, Kind::Ratio) => {
            of_floats + root(heap, base) + integer_power(heap, base, half_count(heap, exponent))
        }
        None => of_floats + root(heap, base),
    }
}

/// Whether a number is i or −i, whose powers follow from the exponent's remainder.
fn is_turn(heap: &Heap, number: Value) -> bool {
    let [real, imaginary] = [0, 1].map(|part| heap.field(number, part).as_fixnum());
    real == Some(0) && matches!(imaginary, Some(1 | -1))
}

/// Returns the fuel of an integer power, which is refused only when a product is too long: that of
/// its last square, and of those before it.
fn integer_power(heap: &Heap, base: Value, count: u64) -> u64 {
    if is_turn(heap, base) {
        return 0;
    }
    let bits = bits_of(heap, base).saturating_mul(count);
    if has_ratio(heap, base) {
        let length = bits.min(MAX_GCD_BITS) / 64;
        return 2 * RATIO + 4 * of_power(length) + 2 * reduction(length, length);
    }
    2 * of_power(bits.min(MAX_BITS) / 64)
}
