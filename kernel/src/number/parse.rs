//! Parsing: text to number.
//!
//! Owns the lexical syntax of real numbers: prefixes in either order and any case, integers,
//! ratios, decimals, the infinities and NaN. A decimal rounds once, correctly. As an extension a
//! decimal point is read in every radix, so that flonums printed in any radix can be read back; an
//! exponent is read only in radix ten, because `e` is a digit from radix fifteen on.
//! INVARIANT: the memory and time that parsing takes are bounded whatever the text: an exact number
//! beyond [`MAX_BITS`](super::MAX_BITS) is refused before it is built.
//! It does not find where a number ends in a longer text.
//! Read next: `number/print.rs`.
//!
//! Source: R7RS 7.1.1, "real R".

use num_bigint::{BigInt, BigUint};
use num_traits::{Pow, Zero};

use super::exactness::quotient_to_f64;
use super::{MAX_BITS, Number};

/// The greatest length of a text that is read as a number, in bytes: an integer of [`MAX_BITS`] in
/// radix two with prefixes, sign and slack.
pub(super) const MAX_TEXT_BYTES: usize = MAX_BITS as usize + 64;

/// The number of digits converted in one piece; longer integers are combined from pieces, so that
/// the cost stays below quadratic.
const PIECE_DIGITS: usize = 512;

/// The marks of an exponent: that of R7RS, and those of R5RS for other precisions, all of which
/// mean a flonum here.
const EXPONENT_MARKS: &[u8] = b"eEsSfFdDlL";

/// The exactness that a text asks for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Exactness {
    /// As the syntax implies: a point or an exponent makes a flonum.
    Implied,
    /// That of the prefix `#e`.
    Exact,
    /// That of the prefix `#i`.
    Inexact,
}

/// The digits of a decimal: ‹whole›.‹fraction› × radix^exponent.
struct Decimal<'a> {
    whole: &'a [u8],
    fraction: &'a [u8],
    exponent: i64,
}

impl Number {
    /// Reads a real number in the given radix, 2 to 36, which a prefix in the text overrides.
    ///
    /// Returns nothing if the text is not a number, if it asks for an exact number beyond the
    /// limits of this module (`#e1e1000000000`), if it is a ratio over zero, or if the radix is out
    /// of range.
    ///
    /// Source: R7RS 6.2.7, `string->number`.
    pub fn parse(text: &str, radix: u32) -> Option<Number> {
        if text.len() > MAX_TEXT_BYTES {
            return None;
        }
        let (exactness, radix, body) = prefixes(text.as_bytes(), radix)?;
        signed_real(body, radix, exactness)
    }
}

/// Reads a real number without prefixes.
pub(super) fn signed_real(body: &[u8], radix: u32, exactness: Exactness) -> Option<Number> {
    if !(2..=36).contains(&radix) {
        return None;
    }
    let (negative, magnitude) = match body {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, body),
    };
    let signed = magnitude.len() < body.len();
    let value = match special(magnitude).filter(|_| signed) {
        Some(_) if exactness == Exactness::Exact => None,
        Some(value) => Some(Number::Flonum(value)),
        None => unsigned(magnitude, radix, exactness),
    }?;
    Some(if negative { value.negate() } else { value })
}

/// Reads up to one radix prefix and one exactness prefix, in either order, and returns the rest.
pub(super) fn prefixes(text: &[u8], default_radix: u32) -> Option<(Exactness, u32, &[u8])> {
    let (mut exactness, mut radix) = (None, None);
    let mut rest = text;
    while let [b'#', letter, after @ ..] = rest {
        let (slot_radix, slot_exactness) = match letter.to_ascii_lowercase() {
            b'b' => (Some(2), None),
            b'o' => (Some(8), None),
            b'd' => (Some(10), None),
            b'x' => (Some(16), None),
            b'e' => (None, Some(Exactness::Exact)),
            b'i' => (None, Some(Exactness::Inexact)),
            _ => return None,
        };
        if (slot_radix.is_some() && radix.is_some()) || (slot_exactness.is_some() && exactness.is_some()) {
            return None;
        }
        radix = radix.or(slot_radix);
        exactness = exactness.or(slot_exactness);
        rest = after;
    }
    Some((
        exactness.unwrap_or(Exactness::Implied),
        radix.unwrap_or(default_radix),
        rest,
    ))
}

