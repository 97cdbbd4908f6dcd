//! Integers of at most a few thousand bits, computed without allocation.
//!
//! Most long integers of programs are a few limbs long; for them a general library spends its time
//! on the conversion of operands and on memory. The methods here are those of written arithmetic.
//! INVARIANT: a magnitude has no zero limb at its upper end, and zero is not negative.
//! INVARIANT: the results equal those of `num_bigint`, which does whatever is longer.
//! It knows neither exactness nor ratios. Read next: `number/division.rs`.
//!
//! Source: Knuth, "The Art of Computer Programming", volume 2, 4.3.1; Möller and Granlund,
//! "Improved division by invariant integers", 2011.

use std::cmp::Ordering;

/// Limbs of the longest operand.
const OPERAND_LIMBS_MAX: usize = 128;
/// Limbs of the longest factor that is the shorter one. From here on the library's products need
/// less than their square of steps: of 64 limbs, half of the time.
const FACTOR_LIMBS_MAX: usize = 32;

/// An exact integer as its sign and the limbs of its magnitude, lowest first.
#[derive(Clone, Copy)]
pub(crate) struct Operand<'a> {
    pub(crate) is_negative: bool,
    pub(crate) limbs: &'a [u64],
}

/// Memory of the operations, which is used again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    /// The magnitude of the result.
    result: Vec<u64>,
    /// The other result of a division.
    rest: Vec<u64>,
    divisor: Vec<u64>,
}

/// An operation: it leaves the magnitude of the result in the memory, and returns whether the
/// result is negative; nothing if the library is faster.
pub(crate) type Operation = fn(Operand<'_>, Operand<'_>, &mut Scratch) -> Option<bool>;

/// How a division rounds, and which of its results is wanted.
#[derive(Clone, Copy)]
pub(crate) enum Division {
    /// The quotient, rounded towards zero.
    Quotient,
    /// The remainder with the sign of the dividend.
    Remainder,
    /// The quotient, rounded down.
    FloorQuotient,
    /// The remainder with the sign of the divisor.
    Modulo,
}

impl<'a> Operand<'a> {
    /// Returns the operand with these limbs unless there are too many; zeros at the upper end do
    /// not count.
    pub(crate) fn new(is_negative: bool, limbs: &'a [u64]) -> Option<Operand<'a>> {
        let limbs = trimmed(limbs);
        (limbs.len() <= OPERAND_LIMBS_MAX).then_some(Operand { is_negative, limbs })
    }
}

impl Scratch {
    /// The limbs of the magnitude of the result, lowest first.
    pub(crate) fn result(&self) -> &[u64] {
        &self.result
    }

