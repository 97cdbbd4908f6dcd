//! Exact numbers whose numerator and denominator are short: arithmetic without big integers.
//!
//! INVARIANT: the parts have no common divisor, and the denominator is positive; so a result is the
//! one that the general arithmetic gives. What does not fit has no result here.
//! It does not know other numbers; `number/arithmetic.rs` does.
//! Read next: `number/arithmetic.rs`.

use std::cmp::Ordering;

use num_integer::Integer;

/// A ratio, or an integer if its denominator is 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ShortRatio {
    numerator: i64,
    denominator: i64,
}

impl ShortRatio {
    /// A number in lowest terms with a positive denominator.
    pub(crate) fn new(numerator: i64, denominator: i64) -> ShortRatio {
        debug_assert!(denominator > 0 && numerator.gcd(&denominator) == 1);
        ShortRatio { numerator, denominator }
    }

    pub(crate) fn numerator(self) -> i64 {
        self.numerator
    }

    pub(crate) fn denominator(self) -> i64 {
        self.denominator
    }

    pub(crate) fn sum(self, other: ShortRatio) -> Option<ShortRatio> {
        let left = self.numerator.checked_mul(other.denominator)?;
        let right = other.numerator.checked_mul(self.denominator)?;
        reduced(
            left.checked_add(right)?,
            self.denominator.checked_mul(other.denominator)?,
        )
    }

    pub(crate) fn difference(self, other: ShortRatio) -> Option<ShortRatio> {
        let numerator = other.numerator.checked_neg()?;
        self.sum(ShortRatio { numerator, ..other })
    }

    pub(crate) fn product(self, other: ShortRatio) -> Option<ShortRatio> {
        let numerator = self.numerator.checked_mul(other.numerator)?;
        reduced(numerator, self.denominator.checked_mul(other.denominator)?)
    }

    /// The quotient; nothing if the divisor is zero.
    pub(crate) fn quotient(self, other: ShortRatio) -> Option<ShortRatio> {
        let numerator = self.numerator.checked_mul(other.denominator)?;
        let denominator = self.denominator.checked_mul(other.numerator)?;
        if denominator < 0 {
            return reduced(numerator.checked_neg()?, denominator.checked_neg()?);
        }
        reduced(numerator, denominator)
    }

    pub(crate) fn order(self, other: ShortRatio) -> Ordering {
        let left = i128::from(self.numerator) * i128::from(other.denominator);
        let right = i128::from(other.numerator) * i128::from(self.denominator);
        left.cmp(&right)
    }
}

/// A number in lowest terms; nothing if the denominator is not positive.
fn reduced(numerator: i64, denominator: i64) -> Option<ShortRatio> {
    if denominator <= 0 {
        return None;
    }
    // The divisor is at most the denominator, so it fits.
    let divisor = numerator.unsigned_abs().gcd(&denominator.unsigned_abs()) as i64;
    Some(ShortRatio {
        numerator: numerator / divisor,
        denominator: denominator / divisor,
    })
}

#[cfg(test)]
mod tests {
    use num_rational::BigRational;
    use proptest::prelude::*;

    use super::*;

    /// An operation on short numbers, and the same on long ones; nothing for a zero divisor.
    type Row = (
        fn(ShortRatio, ShortRatio) -> Option<ShortRatio>,
        fn(BigRational, BigRational) -> Option<BigRational>,
    );

    const OPERATIONS: [Row; 4] = [
        (ShortRatio::sum, |a, b| Some(a + b)),
        (ShortRatio::difference, |a, b| Some(a - b)),
        (ShortRatio::product, |a, b| Some(a * b)),
        (ShortRatio::quotient, |a, b| (*b.numer() != 0.into()).then(|| a / b)),
    ];

    fn long(short: ShortRatio) -> BigRational {
        BigRational::new(short.numerator.into(), short.denominator.into())
    }

    fn part() -> impl Strategy<Value = i64> {
        prop_oneof![
            -20..20i64,
            any::<i64>(),
            any::<i32>().prop_map(i64::from),
            Just(i64::MIN),
            Just(i64::MAX),
        ]
    }

    proptest! {
        #[test]
        fn short_arithmetic_is_that_of_long_numbers(a in part(), b in part(), c in part(), d in part()) {
            let (Some(left), Some(right)) = (reduced(a, b), reduced(c, d)) else {
                return Ok(());
            };
            for (short, general) in OPERATIONS {
                let expected = general(long(left), long(right));
                match short(left, right) {
                    Some(result) => prop_assert_eq!(Some((result.numerator.into(), result.denominator.into())),
                        expected.map(|ratio| ratio.into_raw())),
                    None => {
                        let is_small = [a, b, c, d].iter().all(|part| part.unsigned_abs() < 1 << 31);
                        prop_assert!(!is_small || expected.is_none());
                    }
                }
            }
            prop_assert_eq!(left.order(right), long(left).cmp(&long(right)));
        }
    }
}
