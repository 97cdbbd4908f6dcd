//! The text of atoms: characters, strings, symbols and keywords.
//!
//! INVARIANT: what is written here reads back as the same atom; a symbol that would read as something else stands between bars.
//! It does not know heaps. Read next: `printer.rs`.
//!
//! Source: R7RS 2.1, 6.6, 6.7, 7.1.1.

use std::fmt;

use crate::number::Number;

/// The names of R7RS, section 6.6.
const CHARACTER_NAMES: [(&str, char); 9] = [
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

const BYTE_ORDER_MARK: char = '\u{feff}';

/// Writes a character as `#\x`, by name or by number where it has no shape of its own.
pub(crate) fn write_character(character: char, out: &mut impl fmt::Write) -> fmt::Result {
    if let Some((name, _)) = CHARACTER_NAMES.iter().find(|(_, known)| *known == character) {
        return write!(out, "#\\{name}");
    }
    if character.is_control() || character.is_whitespace() || character == BYTE_ORDER_MARK {
        return write!(out, "#\\x{:x}", u32::from(character));
    }
    write!(out, "#\\{character}")
}

/// Writes a symbol, between bars if it would read as something else.
pub(crate) fn write_symbol(name: &str, out: &mut impl fmt::Write) -> fmt::Result {
    if is_word(name) && is_plain_symbol(name) {
        return out.write_str(name);
    }
    write_delimited(name.chars(), '|', out)
}

/// Writes a keyword, whose name is given without its colon.
pub(crate) fn write_keyword(name: &str, out: &mut impl fmt::Write) -> fmt::Result {
    out.write_char(':')?;
    if is_word(name) {
        return out.write_str(name);
    }
    write_delimited(name.chars(), '|', out)
}

/// Writes characters between delimiters, with escapes for those that could not stand there.
pub(crate) fn write_delimited(
    text: impl Iterator<Item = char>,
    delimiter: char,
    out: &mut impl fmt::Write,
) -> fmt::Result {
    out.write_char(delimiter)?;
    for character in text {
        match character {
            '\\' => out.write_str("\\\\")?,
            '\n' => out.write_str("\\n")?,
            '\t' => out.write_str("\\t")?,
            '\r' => out.write_str("\\r")?,
            '\u{7}' => out.write_str("\\a")?,
            '\u{8}' => out.write_str("\\b")?,
            _ if character == delimiter => write!(out, "\\{delimiter}")?,
            _ if character.is_control() => write!(out, "\\x{:x};", u32::from(character))?,
            _ => out.write_char(character)?,
        }
    }
    out.write_char(delimiter)
}

/// Whether a reader would take the whole text as one word.
fn is_word(text: &str) -> bool {
    let is_ordinary =
        |character: char| !is_delimiter(character) && !character.is_control() && character != BYTE_ORDER_MARK;
    !text.is_empty() && text.chars().all(is_ordinary)
}

/// Whether a word is neither a number, nor like one, nor a keyword, nor the start of another syntax.
fn is_plain_symbol(word: &str) -> bool {
    let is_keyword = word.starts_with(':') && word != ":";
    let may_be_number = word.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '+' | '-' | '.'));
    let is_numeric = may_be_number && (looks_numeric(word) || Number::parse(word, 10).is_some());
    !(word == "." || word.starts_with('#') || is_keyword || is_numeric)
}

/// Whether a word starts like a number; the traditional names `1+`, `1-` and `-1+` are symbols all the same.
fn looks_numeric(word: &str) -> bool {
    let unsigned = word.strip_prefix(['+', '-']).unwrap_or(word);
    let digits = unsigned.strip_prefix('.').unwrap_or(unsigned);
    digits.starts_with(|first: char| first.is_ascii_digit()) && !matches!(word, "1+" | "1-" | "-1+")
}

fn is_delimiter(character: char) -> bool {
    matches!(
        character,
        '(' | ')' | '"' | ';' | '|' | '\'' | '`' | ',' | '[' | ']' | '{' | '}'
    ) || character.is_whitespace()
}