    /// Removes the zeros at the upper end of the result and returns its sign, given that of a
    /// result that is not zero.
    fn finish(&mut self, is_negative: bool) -> bool {
        trim(&mut self.result);
        is_negative && !self.result.is_empty()
    }
}

/// Returns the order.
pub(crate) fn order(a: Operand<'_>, b: Operand<'_>) -> Ordering {
    match (a.is_negative, b.is_negative) {
        (false, false) => compare(a.limbs, b.limbs),
        (true, true) => compare(b.limbs, a.limbs),
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
    }
}

/// Computes the sum.
pub(crate) fn sum(a: Operand<'_>, b: Operand<'_>, scratch: &mut Scratch) -> bool {
    if a.is_negative == b.is_negative {
        add(a.limbs, b.limbs, &mut scratch.result);
        return scratch.finish(a.is_negative);
    }
    let (more, less) = if compare(a.limbs, b.limbs).is_lt() {
        (b, a)
    } else {
        (a, b)
    };
    subtract(more.limbs, less.limbs, &mut scratch.result);
    scratch.finish(more.is_negative)
}

/// Computes the difference.
pub(crate) fn difference(a: Operand<'_>, b: Operand<'_>, scratch: &mut Scratch) -> bool {
    let is_negative = !b.is_negative;
    sum(a, Operand { is_negative, ..b }, scratch)
}

/// Computes the product, unless both factors are long.
pub(crate) fn product(a: Operand<'_>, b: Operand<'_>, scratch: &mut Scratch) -> Option<bool> {
    if a.limbs.len().min(b.limbs.len()) > FACTOR_LIMBS_MAX {
        return None;
    }
    let result = &mut scratch.result;
    result.clear();
    result.resize(a.limbs.len() + b.limbs.len(), 0);
    for (place, factor) in b.limbs.iter().enumerate() {
        let (window, above) = result[place..].split_at_mut(a.limbs.len());
        above[0] = add_product(window, a.limbs, *factor);
    }
    Some(scratch.finish(a.is_negative != b.is_negative))
}

/// Computes one result of a division. The divisor is not zero.
pub(crate) fn divide(dividend: Operand<'_>, divisor: Operand<'_>, wanted: Division, scratch: &mut Scratch) -> bool {
    let is_opposite = dividend.is_negative != divisor.is_negative;
    divide_magnitudes(dividend.limbs, divisor.limbs, scratch);
    trim(&mut scratch.result);
    trim(&mut scratch.rest);
    let is_rounded_up = is_opposite && !scratch.rest.is_empty();
    match wanted {
        Division::Quotient => scratch.finish(is_opposite),
        Division::FloorQuotient => {
            if is_rounded_up {
                carry_into(&mut scratch.result, 0);
            }
            scratch.finish(is_opposite)
        }
        Division::Remainder => {
            std::mem::swap(&mut scratch.result, &mut scratch.rest);
            scratch.finish(dividend.is_negative)
        }
        Division::Modulo => {
            if is_rounded_up {
                subtract(divisor.limbs, &scratch.rest, &mut scratch.result);
            } else {
                std::mem::swap(&mut scratch.result, &mut scratch.rest);
            }
            scratch.finish(divisor.is_negative)
        }
    }
}

/// Returns the order of two magnitudes without zeros at their upper ends.
fn compare(a: &[u64], b: &[u64]) -> Ordering {
    a.len().cmp(&b.len()).then_with(|| a.iter().rev().cmp(b.iter().rev()))
}

/// Returns the limbs without the zeros at the upper end.
fn trimmed(limbs: &[u64]) -> &[u64] {
    let zeros = limbs.iter().rev().take_while(|limb| **limb == 0).count();
    &limbs[..limbs.len() - zeros]
}

fn trim(limbs: &mut Vec<u64>) {
    limbs.truncate(trimmed(limbs).len());
}

/// Writes `a` + `b` to `result`.
fn add(a: &[u64], b: &[u64], result: &mut Vec<u64>) {
    let (long, short) = if a.len() < b.len() { (b, a) } else { (a, b) };
    result.clear();
    result.extend_from_slice(long);
    let carry = add_to(&mut result[..short.len()], short);
    if carry {
        carry_into(result, short.len());
    }
}

/// Adds one to the limbs from `place` on.
fn carry_into(result: &mut Vec<u64>, place: usize) {
    for limb in &mut result[place..] {
        let (sum, carry) = limb.overflowing_add(1);
        *limb = sum;
        if !carry {
            return;
        }
    }
    result.push(1);
}

/// Writes `a` − `b`, of which the first is not less, to `result`.
fn subtract(a: &[u64], b: &[u64], result: &mut Vec<u64>) {
    result.clear();
    let mut borrow = false;
    for (place, limb) in a.iter().enumerate() {
        let (rest, borrow_a) = limb.overflowing_sub(b.get(place).copied().unwrap_or(0));
        let (rest, borrow_b) = rest.overflowing_sub(u64::from(borrow));
        result.push(rest);
        borrow = borrow_a || borrow_b;
    }
}

/// Adds `limbs` × `factor` to as many limbs of `target`, and returns the carry.
fn add_product(target: &mut [u64], limbs: &[u64], factor: u64) -> u64 {
    let mut carry = 0;
    for (target, limb) in target.iter_mut().zip(limbs) {
        // Cannot overflow: (2⁶⁴ − 1)² + 2 × (2⁶⁴ − 1) is 2¹²⁸ − 1.
        let sum = u128::from(*limb) * u128::from(factor) + u128::from(*target) + carry;
        *target = sum as u64;
        carry = sum >> 64;
    }
    carry as u64
}

/// Subtracts `limbs` × `factor` from as many limbs of `target`, and returns the borrow.
fn subtract_product(target: &mut [u64], limbs: &[u64], factor: u64) -> u64 {
    let mut carry = 0;
    for (target, limb) in target.iter_mut().zip(limbs) {
        let product = u128::from(*limb) * u128::from(factor) + carry;
        let (rest, is_borrowed) = target.overflowing_sub(product as u64);
        *target = rest;
        carry = (product >> 64) + u128::from(is_borrowed);
    }
    carry as u64
}

/// Adds `limbs` to as many limbs of `target`, and returns the carry.
fn add_to(target: &mut [u64], limbs: &[u64]) -> bool {
    let mut carry = false;
    for (target, limb) in target.iter_mut().zip(limbs) {
        let (sum, carry_a) = target.overflowing_add(*limb);
        let (sum, carry_b) = sum.overflowing_add(u64::from(carry));
        *target = sum;
        carry = carry_a || carry_b;
    }
    carry
}

/// Computes quotient and remainder of two magnitudes, of which the second is not zero.
fn divide_magnitudes(dividend: &[u64], divisor: &[u64], scratch: &mut Scratch) {
    let Scratch {
        result,
        rest,
        divisor: shifted,
    } = scratch;
    result.clear();
    rest.clear();
    rest.extend_from_slice(dividend);
    if compare(dividend, divisor).is_lt() {
        return;
    }
    // The divisor's highest bit is set, so that an estimate of a limb of the quotient is at most
    // two too large.
    let divisor_limbs = divisor.len();
    let shift = divisor[divisor_limbs - 1].leading_zeros();
    shifted.clear();
    shifted.extend_from_slice(divisor);
    shift_left(shifted, shift);
    rest.push(0);
    shift_left(rest, shift);
    let estimator = Estimator::new(shifted);
    let places = dividend.len() - divisor_limbs + 1;
    result.resize(places, 0);
    for place in (0..places).rev() {
        let window = &mut rest[place..=place + divisor_limbs];
        result[place] = estimator.take_multiple(window, shifted);
    }
    rest.truncate(divisor_limbs);
    shift_right(rest, shift);
}

/// Divides two limbs by the highest one of a divisor.
struct Estimator {
    /// The highest limb of the divisor, whose highest bit is set, and the one below it.
    high: u64,
    next: u64,
    /// (2¹²⁸ − 1) ÷ `high` − 2⁶⁴, rounded down.
    reciprocal: u64,
}

impl Estimator {
    fn new(divisor: &[u64]) -> Estimator {
        let high = divisor[divisor.len() - 1];
        let next = divisor.len().checked_sub(2).map_or(0, |place| divisor[place]);
        let reciprocal = ((u128::MAX - (u128::from(high) << 64)) / u128::from(high)) as u64;
        Estimator { high, next, reciprocal }
    }

