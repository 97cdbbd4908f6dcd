//! The digits of long integers, in time well below the square of their number.
//!
//! A number is written in halves: the digits of quotient and remainder by a power of the radix.
//! INVARIANT: the text equals that of the direct method, which writes numbers of up to some ten
//! thousand digits, where halving gains nothing.
//! It knows no signs and does not read (`number/parse.rs` reads in halves).
//! Read next: `number/division.rs`.

use num_bigint::BigUint;
use num_traits::Zero;

use super::division::Divisor;

/// Numbers of fewer bits are written directly.
const WRITE_BITS_MIN: u64 = 40_000;

/// Writes a number in a radix from 2 to 36; `None` if it is not to go on.
pub(super) fn write(number: &BigUint, radix: u32, goes_on: &dyn Fn() -> bool) -> Option<String> {
    if number.bits() < WRITE_BITS_MIN || radix.is_power_of_two() {
        return Some(number.to_str_radix(radix));
    }
    // Each power is the square of the one before; the last one's square is greater than the number.
    let mut powers = vec![Power::new(
        BigUint::from(radix).pow(SMALL_DIGITS),
        SMALL_DIGITS as usize,
    )];
    while let Some(last) = powers.last()
        && last.divisor.value.bits() * 2 <= number.bits() + 1
    {
        if !goes_on() {
            return None;
        }
        powers.push(Power::new(&last.divisor.value * &last.divisor.value, last.digits * 2));
    }
    let text = String::new();
    let mut digits = Digits { radix, goes_on, text };
    digits.write(number, &powers)?;
    let first = digits.text.find(|digit| digit != '0').unwrap_or(0);
    Some(digits.text.split_off(first))
}

/// The number of digits that the direct method writes at a time.
const SMALL_DIGITS: u32 = 2_000;

/// A power of the radix.
struct Power {
    divisor: Divisor,
    /// The exponent.
    digits: usize,
}

impl Power {
    fn new(value: BigUint, digits: usize) -> Power {
        Power {
            divisor: Divisor::new(value),
            digits,
        }
    }
}

/// The digits so far.
struct Digits<'a> {
    radix: u32,
    goes_on: &'a dyn Fn() -> bool,
    text: String,
}

impl Digits<'_> {
    /// Appends the digits of a number that is less than the square of the last power, padded with
    /// zeros to twice the digits of that power; `None` if it is not to go on.
    ///
    /// The recursion is as deep as the number of powers, the logarithm of the number of digits.
    fn write(&mut self, number: &BigUint, powers: &[Power]) -> Option<()> {
        let Some((power, smaller)) = powers.split_last() else {
            let digits = number.to_str_radix(self.radix);
            let zeros = SMALL_DIGITS as usize - digits.len();
            self.text.extend(std::iter::repeat_n('0', zeros));
            self.text.push_str(&digits);
            return Some(());
        };
        if number.is_zero() {
            self.text.extend(std::iter::repeat_n('0', power.digits * 2));
            return Some(());
        }
        if !(self.goes_on)() {
            return None;
        }
        let (quotient, rest) = power.divisor.divide(number);
        self.write(&quotient, smaller)?;
        self.write(&rest, smaller)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(number: &BigUint, radix: u32) {
        let plain = number.to_str_radix(radix);
        assert!(
            write(number, radix, &|| true).as_ref() == Some(&plain),
            "{} bits in radix {radix}",
            number.bits()
        );
    }

    #[test]
    fn powers_and_their_neighbours_have_the_digits_of_the_plain_way() {
        for radix in [3, 10, 36] {
            for digits in [1u32, 1_999, 2_000, 8_000, 12_001, 16_000, 31_999, 32_000] {
                let power = BigUint::from(radix).pow(digits);
                check(&power, radix);
                check(&(&power - 1u32), radix);
                check(&(&power + 1u32), radix);
            }
        }
        assert_eq!(write(&BigUint::zero(), 10, &|| true).as_deref(), Some("0"));
        assert_eq!(write(&BigUint::from(3u32).pow(100_000), 10, &|| false), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(16) })]

        #[test]
        fn so_have_great_numbers(words in prop::collection::vec(any::<u32>(), 1..6_000), radix in 2u32..=36) {
            check(&BigUint::new(words), radix);
        }
    }
}
