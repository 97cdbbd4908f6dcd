//! What JSON texts of others have that no text here can hold: halves of characters, as programs in
//! JavaScript write them that cut strings, and marks of the byte order.
//!
//! JSON can name half of a character beyond U+FFFF, as `\ud83d`; no text here can hold it. A cut
//! stream has one half at the end of one piece and the other at the beginning of the next.
//! INVARIANT: a text without halves stays as it is.
//! It does not read JSON. Read next: `model/posting.rs`, `mcp/mend.rs`.
//!
//! Source: RFC 8259, sections 7, 8.1 and 8.2.

use std::borrow::Cow;

/// The first of the 2,048 private characters that stand for halves until they are joined.
const FIRST: u32 = 0x0010_f800;

/// The first half of all, in UTF-16.
const FIRST_UNIT: u32 = 0xd800;

/// The mark that may stand before a text, in UTF-8.
const MARK: &[u8] = "\u{feff}".as_bytes();

/// Returns a text without the byte order mark before it.
pub(crate) fn unmarked(text: &[u8]) -> &[u8] {
    text.strip_prefix(MARK).unwrap_or(text)
}

/// Puts a character in the place of each escape in JSON text that is half of a character.
pub(super) fn marked(json: &str) -> Cow<'_, str> {
    let mut marked = String::new();
    let (mut rest, mut is_any) = (json, false);
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        marked.push_str(before);
        let length = match (unit(escape), escape.get(6..).and_then(unit)) {
            (Some(0xd800..0xdc00), Some(0xdc00..0xe000)) => 12,
            (Some(half @ 0xd800..0xe000), _) => {
                is_any = true;
                marked.extend(char::from_u32(FIRST + u32::from(half) - FIRST_UNIT));
                rest = &escape[6..];
                continue;
            }
            (Some(_), _) => 6,
            (None, _) => 1 + escape[1..].chars().next().map_or(0, char::len_utf8),
        };
        marked.push_str(&escape[..length]);
        rest = &escape[length..];
    }
    if !is_any {
        return Cow::Borrowed(json);
    }
    marked.push_str(rest);
    Cow::Owned(marked)
}

/// Reads the escape of a UTF-16 unit, such as `\ud83d`, with which a text begins.
fn unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    let is_number = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    u16::from_str_radix(digits, 16).ok().filter(|_| is_number)
}

/// Makes a character of two halves that have come together, and the replacement character of one
/// that is alone.
pub(super) fn joined(text: String) -> String {
    let half = |letter: char| u16::try_from(u32::from(letter).checked_sub(FIRST)? + FIRST_UNIT).ok();
    if !text.chars().any(|letter| half(letter).is_some()) {
        return text;
    }
    let units = text.chars().flat_map(|letter| match half(letter) {
        Some(unit) => vec![unit],
        None => letter.encode_utf16(&mut [0; 2]).to_vec(),
    });
    char::decode_utf16(units)
        .map(|letter| letter.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_that_come_together_are_one_character() {
        for (pieces, expected) in [
            (&["a\\ud83d", "\\udc4b b"][..], "a👋 b"),
            (&["\\ud83d"], "\u{fffd}"),
            (&["\\udc4b", "\\ud83d"], "\u{fffd}\u{fffd}"),
            (&["\\ud83d", "x\\udc4b"], "\u{fffd}x\u{fffd}"),
        ] {
            let text: String = pieces.iter().map(|piece| marked(piece)).collect();
            assert_eq!(joined(text), expected, "{pieces:?}");
        }
        for whole in ["\\ud83d\\udc4b \\\\ud83d \\n \\u00e4", "👋", "\\", "\\u12"] {
            assert!(matches!(marked(whole), Cow::Borrowed(_)), "{whole}");
            assert_eq!(joined(whole.to_owned()), whole);
        }
    }
}
