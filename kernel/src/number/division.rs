//! Division of long integers, in time well below the product of their lengths.
//!
//! A reciprocal that is computed once turns a division into multiplications.
//! INVARIANT: quotient and remainder equal those of the direct method, which divides where the
//! reciprocal would gain nothing.
//! It does not know exactness. Read next: `number/radix.rs`.
//!
//! Source: Barrett, "Implementing the Rivest Shamir and Adleman public key encryption algorithm",
//! 1986; Newton's iteration for the reciprocal.

use num_bigint::{BigInt, BigUint, Sign};
use num_integer::Integer;
use num_traits::{One, Zero};

/// Reciprocals of numbers of fewer bits are found by plain division.
const RECIPROCAL_BITS_MIN: u64 = 4_000;
/// Divisions of fewer steps, bits of the quotient times bits of the divisor, are direct.
const DIRECT_STEPS_MAX: u64 = 1 << 40;

/// Returns quotient and remainder. The divisor is not zero.
pub(super) fn divide(number: &BigUint, divisor: &BigUint) -> (BigUint, BigUint) {
    let bits = divisor.bits();
    if number.bits().saturating_sub(bits) * bits < DIRECT_STEPS_MAX {
        return number.div_rem(divisor);
    }
    let divisor = Divisor::new(divisor.clone());
    let (mut quotient, mut rest) = (BigUint::zero(), BigUint::zero());
    let mask = (BigUint::one() << bits) - 1u32;
    for block in (0..number.bits().div_ceil(bits)).rev() {
        let (digits, next) = divisor.divide(&((rest << bits) + ((number >> (block * bits)) & &mask)));
        quotient = (quotient << bits) + digits;
        rest = next;
    }
    (quotient, rest)
}

/// Returns the quotient rounded towards zero and the remainder with the sign of the number. The
/// divisor is not zero.
pub(super) fn divide_signed(number: &BigInt, divisor: &BigInt) -> (BigInt, BigInt) {
    let (quotient, rest) = divide(number.magnitude(), divisor.magnitude());
    let is_negative = (number.sign() == Sign::Minus) != (divisor.sign() == Sign::Minus);
    let sign = if is_negative { Sign::Minus } else { Sign::Plus };
    (
        BigInt::from_biguint(sign, quotient),
        BigInt::from_biguint(number.sign(), rest),
    )
}

/// The same with the quotient rounded towards negative infinity and the remainder with the sign of
/// the divisor.
pub(super) fn divide_floor(number: &BigInt, divisor: &BigInt) -> (BigInt, BigInt) {
    let (quotient, rest) = divide_signed(number, divisor);
    if !rest.is_zero() && (rest.sign() == Sign::Minus) != (divisor.sign() == Sign::Minus) {
        (quotient - 1, rest + divisor)
    } else {
        (quotient, rest)
    }
}

/// A number by which others are divided.
pub(super) struct Divisor {
    pub(super) value: BigUint,
    /// Two to the power of twice the value's bits, divided by the value.
    reciprocal: BigUint,
}

impl Divisor {
    pub(super) fn new(value: BigUint) -> Divisor {
        let reciprocal = reciprocal(&value);
        Divisor { value, reciprocal }
    }

    /// Divides a number of at most twice the divisor's bits.
    pub(super) fn divide(&self, number: &BigUint) -> (BigUint, BigUint) {
        let bits = self.value.bits();
        let mut quotient = ((number >> (bits - 1)) * &self.reciprocal) >> (bits + 1);
        // The estimate is too small by at most two.
        let mut rest = number - &quotient * &self.value;
        while rest >= self.value {
            rest -= &self.value;
            quotient += 1u32;
        }
        (quotient, rest)
    }
}

/// Returns two to the power of twice a number's bits, divided by the number, rounded down.
fn reciprocal(number: &BigUint) -> BigUint {
    let bits = number.bits();
    let one = BigUint::one();
    if bits < RECIPROCAL_BITS_MIN {
        return (one << (2 * bits)) / number;
    }
    let high_bits = bits / 2 + 4;
    let dropped = bits - high_bits;
    let estimate = reciprocal(&(number >> dropped)) << dropped;
    // One step doubles the number of correct places.
    let excess = (&estimate * &estimate * number) >> (2 * bits);
    let mut estimate = (estimate << 1u32) - excess;
    let whole = one << (2 * bits);
    while &estimate * number > whole {
        estimate -= 1u32;
    }
    let mut rest = whole - &estimate * number;
    while rest >= *number {
        rest -= number;
        estimate += 1u32;
    }
    estimate
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(16) })]

        #[test]
        fn reciprocals_are_exact(words in prop::collection::vec(any::<u32>(), 1..600)) {
            let number = BigUint::new(words) + 1u32;
            let exact = (BigUint::one() << (2 * number.bits())) / &number;
            prop_assert!(reciprocal(&number) == exact);
        }

        #[test]
        fn long_divisions_agree_with_the_direct_method(
            (a, b) in (prop::collection::vec(any::<u32>(), 1..400), prop::collection::vec(any::<u32>(), 1..400)),
            (left, right) in (0usize..60_000, 20_000usize..30_000),
        ) {
            let (a, b) = (BigUint::new(a) << left, (BigUint::new(b) << (20 * right)) + 1u32);
            let number = &a * &b * (&b - 1u32) + &a;
            prop_assert!(divide(&number, &b) == number.div_rem(&b));
        }

        #[test]
        fn signs_are_those_of_plain_division(
            a in any::<i64>(),
            b in any::<i64>().prop_filter("not zero", |b| *b != 0),
        ) {
            let (a, b) = (BigInt::from(a), BigInt::from(b));
            prop_assert_eq!(divide_signed(&a, &b), a.div_rem(&b));
            prop_assert_eq!(divide_floor(&a, &b), a.div_mod_floor(&b));
        }
    }
}
