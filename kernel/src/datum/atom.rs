//! The text of atoms: characters, strings, symbols and keywords.
//!
//! INVARIANT: an atom that is written here reads back as the same atom; a symbol that would read as
//! something else is written between bars.
//! It knows neither data nor heaps: both printers use it.
//! Read next: `datum/printer.rs`, `printer.rs`.
//!
//! Source: R7RS 2.1, 6.6, 6.7, 7.1.1.

use std::fmt;

use super::lexer::atom::{CHARACTER_NAMES, is_plain_symbol};
use super::lexer::is_delimiter;

const BYTE_ORDER_MARK: char = '\u{feff}';

/// Writes a character as `#\x`, by name or by number where it has no glyph of its own.
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

/// Writes a keyword; `name` lacks the colon.
pub(crate) fn write_keyword(name: &str, out: &mut impl fmt::Write) -> fmt::Result {
    out.write_char(':')?;
    if is_word(name) && !name.bytes().all(|byte| byte == b':') {
        return out.write_str(name);
    }
    write_delimited(name.chars(), '|', out)
}

/// Writes characters between delimiters and escapes those that may not occur there.
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

/// Returns whether a reader would take the whole text as one word. Other readers take a backslash
/// for the beginning of an escape.
fn is_word(text: &str) -> bool {
    let is_ordinary = |character: char| {
        !is_delimiter(character) && !character.is_control() && !matches!(character, BYTE_ORDER_MARK | '\\')
    };
    !text.is_empty() && text.chars().all(is_ordinary)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datum::Node;
    use crate::datum::reader::read_one;

    #[test]
    fn names_of_colons_read_back_as_what_they_are() {
        for name in [":", "::", ":::", ":a", "a:", "1+", "+1", "", "."] {
            let (mut symbol, mut keyword) = (String::new(), String::new());
            write_symbol(name, &mut symbol).expect("a string takes any text");
            write_keyword(name, &mut keyword).expect("a string takes any text");
            for (text, expected) in [
                (symbol, Node::Symbol(name.into())),
                (keyword, Node::Keyword(name.into())),
            ] {
                let read = read_one(&text, 0).expect("it reads").expect("it is there").0;
                assert_eq!(*read.node(read.root), expected, "{text}");
            }
        }
    }
}