/// Reads the text after the sign of an infinity or a NaN.
fn special(magnitude: &[u8]) -> Option<f64> {
    if magnitude.eq_ignore_ascii_case(b"inf.0") {
        Some(f64::INFINITY)
    } else if magnitude.eq_ignore_ascii_case(b"nan.0") {
        Some(f64::NAN)
    } else {
        None
    }
}

fn unsigned(text: &[u8], radix: u32, exactness: Exactness) -> Option<Number> {
    if let Some(slash) = text.iter().position(|byte| *byte == b'/') {
        return ratio(&text[..slash], &text[slash + 1..], radix, exactness);
    }
    if are_digits(text, radix) {
        let value = integer(text, radix)?;
        return Some(if exactness == Exactness::Inexact {
            value.inexact()
        } else {
            value
        });
    }
    let decimal = decimal(text, radix)?;
    match exactness {
        Exactness::Exact => exact_decimal(&decimal, radix),
        Exactness::Implied | Exactness::Inexact if radix == 10 => {
            // The standard parser rounds correctly at any length and takes every text of this
            // shape, except for the other marks; it cuts off exponents beyond 655,360.
            let text = std::str::from_utf8(text).ok()?;
            let is_other_mark = |character: char| character.is_ascii_alphabetic() && !matches!(character, 'e' | 'E');
            let value = if text.len() >= LONG_DECIMAL {
                normalized(text).parse()
            } else if text.contains(is_other_mark) {
                text.replace(is_other_mark, "e").parse()
            } else {
                text.parse()
            };
            value.ok().map(Number::Flonum)
        }
        Exactness::Implied | Exactness::Inexact => inexact_decimal(&decimal, radix).map(Number::Flonum),
    }
}

/// The length from which on the digits of a decimal may make up for an exponent that the standard
/// parser cuts off, in bytes.
const LONG_DECIMAL: usize = 100_000;

/// The largest exponent of a normalized decimal; those beyond it are infinite or zero, too.
const EXPONENT_MAX: i64 = 100_000;

/// Writes a decimal without sign as `0.DIGITSeEXPONENT`, where the first digit is not zero.
fn normalized(text: &str) -> String {
    let (mantissa, exponent) = text
        .split_once(|character: char| character.is_ascii_alphabetic())
        .unwrap_or((text, "0"));
    let exponent = exponent
        .parse::<i64>()
        .unwrap_or(if exponent.starts_with('-') { i64::MIN } else { i64::MAX });
    let (integer, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = [integer, fraction].concat();
    let significant = digits.trim_start_matches('0');
    let shift = integer.len() as i64 - (digits.len() - significant.len()) as i64;
    let exponent = exponent.saturating_add(shift).clamp(-EXPONENT_MAX, EXPONENT_MAX);
    format!("0.{significant}0e{exponent}")
}

fn is_digit(byte: u8, radix: u32) -> bool {
    char::from(byte).is_digit(radix)
}

/// Returns whether the text consists of one or more digits.
fn are_digits(text: &[u8], radix: u32) -> bool {
    !text.is_empty() && text.iter().all(|byte| is_digit(*byte, radix))
}

/// Reads an integer from text known to be digits.
fn integer(digits: &[u8], radix: u32) -> Option<Number> {
    let short = std::str::from_utf8(digits)
        .ok()
        .and_then(|text| i64::from_str_radix(text, radix).ok());
    match short {
        Some(value) => Some(Number::from_i64(value)),
        None => Number::limited(BigInt::from(natural(digits, radix)?)).ok(),
    }
}

/// Reads a natural number from text known to be digits; leading zeros cost nothing.
fn natural(digits: &[u8], radix: u32) -> Option<BigUint> {
    let zeros = digits.iter().take_while(|byte| **byte == b'0').count();
    let digits = &digits[zeros..];
    // A digit carries at least floor(log2 radix) bits, so a text that passes has at most twice the
    // greatest length.
    if (digits.len() as u64).saturating_sub(1) * u64::from(radix.ilog2()) > MAX_BITS {
        return None;
    }
    if digits.is_empty() {
        return Some(BigUint::zero());
    }
    let mut pieces: Vec<BigUint> = digits
        .rchunks(PIECE_DIGITS)
        .map(|piece| BigUint::parse_bytes(piece, radix))
        .collect::<Option<_>>()?;
    let mut weight = BigUint::from(radix).pow(PIECE_DIGITS as u32);
    while pieces.len() > 1 {
        pieces = pieces
            .chunks(2)
            .map(|pair| match pair {
                [low, high] => low + high * &weight,
                _ => pair[0].clone(),
            })
            .collect();
        if pieces.len() > 1 {
            weight = &weight * &weight;
        }
    }
    pieces.pop()
}

fn ratio(numerator: &[u8], denominator: &[u8], radix: u32, exactness: Exactness) -> Option<Number> {
    if !are_digits(numerator, radix) || !are_digits(denominator, radix) {
        return None;
    }
    let (numerator, denominator) = (natural(numerator, radix)?, natural(denominator, radix)?);
    if denominator.is_zero() {
        return None;
    }
    if exactness == Exactness::Inexact {
        return Some(Number::Flonum(quotient_to_f64(&numerator, &denominator)));
    }
    Number::from_ratio(BigInt::from(numerator), BigInt::from(denominator)).ok()
}

/// Splits a number with a point, an exponent or both.
fn decimal(text: &[u8], radix: u32) -> Option<Decimal<'_>> {
    let run = |from: &[u8]| from.iter().take_while(|byte| is_digit(**byte, radix)).count();
    let (whole, rest) = text.split_at(run(text));
    let (fraction, rest) = match rest {
        [b'.', after @ ..] => after.split_at(run(after)),
        _ => (&[][..], rest),
    };
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let exponent = match rest {
        [] => 0,
        [mark, after @ ..] if radix == 10 && EXPONENT_MARKS.contains(mark) => exponent(after)?,
        _ => return None,
    };
    Some(Decimal {
        whole,
        fraction,
        exponent,
    })
}

