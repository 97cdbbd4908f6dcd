//! Addition, subtraction, multiplication and division, on every mixture of kinds.
//!
//! INVARIANT: exact operands give the exact result, or [`NumberError::TooLarge`]; one flonum makes
//! the result a flonum.
//! It does not divide with remainder (`number/integer.rs`).
//! Read next: `number/power.rs`.
//!
//! Source: R7RS 6.2.6.

use std::borrow::Cow;

use num_bigint::BigInt;
use num_traits::One;

use super::{MAX_BITS, Number, NumberError};

/// Two operands, converted to a kind in which they can be combined.
pub(super) enum Pair<'a> {
    /// Two exact integers, at least one of which is not a fixnum.
    Integers(Cow<'a, BigInt>, Cow<'a, BigInt>),
    /// Two exact numbers, at least one of which is a ratio.
    Ratios(Fraction<'a>, Fraction<'a>),
    /// Two floats.
    Floats(f64, f64),
}

/// An exact number as numerator and positive denominator.
pub(super) struct Fraction<'a> {
    pub(super) numerator: Cow<'a, BigInt>,
    pub(super) denominator: Cow<'a, BigInt>,
}

impl<'a> Pair<'a> {
    pub(super) fn of(a: &'a Number, b: &'a Number) -> Pair<'a> {
        match (a, b) {
            (Number::Flonum(_), _) | (_, Number::Flonum(_)) => Pair::Floats(a.to_f64(), b.to_f64()),
            _ => match (a.to_big(), b.to_big()) {
                (Some(a), Some(b)) => Pair::Integers(a, b),
                (whole_a, whole_b) => Pair::Ratios(Fraction::of(a, whole_a), Fraction::of(b, whole_b)),
            },
        }
    }
}

impl<'a> Fraction<'a> {
    /// Returns the parts of an exact number, given its value as an integer if it is one.
    fn of(number: &'a Number, whole: Option<Cow<'a, BigInt>>) -> Fraction<'a> {
        match number {
            Number::Ratio(value) => Fraction {
                numerator: Cow::Borrowed(value.numer()),
                denominator: Cow::Borrowed(value.denom()),
            },
            Number::Fixnum(_) | Number::Big(_) | Number::Flonum(_) => Fraction {
                numerator: whole.unwrap_or_default(),
                denominator: Cow::Owned(BigInt::one()),
            },
        }
    }
}

