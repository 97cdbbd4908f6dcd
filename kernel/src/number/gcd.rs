//! The greatest common divisor of long integers, after Lehmer.
//!
//! Owns one function and the limit of its cost, [`MAX_GCD_BITS`]. `num-bigint` finds divisors one
//! bit at a time; here a step on the leading words replaces about thirty steps on the whole
//! numbers.
//! INVARIANT: every matrix applied to the whole numbers consists of steps that Euclid's algorithm
//! would take on them.
//! It knows nothing of signs or exactness.
//! Read next: `number/integer.rs`.

use num_bigint::BigUint;
use num_integer::Integer;
use num_traits::ToPrimitive;

use super::division::divide;
use super::{MAX_GCD_BITS, NumberError};

/// Returns the greatest common divisor; that of zero and *n* is *n*.
///
/// # Errors
/// [`NumberError::NoDivisor`] if both are longer than [`MAX_GCD_BITS`].
///
/// Source: Knuth, *The Art of Computer Programming*, volume 2, 4.5.2, algorithm L.
pub(super) fn gcd(a: BigUint, b: BigUint) -> Result<BigUint, NumberError> {
    let (mut large, mut small) = if a < b { (b, a) } else { (a, b) };
    if small.bits() > MAX_GCD_BITS {
        return Err(NumberError::NoDivisor);
    }
    while small.bits() > 64 {
        match leading_steps(&large, &small) {
            Some([a, b, c, d]) => {
                let next_large = combine(a, &large, b, &small);
                small = combine(c, &large, d, &small);
                large = next_large;
            }
            None => {
                let (_, remainder) = divide(&large, &small);
                large = std::mem::replace(&mut small, remainder);
            }
        }
    }
    let Some(short) = small.to_u64().filter(|short| *short != 0) else {
        return Ok(large);
    };
    let rest = (large % short).to_u64().unwrap_or(0);
    Ok(BigUint::from(rest.gcd(&short)))
}

/// Runs Euclid's algorithm on the leading 62 bits while its quotients are surely those of the whole
/// numbers.
///
/// Returns the matrix of these steps, or nothing if not even the first quotient is sure.
fn leading_steps(large: &BigUint, small: &BigUint) -> Option<[i64; 4]> {
    let shift = large.bits().saturating_sub(62);
    let mut x = (large >> shift).to_i64()?;
    let mut y = (small >> shift).to_i64()?;
    let [mut a, mut b, mut c, mut d] = [1i64, 0, 0, 1];
    loop {
        if y.checked_add(c)? == 0 || y.checked_add(d)? == 0 {
            break;
        }
        let quotient = (x + a) / (y + c);
        if quotient != (x + b) / (y + d) {
            break;
        }
        let Some([next_c, next_d, next_y]) = step(quotient, [(a, c), (b, d), (x, y)]) else {
            break;
        };
        (a, c) = (c, next_c);
        (b, d) = (d, next_d);
        (x, y) = (y, next_y);
    }
    (b != 0).then_some([a, b, c, d])
}

/// Subtracts the second of each pair from the first `quotient` times; returns nothing on overflow.
fn step(quotient: i64, pairs: [(i64, i64); 3]) -> Option<[i64; 3]> {
    let mut rests = [0; 3];
    for (rest, (from, what)) in rests.iter_mut().zip(pairs) {
        *rest = from.checked_sub(quotient.checked_mul(what)?)?;
    }
    Some(rests)
}

/// Returns *ax* + *by*, which is a remainder of Euclid's algorithm and so never negative.
fn combine(a: i64, x: &BigUint, b: i64, y: &BigUint) -> BigUint {
    let left = x * a.unsigned_abs();
    let right = y * b.unsigned_abs();
    if b < 0 {
        left - right
    } else if a < 0 {
        right - left
    } else {
        left + right
    }
}