/// Reads an exponent; beyond ±2³⁰ its size no longer matters, and the value stops growing.
fn exponent(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    if !are_digits(digits, 10) {
        return None;
    }
    let magnitude = digits
        .iter()
        .fold(0i64, |sum, digit| (sum * 10 + i64::from(digit - b'0')).min(1 << 30));
    Some(if negative { -magnitude } else { magnitude })
}

/// Returns the digits as one integer and the power of the radix that scales it.
fn scaled(decimal: &Decimal<'_>, radix: u32) -> Option<(BigUint, i64)> {
    let digits = [decimal.whole, decimal.fraction].concat();
    let trailing = digits.iter().rev().take_while(|byte| **byte == b'0').count();
    let significant = &digits[..digits.len() - trailing];
    let scale = decimal.exponent - i64::try_from(decimal.fraction.len()).ok()? + i64::try_from(trailing).ok()?;
    Some((natural(significant, radix)?, scale))
}

/// Returns the radix to a power that is not too large to build.
fn radix_power(radix: u32, exponent: u64) -> Option<BigUint> {
    let too_large = exponent.saturating_mul(u64::from(radix.ilog2())) > MAX_BITS;
    (!too_large).then(|| Pow::pow(BigUint::from(radix), exponent))
}

fn exact_decimal(decimal: &Decimal<'_>, radix: u32) -> Option<Number> {
    let (mantissa, scale) = scaled(decimal, radix)?;
    if mantissa.is_zero() {
        return Some(Number::Fixnum(0));
    }
    let power = radix_power(radix, scale.unsigned_abs())?;
    if scale < 0 {
        return Number::from_ratio(BigInt::from(mantissa), BigInt::from(power)).ok();
    }
    if mantissa.bits() + power.bits() > MAX_BITS + 1 {
        return None;
    }
    Number::limited(BigInt::from(mantissa * power)).ok()
}

fn inexact_decimal(decimal: &Decimal<'_>, radix: u32) -> Option<f64> {
    let (mantissa, scale) = scaled(decimal, radix)?;
    let power = radix_power(radix, scale.unsigned_abs())?;
    let one = BigUint::from(1u32);
    Some(if scale < 0 {
        quotient_to_f64(&mantissa, &power)
    } else {
        quotient_to_f64(&(mantissa * power), &one)
    })
}
