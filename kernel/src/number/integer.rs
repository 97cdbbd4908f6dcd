//! Division with remainder, and common divisors, on integers of either exactness.
//!
//! INVARIANT: dividend = divisor × quotient + remainder, computed exactly; an inexact integer is
//! converted to the exact one of its value, and the results are rounded once.
//! It does not divide into ratios (`number/arithmetic.rs`).
//! Read next: `number/bits.rs`.
//!
//! Source: R7RS 6.2.6, "Numerical operations", integer division.

use num_bigint::BigInt;
use num_integer::Integer;

use super::arithmetic::product;
use super::division::{divide_floor, divide_signed};
use super::gcd::gcd;
use super::{Number, NumberError};

/// Two integer operands, made exact.
struct Operands {
    left: Number,
    right: Number,
    /// Whether the caller has to convert the result to inexact.
    inexact: bool,
}

impl Operands {
    fn new(left: &Number, right: &Number) -> Result<Operands, NumberError> {
        Ok(Operands {
            left: exact_integer(left)?,
            right: exact_integer(right)?,
            inexact: !(left.is_exact() && right.is_exact()),
        })
    }

    fn result(&self, value: Number) -> Number {
        if self.inexact { value.inexact() } else { value }
    }

    /// Runs one division, on machine words if both operands are fixnums.
    fn divide(
        left: &Number,
        right: &Number,
        short: impl FnOnce(i64, i64) -> i64,
        long: impl FnOnce(&BigInt, &BigInt) -> BigInt,
    ) -> Result<Number, NumberError> {
        let operands = Operands::new(left, right)?;
        let value = match (&operands.left, &operands.right) {
            (_, Number::Fixnum(0)) => return Err(NumberError::DivideByZero),
            (Number::Fixnum(a), Number::Fixnum(b)) => Number::from_i64(short(*a, *b)),
            (a, b) => Number::from_big(long(&long_integer(a), &long_integer(b))),
        };
        Ok(operands.result(value))
    }
}

impl Number {
    /// Returns the quotient rounded towards zero (`quotient`, `truncate-quotient`).
    ///
    /// # Errors
    /// [`NumberError::NotInteger`]; [`NumberError::DivideByZero`], for an inexact zero too.
    pub fn quotient(&self, divisor: &Number) -> Result<Number, NumberError> {
        // Cannot overflow: −2⁶⁰ ÷ −1 is a 64-bit integer.
        Operands::divide(self, divisor, |a, b| a / b, |a, b| divide_signed(a, b).0)
    }

    /// Returns the remainder with the sign of the dividend (`remainder`, `truncate-remainder`).
    ///
    /// # Errors
    /// As [`Number::quotient`].
    pub fn remainder(&self, divisor: &Number) -> Result<Number, NumberError> {
        Operands::divide(self, divisor, |a, b| a % b, |a, b| divide_signed(a, b).1)
    }

    /// Returns the quotient rounded towards negative infinity (`floor-quotient`).
    ///
    /// # Errors
    /// As [`Number::quotient`].
    pub fn floor_quotient(&self, divisor: &Number) -> Result<Number, NumberError> {
        Operands::divide(
            self,
            divisor,
            |a, b| Integer::div_floor(&a, &b),
            |a, b| divide_floor(a, b).0,
        )
    }

    /// Returns the remainder with the sign of the divisor (`modulo`, `floor-remainder`).
    ///
    /// # Errors
    /// As [`Number::quotient`].
    pub fn modulo(&self, divisor: &Number) -> Result<Number, NumberError> {
        Operands::divide(
            self,
            divisor,
            |a, b| Integer::mod_floor(&a, &b),
            |a, b| divide_floor(a, b).1,
        )
    }

    /// Returns quotient and remainder of division towards zero (`truncate/`).
    ///
    /// # Errors
    /// As [`Number::quotient`].
    pub fn truncate_division(&self, divisor: &Number) -> Result<(Number, Number), NumberError> {
        Ok((self.quotient(divisor)?, self.remainder(divisor)?))
    }

    /// Returns quotient and remainder of division towards negative infinity (`floor/`).
    ///
    /// # Errors
    /// As [`Number::quotient`].
    pub fn floor_division(&self, divisor: &Number) -> Result<(Number, Number), NumberError> {
        Ok((self.floor_quotient(divisor)?, self.modulo(divisor)?))
    }

    /// Returns the greatest common divisor, never negative; that of two zeros is zero.
    ///
    /// # Errors
    /// [`NumberError::NotInteger`]; [`NumberError::NoDivisor`] if both are longer than
    /// [`MAX_GCD_BITS`](super::MAX_GCD_BITS).
    pub fn gcd(&self, other: &Number) -> Result<Number, NumberError> {
        let operands = Operands::new(self, other)?;
        let value = match (&operands.left, &operands.right) {
            (Number::Fixnum(a), Number::Fixnum(b)) => Number::from_i64(a.gcd(b)),
            (a, b) => Number::from_big(gcd(long_integer(a).into_parts().1, long_integer(b).into_parts().1)?.into()),
        };
        Ok(operands.result(value))
    }

    /// Returns the least common multiple, never negative; zero if either is zero.
    ///
    /// # Errors
    /// As [`Number::gcd`]; [`NumberError::TooLarge`] for the multiple itself.
    pub fn lcm(&self, other: &Number) -> Result<Number, NumberError> {
        let operands = Operands::new(self, other)?;
        let divisor = operands.left.gcd(&operands.right)?;
        if divisor.is_zero() {
            return Ok(operands.result(divisor));
        }
        let multiple = product(
            &long_integer(&operands.left.quotient(&divisor)?),
            &long_integer(&operands.right),
        )?;
        Ok(operands.result(Number::limited(multiple)?.abs()))
    }
}

/// Returns an integer of either exactness as an exact one.
fn exact_integer(number: &Number) -> Result<Number, NumberError> {
    if number.is_integer() {
        number.exact()
    } else {
        Err(NumberError::NotInteger)
    }
}

/// Returns an exact integer as a `BigInt`.
fn long_integer(number: &Number) -> BigInt {
    number.to_big().unwrap_or_default().into_owned()
}
