//! What it costs to make a number of a text.
//!
//! INVARIANT: the cost follows from the text alone, before anything is built.
//! Read next: `../../number/parse.rs`.

use super::{CHARACTERS, DIGITS_OF_FLONUM, RATIO, digits_of, linear_in, of_power, reduction};
use crate::number::MAX_BITS;

/// Returns the fuel of making a number of a text. A decimal in radix ten becomes a flonum directly;
/// for other numbers the digits become integers first, and those of a ratio are reduced.
pub(crate) fn parsing(text: &str, radix: u32) -> u64 {
    let (mut digits, mut radix, mut is_exact) = (text, radix, false);
    while let Some((letter, rest)) = digits.strip_prefix('#').and_then(|rest| rest.split_at_checked(1)) {
        match letter {
            "b" | "B" => radix = 2,
            "o" | "O" => radix = 8,
            "x" | "X" => radix = 16,
            "e" | "E" => is_exact = true,
            _ => {}
        }
        digits = rest;
    }
    let is_numeral = |letter: char| is_mark(letter) || letter.is_digit(radix);
    if !digits.chars().all(is_numeral) {
        return 0;
    }
    let read = digits.len() as u64 / CHARACTERS;
    if let Some((above, below)) = digits.split_once('/') {
        let (above, below) = (length(above, radix), length(below, radix));
        return read + 4 * RATIO + integer(above, radix) + integer(below, radix) + reduction(above, below);
    }
    let has_point = digits.contains('.') || radix == 10 && digits.contains(['e', 'E']);
    read + match (has_point, is_exact || radix != 10) {
        (false, _) => integer(length(digits, radix), radix),
        (true, false) => DIGITS_OF_FLONUM,
        (true, true) => {
            let length = length(digits, radix);
            3 * RATIO + integer(length, radix) + of_power(length) + reduction(length, length)
        }
    }
}

/// Whether a character stands between the digits of a number.
fn is_mark(letter: char) -> bool {
    "+-./eEiI@".contains(letter)
}

/// Returns the words of 64 bits of the integers that a text becomes. Digits of an integer that
/// would be too long are refused before it is built.
fn length(digits: &str, radix: u32) -> u64 {
    let is_built = |run: &&str| {
        let digits = run.trim_start_matches('0').len() as u64;
        digits.saturating_sub(1) * u64::from(radix.ilog2()) <= MAX_BITS
    };
    let bits_of_digit = u64::from(u32::BITS - radix.leading_zeros());
    let runs = digits.split(is_mark).filter(is_built);
    runs.map(|run| run.len() as u64).sum::<u64>() * bits_of_digit / 64
}

/// Returns the fuel of an integer of this length from its digits.
fn integer(length: u64, radix: u32) -> u64 {
    if radix.is_power_of_two() {
        linear_in(length * 4)
    } else {
        digits_of(length)
    }
}
