//! Printing: number to text.
//!
//! Owns the external representation.
//! INVARIANT: reading the text in the same radix gives the same number back (`eqv?`), and a flonum
//! is written with the fewest digits for which that holds.
//! It does not read.
//! Read next: `number/arithmetic.rs`.
//!
//! Source: R7RS 6.2.7, `number->string`; Burger and Dybvig, *Printing Floating-Point Numbers
//! Quickly and Accurately*, for radices other than ten.

use std::fmt;

use num_bigint::{BigInt, BigUint};
use num_integer::Integer;
use num_traits::{One, Signed, ToPrimitive};

use super::Number;
use super::exactness::decompose;

/// In radix ten, numbers with more whole digits than this are written with an exponent.
const MAX_WHOLE_DIGITS: i64 = 21;
/// In radix ten, fractions with more leading zeros than this are written with an exponent.
const MAX_LEADING_ZEROS: i64 = 5;

/// The shortest digits of a positive float: 0.‹digits› × radix^point.
struct Digits {
    text: String,
    point: i64,
}

impl Number {
    /// Writes the number in a radix from 2 to 36; a radix outside that range is replaced by the
    /// nearer bound.
    ///
    /// A flonum always shows a point or an exponent; in radices other than ten it has no exponent.
    pub fn to_string_radix(&self, radix: u32) -> String {
        self.to_string_while(radix, &|| true).unwrap_or_default()
    }

    /// The same; `None` if the digits of a long integer are not to go on.
    pub(crate) fn to_string_while(&self, radix: u32, goes_on: &dyn Fn() -> bool) -> Option<String> {
        let radix = radix.clamp(2, 36);
        Some(match self {
            Number::Fixnum(value) if radix == 10 => value.to_string(),
            Number::Fixnum(value) => BigInt::from(*value).to_str_radix(radix),
            Number::Big(value) => integer(value, radix, goes_on)?,
            Number::Ratio(value) => {
                let [above, below] = [value.numer(), value.denom()].map(|part| integer(part, radix, goes_on));
                format!("{}/{}", above?, below?)
            }
            Number::Flonum(value) => flonum(*value, radix),
        })
    }
}

impl fmt::Display for Number {
    /// Writes the number in radix ten.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Number::Fixnum(value) => write!(out, "{value}"),
            Number::Big(_) | Number::Ratio(_) | Number::Flonum(_) => out.write_str(&self.to_string_radix(10)),
        }
    }
}

fn integer(value: &BigInt, radix: u32, goes_on: &dyn Fn() -> bool) -> Option<String> {
    let sign = if value.is_negative() { "-" } else { "" };
    let digits = super::radix::write(value.magnitude(), radix, goes_on)?;
    Some(format!("{sign}{digits}"))
}

fn flonum(value: f64, radix: u32) -> String {
    if value.is_nan() {
        return "+nan.0".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "+inf.0" } else { "-inf.0" }.to_owned();
    }
    let sign = if value.is_sign_negative() { "-" } else { "" };
    let magnitude = libm::fabs(value);
    if magnitude == 0.0 {
        return format!("{sign}0.0");
    }
    if radix == 10 {
        return format!("{sign}{}", decimal(&decimal_digits(magnitude)));
    }
    let text = format!("{sign}{}", positional(&radix_digits(magnitude, radix)));
    // From radix 24 on, two whole numbers are spelt like an infinity and a NaN; one more zero
    // distinguishes them.
    if matches!(text.as_str(), "-inf.0" | "-nan.0") {
        text + "0"
    } else {
        text
    }
}

fn decimal(digits: &Digits) -> String {
    if (-MAX_LEADING_ZEROS..=MAX_WHOLE_DIGITS).contains(&digits.point) {
        return positional(digits);
    }
    let (first, rest) = digits.text.split_at(1);
    let dot = if rest.is_empty() { "" } else { "." };
    format!("{first}{dot}{rest}e{}", digits.point - 1)
}

/// Writes digits and point without exponent, with at least one digit on either side of the point.
fn positional(digits: &Digits) -> String {
    let length = digits.text.len();
    let zeros = |count: usize| "0".repeat(count);
    match usize::try_from(digits.point) {
        Ok(0) | Err(_) => {
            let gap = usize::try_from(digits.point.unsigned_abs()).unwrap_or(0);
            format!("0.{}{}", zeros(gap), digits.text)
        }
        Ok(point) if point >= length => format!("{}{}.0", digits.text, zeros(point - length)),
        Ok(point) => format!("{}.{}", &digits.text[..point], &digits.text[point..]),
    }
}

/// Returns the shortest decimal digits. The standard library finds them, and among equally short
/// ones those closest to the value.
fn decimal_digits(magnitude: f64) -> Digits {
    let text = format!("{magnitude:e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i64 = exponent.parse().unwrap_or(0);
    Digits {
        text: mantissa.chars().filter(|digit| *digit != '.').collect(),
        point: exponent + 1,
    }
}

/// The state of free-format printing: `rest / unit` remains to be written, and any text within
/// `above / unit` and `below / unit` of it reads back as the same float.
struct Scaled {
    rest: BigUint,
    unit: BigUint,
    above: BigUint,
    below: BigUint,
    /// Whether the interval includes its ends, as it does when the mantissa is even.
    closed: bool,
}

impl Scaled {
    fn new(magnitude: f64) -> Scaled {
        let (mantissa, exponent) = decompose(magnitude);
        // Just below a power of two the distance between floats is half as large.
        let uneven = u32::from(mantissa == 1 << 52 && exponent > -1074);
        let (up, down) = if exponent >= 0 { (exponent, 0) } else { (0, -exponent) };
        let one = BigUint::one();
        Scaled {
            rest: (BigUint::from(mantissa) << up) << (1 + uneven),
            unit: (&one << down) << (1 + uneven),
            above: (&one << up) << uneven,
            below: &one << up,
            closed: mantissa.is_even(),
        }
    }

    /// Returns whether rounding up from here exceeds the unit.
    fn reaches_unit(&self, factor: u32) -> bool {
        let high = (&self.rest + &self.above) * factor;
        if self.closed {
            high >= self.unit
        } else {
            high > self.unit
        }
    }

    fn is_within_below(&self) -> bool {
        if self.closed {
            self.rest <= self.below
        } else {
            self.rest < self.below
        }
    }

    fn grow(&mut self, radix: u32) {
        self.rest *= radix;
        self.above *= radix;
        self.below *= radix;
    }
}

/// Returns the shortest digits in any radix.
fn radix_digits(magnitude: f64, radix: u32) -> Digits {
    let mut state = Scaled::new(magnitude);
    let mut point = 0;
    while state.reaches_unit(1) {
        state.unit *= radix;
        point += 1;
    }
    while !state.reaches_unit(radix) {
        state.grow(radix);
        point -= 1;
    }
    let mut text = String::new();
    loop {
        state.grow(radix);
        let (quotient, rest) = state.rest.div_rem(&state.unit);
        state.rest = rest;
        let digit = quotient.to_u32().unwrap_or(0);
        let (low, high) = (state.is_within_below(), state.reaches_unit(1));
        let last = match (low, high) {
            (false, false) => None,
            (true, false) => Some(digit),
            (false, true) => Some(digit + 1),
            (true, true) => Some(if &state.rest * 2u32 < state.unit {
                digit
            } else {
                digit + 1
            }),
        };
        text.push(char::from_digit(last.unwrap_or(digit), radix).unwrap_or('0'));
        if last.is_some() {
            return Digits { text, point };
        }
    }
}