    /// Subtracts the greatest possible multiple of the divisor from `rest`, which has one limb
    /// more and is less than the divisor times 2⁶⁴, and returns the factor.
    fn take_multiple(&self, rest: &mut [u64], divisor: &[u64]) -> u64 {
        let length = divisor.len();
        let mut factor = self.estimate(rest);
        if factor == 0 {
            return 0;
        }
        let borrow = subtract_product(&mut rest[..length], divisor, factor);
        let (highest, mut is_negative) = rest[length].overflowing_sub(borrow);
        rest[length] = highest;
        while is_negative {
            factor -= 1;
            let carry = add_to(&mut rest[..length], divisor);
            let (highest, is_above) = rest[length].overflowing_add(u64::from(carry));
            rest[length] = highest;
            is_negative = !is_above;
        }
        factor
    }

    /// Returns the factor, or up to two more.
    fn estimate(&self, rest: &[u64]) -> u64 {
        let top = rest.len() - 1;
        if rest[top] >= self.high {
            return u64::MAX;
        }
        let (mut factor, mut left) = self.divide(rest[top], rest[top - 1]);
        let below = top.checked_sub(2).map_or(0, |place| rest[place]);
        while u128::from(factor) * u128::from(self.next) > (u128::from(left) << 64 | u128::from(below)) {
            factor -= 1;
            match left.checked_add(self.high) {
                Some(sum) => left = sum,
                None => break,
            }
        }
        factor
    }

