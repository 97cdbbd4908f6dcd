//! Complex numbers as text.
//!
//! Owns the rectangular and the polar notation; each part is read and written as a real number.
//! INVARIANT: reading the text in the same radix gives the same number back (`eqv?`). In radices
//! above eighteen `i` is a digit: there the real part is always written, and only a sign inside the
//! text makes the last `i` the imaginary unit.
//! It does not read or write the parts.
//! Read next: `../parse.rs`.
//!
//! Source: R7RS 7.1.1, "complex R".

use std::fmt;

use super::super::parse::{Exactness, MAX_TEXT_BYTES, prefixes, signed_real};
use super::{Complex, Number, ZERO, is_nothing};

/// The greatest radix in which `i` is not a digit.
const MAX_PLAIN_RADIX: u32 = 18;

impl Complex {
    /// Reads a number in the given radix, 2 to 36, which a prefix in the text overrides.
    ///
    /// Returns nothing if the text is not a number, under the same conditions as [`Number::parse`].
    ///
    /// Source: R7RS 6.2.7, `string->number`.
    pub fn parse(text: &str, radix: u32) -> Option<Complex> {
        if let Some(real) = Number::parse(text, radix) {
            return Some(real.into());
        }
        if text.len() > 2 * MAX_TEXT_BYTES {
            return None;
        }
        let (exactness, radix, body) = prefixes(text.as_bytes(), radix)?;
        let number = if let Some(at) = body.iter().position(|byte| *byte == b'@') {
            let magnitude = signed_real(&body[..at], radix, exactness)?;
            let angle = signed_real(&body[at + 1..], radix, exactness)?;
            Complex::from_polar(&magnitude, &angle).ok()?
        } else {
            rectangular(body, radix, exactness)?
        };
        match exactness {
            Exactness::Implied => Some(number),
            Exactness::Exact => number.exact().ok(),
            Exactness::Inexact => Some(number.inexact()),
        }
    }

    /// Writes the number in a radix from 2 to 36; a radix outside that range is replaced by the
    /// nearer bound.
    pub fn to_string_radix(&self, radix: u32) -> String {
        if is_nothing(&self.imaginary) {
            return self.real.to_string_radix(radix);
        }
        let mut text = if is_nothing(&self.real) && radix <= MAX_PLAIN_RADIX {
            String::new()
        } else {
            self.real.to_string_radix(radix)
        };
        match self.imaginary {
            Number::Fixnum(1) => text.push('+'),
            Number::Fixnum(-1) => text.push('-'),
            Number::Fixnum(_) | Number::Big(_) | Number::Ratio(_) | Number::Flonum(_) => {
                let imaginary = self.imaginary.to_string_radix(radix);
                if !imaginary.starts_with(['+', '-']) {
                    text.push('+');
                }
                text.push_str(&imaginary);
            }
        }
        text.push('i');
        text
    }
}

impl fmt::Display for Complex {
    /// Writes the number in radix ten.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.to_string_radix(10))
    }
}

fn rectangular(body: &[u8], radix: u32, exactness: Exactness) -> Option<Complex> {
    let [parts @ .., b'i' | b'I'] = body else {
        return None;
    };
    let middle = last_sign(parts, radix)?;
    if middle == 0 && radix > MAX_PLAIN_RADIX {
        return None;
    }
    let real = match &parts[..middle] {
        [] => ZERO,
        text => signed_real(text, radix, exactness)?,
    };
    let imaginary = match &parts[middle..] {
        b"+" => Number::Fixnum(1),
        b"-" => Number::Fixnum(-1),
        text => signed_real(text, radix, exactness)?,
    };
    Some(Complex::new(real, imaginary))
}

/// Finds the last sign that does not belong to an exponent.
fn last_sign(text: &[u8], radix: u32) -> Option<usize> {
    (0..text.len()).rev().find(|&place| {
        let is_exponent = radix == 10
            && place >= 2
            && matches!(text[place - 1], b'e' | b'E')
            && matches!(text[place - 2], b'0'..=b'9' | b'.');
        matches!(text[place], b'+' | b'-') && !is_exponent
    })
}