impl Number {
    /// Returns the value as a `BigInt`, if it is an exact integer.
    pub fn to_big(&self) -> Option<Cow<'_, BigInt>> {
        match self {
            Number::Fixnum(value) => Some(Cow::Owned(BigInt::from(*value))),
            Number::Big(value) => Some(Cow::Borrowed(value)),
            Number::Ratio(_) | Number::Flonum(_) => None,
        }
    }

    /// Returns the sum.
    ///
    /// # Errors
    /// [`NumberError::TooLarge`].
    #[inline]
    pub fn add(&self, other: &Number) -> Result<Number, NumberError> {
        match (self, other) {
            // Two fixnums cannot overflow a 64-bit sum.
            (Number::Fixnum(a), Number::Fixnum(b)) => Ok(Number::from_i64(a + b)),
            (Number::Flonum(a), Number::Flonum(b)) => Ok(Number::Flonum(a + b)),
            _ => add_mixed(self, other),
        }
    }

    /// Returns the difference.
    ///
    /// # Errors
    /// [`NumberError::TooLarge`].
    #[inline]
    pub fn sub(&self, other: &Number) -> Result<Number, NumberError> {
        match (self, other) {
            (Number::Fixnum(a), Number::Fixnum(b)) => Ok(Number::from_i64(a - b)),
            (Number::Flonum(a), Number::Flonum(b)) => Ok(Number::Flonum(a - b)),
            _ => sub_mixed(self, other),
        }
    }

    /// Returns the product.
    ///
    /// # Errors
    /// [`NumberError::TooLarge`].
    #[inline]
    pub fn mul(&self, other: &Number) -> Result<Number, NumberError> {
        match (self, other) {
            (Number::Fixnum(a), Number::Fixnum(b)) => Ok(match a.checked_mul(*b) {
                Some(product) => Number::from_i64(product),
                None => Number::from_i128(i128::from(*a) * i128::from(*b)),
            }),
            (Number::Flonum(a), Number::Flonum(b)) => Ok(Number::Flonum(a * b)),
            _ => mul_mixed(self, other),
        }
    }

    /// Returns the quotient, a ratio if exact operands do not divide evenly.
    ///
    /// # Errors
    /// [`NumberError::DivideByZero`] if the divisor is an exact zero (an inexact zero gives an
    /// infinity or a NaN); [`NumberError::TooLarge`].
    pub fn div(&self, other: &Number) -> Result<Number, NumberError> {
        if matches!(other, Number::Fixnum(0)) {
            return Err(NumberError::DivideByZero);
        }
        match (self, other) {
            (Number::Fixnum(a), Number::Fixnum(b)) if a % b == 0 => Ok(Number::from_i64(a / b)),
            (Number::Fixnum(a), Number::Fixnum(b)) => Number::from_ratio(BigInt::from(*a), BigInt::from(*b)),
            _ => match Pair::of(self, other) {
                Pair::Floats(a, b) => Ok(Number::Flonum(a / b)),
                Pair::Integers(a, b) => Number::from_ratio(a.into_owned(), b.into_owned()),
                Pair::Ratios(a, b) => Number::from_ratio(
                    product(&a.numerator, &b.denominator)?,
                    product(&a.denominator, &b.numerator)?,
                ),
            },
        }
    }

    /// Returns the number with the opposite sign; the negation of an inexact zero is the other
    /// inexact zero.
    pub fn negate(&self) -> Number {
        match self {
            Number::Fixnum(value) => Number::from_i64(-value),
            // 2⁶⁰ is not a fixnum, but −2⁶⁰ is one.
            Number::Big(value) => Number::from_big(-value),
            Number::Ratio(value) => Number::from_reduced(-value.numer(), value.denom().clone()),
            Number::Flonum(value) => Number::Flonum(-value),
        }
    }

    /// Returns the distance from zero.
    pub fn abs(&self) -> Number {
        match self {
            Number::Flonum(value) => Number::Flonum(libm::fabs(*value)),
            Number::Fixnum(_) | Number::Big(_) | Number::Ratio(_) if self.is_negative() => self.negate(),
            Number::Fixnum(_) | Number::Big(_) | Number::Ratio(_) => self.clone(),
        }
    }
}

/// Multiplies two integers unless the product is surely too large; a product may exceed the limit
/// by one bit.
pub(super) fn product(a: &BigInt, b: &BigInt) -> Result<BigInt, NumberError> {
    if a.bits() + b.bits() > MAX_BITS + 1 {
        Err(NumberError::TooLarge)
    } else {
        Ok(a * b)
    }
}

#[cold]
fn add_mixed(a: &Number, b: &Number) -> Result<Number, NumberError> {
    match Pair::of(a, b) {
        Pair::Floats(a, b) => Ok(Number::Flonum(a + b)),
        Pair::Integers(a, b) => Number::limited(a.as_ref() + b.as_ref()),
        Pair::Ratios(a, b) => cross(&a, &b, |left, right| left + right),
    }
}

#[cold]
fn sub_mixed(a: &Number, b: &Number) -> Result<Number, NumberError> {
    match Pair::of(a, b) {
        Pair::Floats(a, b) => Ok(Number::Flonum(a - b)),
        Pair::Integers(a, b) => Number::limited(a.as_ref() - b.as_ref()),
        Pair::Ratios(a, b) => cross(&a, &b, |left, right| left - right),
    }
}

#[cold]
fn mul_mixed(a: &Number, b: &Number) -> Result<Number, NumberError> {
    match Pair::of(a, b) {
        Pair::Floats(a, b) => Ok(Number::Flonum(a * b)),
        Pair::Integers(a, b) => Number::limited(product(&a, &b)?),
        Pair::Ratios(a, b) => Number::from_ratio(
            product(&a.numerator, &b.numerator)?,
            product(&a.denominator, &b.denominator)?,
        ),
    }
}

/// Brings two fractions to a common denominator and combines their numerators.
fn cross(
    a: &Fraction<'_>,
    b: &Fraction<'_>,
    combine: impl FnOnce(BigInt, BigInt) -> BigInt,
) -> Result<Number, NumberError> {
    let numerator = combine(
        product(&a.numerator, &b.denominator)?,
        product(&b.numerator, &a.denominator)?,
    );
    Number::from_ratio(numerator, product(&a.denominator, &b.denominator)?)
}
