//! Atoms: the meaning of a word.
//!
//! Owns the choice between number, symbol and keyword, and the names of characters.
//! INVARIANT: a word that looks like a number but is none is refused, never taken for a symbol.
//! It does not find where a word ends.
//! Read next: `datum/printer.rs`, its inverse.

use std::sync::Arc;

use super::super::reader::ReadProblem;
use super::super::{Name, Node};
use crate::datum::case::fold_full;
use crate::number::Complex;

/// The names of R7RS, section 6.6.
pub(in crate::datum) const CHARACTER_NAMES: [(&str, char); 9] = [
    ("alarm", '\u{7}'),
    ("backspace", '\u{8}'),
    ("delete", '\u{7f}'),
    ("escape", '\u{1b}'),
    ("newline", '\n'),
    ("null", '\0'),
    ("return", '\r'),
    ("space", ' '),
    ("tab", '\t'),
];

/// Returns the meaning of a word that does not start with `#`.
pub(super) fn word(word: &str, folds_case: bool) -> Result<Node, ReadProblem> {
    if may_be_number(word) {
        if let Some(number) = parse_number(word) {
            return Ok(number);
        }
        if is_malformed_number(word) {
            return Err(ReadProblem::MalformedNumber(Name::from(word)));
        }
    }
    let fold = |text: &str| {
        if folds_case {
            Name(Arc::from(text.chars().flat_map(fold_full).collect::<String>()))
        } else {
            Name::from(text)
        }
    };
    Ok(match word.strip_prefix(':') {
        // `::` and `:::` are traditional symbols; `:::` often serves as a custom ellipsis.
        Some(keyword) if !keyword.bytes().all(|byte| byte == b':') => Node::Keyword(fold(keyword)),
        _ => Node::Symbol(fold(word)),
    })
}

/// Returns whether a word, printed bare, reads back as the same symbol.
pub(in crate::datum) fn is_plain_symbol(text: &str) -> bool {
    if begins_like_infinity(text) {
        return false;
    }
    let may_be_other = text.starts_with(['#', ':']) || may_be_number(text);
    !may_be_other || text != "." && !text.starts_with('#') && word(text, false) == Ok(Node::Symbol(Name::from(text)))
}

/// Returns whether a text begins like `+inf.0` or `-nan.0`, which other readers may take for a
/// number even if more follows.
fn begins_like_infinity(text: &str) -> bool {
    let Some(head) = text.strip_prefix(['+', '-']).and_then(|rest| rest.get(..5)) else {
        return false;
    };
    head.eq_ignore_ascii_case("inf.0") || head.eq_ignore_ascii_case("nan.0")
}

/// Returns the meaning of a word that starts with `#`.
pub(super) fn sharp_word(word: &str) -> Result<Node, ReadProblem> {
    match word {
        "#t" | "#true" => return Ok(Node::Boolean(true)),
        "#f" | "#false" => return Ok(Node::Boolean(false)),
        _ => {}
    }
    let is_number = word[1..].starts_with(['b', 'o', 'd', 'x', 'e', 'i', 'B', 'O', 'D', 'X', 'E', 'I']);
    if is_number {
        let problem = || ReadProblem::MalformedNumber(Name::from(word));
        return parse_number(word).ok_or_else(problem);
    }
    match word.to_ascii_lowercase().as_str() {
        "#t" | "#true" => Ok(Node::Boolean(true)),
        "#f" | "#false" => Ok(Node::Boolean(false)),
        _ => Err(ReadProblem::UnknownSharp(Name::from(word))),
    }
}

/// Names of characters that are read and never written: those of R6RS and of older Schemes.
const OTHER_CHARACTER_NAMES: [(&str, char); 7] = [
    ("del", '\u{7f}'),
    ("esc", '\u{1b}'),
    ("linefeed", '\n'),
    ("nul", '\0'),
    ("page", '\u{c}'),
    ("rubout", '\u{7f}'),
    ("vtab", '\u{b}'),
];

/// Returns the character that is written `#\name`, whatever the case of the name, as in R5RS.
pub(super) fn character(name: &str) -> Result<char, ReadProblem> {
    let mut characters = name.chars();
    if let (Some(only), None) = (characters.next(), characters.next()) {
        return Ok(only);
    }
    let mut names = CHARACTER_NAMES.iter().chain(&OTHER_CHARACTER_NAMES);
    if let Some((_, character)) = names.find(|(known, _)| name.eq_ignore_ascii_case(known)) {
        return Ok(*character);
    }
    let code = name
        .strip_prefix(['x', 'X'])
        .and_then(|digits| u32::from_str_radix(digits, 16).ok());
    code.and_then(char::from_u32)
        .ok_or_else(|| ReadProblem::UnknownCharacter(Name::from(name)))
}

/// Returns whether the first characters admit a number: digits, signs, a decimal point.
fn may_be_number(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '+' | '-' | '.'))
}

/// Returns whether a word that is not a number looks like a mistyped one: it begins like a number
/// and has nothing but digits, points, signs, `/` and the marks of an exponent or an imaginary
/// part.
///
/// Other words may begin with a digit, as in most Schemes: `1+`, `2d-vector`.
fn is_malformed_number(word: &str) -> bool {
    let unsigned = word.strip_prefix(['+', '-']).unwrap_or(word);
    let unsigned = unsigned.strip_prefix('.').unwrap_or(unsigned);
    let is_numeric = |character: char| character.is_ascii_digit() || "+-./@eEi".contains(character);
    unsigned.starts_with(|first: char| first.is_ascii_digit())
        && word.chars().all(is_numeric)
        && !matches!(word, "1+" | "-1+" | "1-")
}

fn parse_number(word: &str) -> Option<Node> {
    let number = Complex::parse(word, 10)?;
    Some(match number.as_real() {
        Some(real) => Node::Number(real.clone()),
        None => Node::Complex(Box::new(number)),
    })
}
