//! Exact integers as infinite two's-complement bit strings.
//!
//! INVARIANT: every operation gives the result for infinitely many sign bits, whatever the word
//! size.
//! It refuses inexact integers, which have no bits.
//! Read next: `number/power.rs`.
//!
//! Source: SRFI 151.

use std::borrow::Cow;

use num_bigint::BigInt;
use num_traits::Signed;

use super::{MAX_BITS, Number, NumberError};

impl Number {
    /// Returns the bits set in both.
    ///
    /// # Errors
    /// [`NumberError::NotExact`], [`NumberError::NotInteger`].
    pub fn bitwise_and(&self, other: &Number) -> Result<Number, NumberError> {
        combine(self, other, |a, b| a & b, |a, b| a & b)
    }

    /// Returns the bits set in either.
    ///
    /// # Errors
    /// As [`Number::bitwise_and`].
    pub fn bitwise_or(&self, other: &Number) -> Result<Number, NumberError> {
        combine(self, other, |a, b| a | b, |a, b| a | b)
    }

    /// Returns the bits set in exactly one.
    ///
    /// # Errors
    /// As [`Number::bitwise_and`].
    pub fn bitwise_xor(&self, other: &Number) -> Result<Number, NumberError> {
        combine(self, other, |a, b| a ^ b, |a, b| a ^ b)
    }

    /// Returns the number with every bit inverted, −*n* − 1.
    pub fn bitwise_not(&self) -> Result<Number, NumberError> {
        match self {
            Number::Fixnum(value) => Ok(Number::from_i64(!value)),
            Number::Big(_) | Number::Ratio(_) | Number::Flonum(_) => Ok(Number::from_big(!integer(self)?.into_owned())),
        }
    }

    /// Shifts left by a positive count of bits, right by a negative one; a right shift rounds
    /// towards negative infinity.
    ///
    /// # Errors
    /// As [`Number::bitwise_and`], for either operand; [`NumberError::TooLarge`].
    pub fn arithmetic_shift(&self, count: &Number) -> Result<Number, NumberError> {
        let value = integer(self)?;
        let right = integer(count)?.is_negative();
        if self.is_zero() {
            return Ok(Number::Fixnum(0));
        }
        let distance = match count {
            Number::Fixnum(count) => count.unsigned_abs(),
            Number::Big(_) | Number::Ratio(_) | Number::Flonum(_) => u64::MAX,
        };
        match (self, right) {
            (Number::Fixnum(value), true) => Ok(Number::from_i64(value >> distance.min(63))),
            (Number::Fixnum(value), false) if distance <= 64 => Ok(Number::from_i128(i128::from(*value) << distance)),
            (_, true) => Ok(Number::from_big(value.as_ref() >> distance.min(value.bits() + 1))),
            (_, false) if value.bits().saturating_add(distance) > MAX_BITS => Err(NumberError::TooLarge),
            (_, false) => Ok(Number::from_big(value.as_ref() << distance)),
        }
    }

    /// Counts the bits that differ from the sign: ones in a non-negative number, zeros in a
    /// negative one.
    ///
    /// # Errors
    /// As [`Number::bitwise_and`].
    pub fn bit_count(&self) -> Result<u64, NumberError> {
        match self {
            Number::Fixnum(value) => Ok(u64::from((value ^ (value >> 63)).count_ones())),
            Number::Big(_) | Number::Ratio(_) | Number::Flonum(_) => Ok(magnitude_bits(integer(self)?.as_ref())
                .iter_u64_digits()
                .map(|digit| u64::from(digit.count_ones()))
                .sum()),
        }
    }

    /// Returns the number of bits below the infinitely repeated sign bit.
    ///
    /// # Errors
    /// As [`Number::bitwise_and`].
    pub fn integer_length(&self) -> Result<u64, NumberError> {
        match self {
            Number::Fixnum(value) => Ok(u64::from(64 - (value ^ (value >> 63)).leading_zeros())),
            Number::Big(_) | Number::Ratio(_) | Number::Flonum(_) => Ok(magnitude_bits(integer(self)?.as_ref()).bits()),
        }
    }
}

/// Returns the value of an exact integer.
fn integer(number: &Number) -> Result<Cow<'_, BigInt>, NumberError> {
    match number {
        Number::Flonum(_) => Err(NumberError::NotExact),
        Number::Fixnum(_) | Number::Big(_) | Number::Ratio(_) => number.to_big().ok_or(NumberError::NotInteger),
    }
}

/// Returns the number itself, or its complement if it is negative.
fn magnitude_bits(value: &BigInt) -> BigInt {
    if value.is_negative() { !value } else { value.clone() }
}

fn combine(
    a: &Number,
    b: &Number,
    short: impl FnOnce(i64, i64) -> i64,
    long: impl FnOnce(&BigInt, &BigInt) -> BigInt,
) -> Result<Number, NumberError> {
    match (a, b) {
        (Number::Fixnum(a), Number::Fixnum(b)) => Ok(Number::from_i64(short(*a, *b))),
        _ => Number::limited(long(integer(a)?.as_ref(), integer(b)?.as_ref())),
    }
}