    /// Divides 2⁶⁴ × `high` + `low` by the highest limb, which is above `high`.
    fn divide(&self, high: u64, low: u64) -> (u64, u64) {
        let product =
            (u128::from(self.reciprocal) * u128::from(high)).wrapping_add(u128::from(high) << 64 | u128::from(low));
        let mut quotient = ((product >> 64) as u64).wrapping_add(1);
        let mut rest = low.wrapping_sub(quotient.wrapping_mul(self.high));
        if rest > product as u64 {
            quotient = quotient.wrapping_sub(1);
            rest = rest.wrapping_add(self.high);
        }
        if rest >= self.high {
            quotient += 1;
            rest -= self.high;
        }
        (quotient, rest)
    }
}

/// Multiplies by 2 to the power of `bits`, less than 64; the highest limb has room.
fn shift_left(limbs: &mut [u64], bits: u32) {
    if bits == 0 {
        return;
    }
    let mut carry = 0;
    for limb in limbs {
        let shifted = *limb << bits | carry;
        carry = *limb >> (64 - bits);
        *limb = shifted;
    }
}

/// Divides by 2 to the power of `bits`, less than 64; the bits that fall out are zero.
fn shift_right(limbs: &mut [u64], bits: u32) {
    if bits == 0 {
        return;
    }
    let mut carry = 0;
    for limb in limbs.iter_mut().rev() {
        let shifted = *limb >> bits | carry;
        carry = *limb << (64 - bits);
        *limb = shifted;
    }
}

#[cfg(test)]
mod tests {
    use num_bigint::{BigInt, BigUint, Sign};
    use num_integer::Integer;
    use proptest::prelude::*;

    use super::*;

    fn integer(is_negative: bool, limbs: &[u64]) -> BigInt {
        let bytes: Vec<u8> = limbs.iter().flat_map(|limb| limb.to_le_bytes()).collect();
        let sign = if is_negative { Sign::Minus } else { Sign::Plus };
        BigInt::from_biguint(sign, BigUint::from_bytes_le(&bytes))
    }

    /// Computes and reads the result.
    fn value(operation: impl FnOnce(&mut Scratch) -> bool) -> BigInt {
        let mut scratch = Scratch::default();
        // Whatever an operation before has left must not matter.
        scratch.result.extend([7; 300]);
        scratch.rest.extend([7; 3]);
        let is_negative = operation(&mut scratch);
        assert!(scratch.result().last() != Some(&0));
        assert!(!(is_negative && scratch.result().is_empty()));
        integer(is_negative, scratch.result())
    }

    /// Limbs of all lengths, of which many are 0, 1 or all ones: those at which carries, borrows
    /// and wrong estimates happen.
    fn magnitudes() -> impl Strategy<Value = Vec<u64>> {
        let limb = prop_oneof![
            Just(0),
            Just(1),
            Just(u64::MAX),
            Just(1 << 63),
            Just(u64::MAX - 1),
            any::<u64>()
        ];
        prop_oneof![
            prop::collection::vec(limb.clone(), 0..6),
            prop::collection::vec(limb, 0..=OPERAND_LIMBS_MAX)
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(4_000) })]

        #[test]
        fn all_operations_agree_with_the_library(
            (a, b) in (magnitudes(), magnitudes()),
            (a_negative, b_negative) in (any::<bool>(), any::<bool>()),
        ) {
            let (big_a, big_b) = (integer(a_negative, &a), integer(b_negative, &b));
            let operand = |is_negative: bool, limbs| Operand::new(is_negative, limbs).unwrap();
            let a = operand(a_negative && !trimmed(&a).is_empty(), &a);
            let b = operand(b_negative && !trimmed(&b).is_empty(), &b);
            prop_assert_eq!(value(|scratch| sum(a, b, scratch)), &big_a + &big_b);
            prop_assert_eq!(value(|scratch| difference(a, b, scratch)), &big_a - &big_b);
            if a.limbs.len().min(b.limbs.len()) <= FACTOR_LIMBS_MAX {
                prop_assert_eq!(value(|scratch| product(a, b, scratch).unwrap()), &big_a * &big_b);
            } else {
                prop_assert_eq!(product(a, b, &mut Scratch::default()), None);
            }
            prop_assert_eq!(order(a, b), big_a.cmp(&big_b));
            let quotient_or_rest = |wanted| value(|scratch| divide(a, b, wanted, scratch));
            if !b.limbs.is_empty() {
                prop_assert_eq!(quotient_or_rest(Division::Quotient), &big_a / &big_b);
                prop_assert_eq!(quotient_or_rest(Division::Remainder), &big_a % &big_b);
                prop_assert_eq!(quotient_or_rest(Division::FloorQuotient), big_a.div_floor(&big_b));
                prop_assert_eq!(quotient_or_rest(Division::Modulo), big_a.mod_floor(&big_b));
            }
        }
    }

    #[test]
    fn an_operand_of_more_limbs_is_left_to_the_library() {
        assert!(Operand::new(false, &[1; OPERAND_LIMBS_MAX + 1]).is_none());
        assert!(Operand::new(false, &[0; OPERAND_LIMBS_MAX + 1]).is_some());
    }
}
