//! The text of values: whole, or abbreviated for lines that people read.
//!
//! Owns the parts that an abbreviation leaves out: the middle of long texts, the later items of
//! long collections, deep levels.
//! INVARIANT: [`apart`] never shows two different values as the same text, nor either of them in a
//! text that is too long for a person to compare.
//! It does not shorten JSON. Read next: `render.rs`.

use std::fmt::Write;

use duet_drivers::text;
use preserves::{CompoundClass, IOValue, Value, ValueClass, ValueImpl};

/// The characters of a text that are shown.
const TEXT_CHARACTERS: usize = 60;
/// The items of a collection that are shown.
const ITEMS: usize = 8;
/// The levels that are shown.
const DEPTH: usize = 6;
/// The characters around the first difference of two values.
const BEFORE_CHARACTERS: usize = 40;
const AROUND_CHARACTERS: usize = 120;
/// The maximum length of an abbreviated value that two are compared by.
pub(crate) const COMPARED_CHARACTERS: usize = 300;

/// Writes a value as Preserves text, with `…` for the parts that would make it long.
pub(crate) fn abbreviated(value: &IOValue) -> String {
    let mut text = String::new();
    write(&mut text, value, DEPTH);
    text
}

/// Writes two different values, either of which may be missing, so that the difference shows.
pub(crate) fn apart(sides: [Option<&IOValue>; 2]) -> [String; 2] {
    let written = |write: fn(&IOValue) -> String| sides.map(|side| side.map_or("nothing".to_owned(), write));
    let briefs = written(abbreviated);
    let is_brief = |text: &String| text.chars().count() <= COMPARED_CHARACTERS;
    if briefs[0] != briefs[1] && briefs.iter().all(is_brief) {
        return briefs;
    }
    let whole = written(shown);
    let alike = whole[0]
        .chars()
        .zip(whole[1].chars())
        .take_while(|(left, right)| left == right)
        .count();
    let first = alike.saturating_sub(BEFORE_CHARACTERS);
    whole.map(|whole| {
        let mut rest = whole.chars().skip(first);
        let before = if first > 0 { "…" } else { "" };
        let around: String = rest.by_ref().take(AROUND_CHARACTERS).collect();
        let after = if rest.next().is_some() { "…" } else { "" };
        format!("{before}{around}{after}")
    })
}

/// Writes a value as Preserves text.
pub(crate) fn shown(value: &IOValue) -> String {
    text::preserves(value)
}

/// The maximum length of a value in a report for people, in characters.
const WHOLE_CHARACTERS: usize = 10_000;

/// The beginning of a text that is too long to read, and how much of it is not shown.
pub(crate) fn bounded(text: String) -> String {
    let Some((end, _)) = text.char_indices().nth(WHOLE_CHARACTERS) else {
        return text;
    };
    let more = text[end..].chars().count();
    format!("{}… and {more} more characters", &text[..end])
}

/// Recursion is bounded by `depth`.
fn write(text: &mut String, value: &IOValue, depth: usize) {
    match value.value_class() {
        ValueClass::Compound(_) if depth == 0 => text.push('…'),
        ValueClass::Compound(CompoundClass::Record) => {
            text.push('<');
            write(text, &value.label().into(), depth - 1);
            write_items(text, value, [" ", " "], depth);
            text.push('>');
        }
        ValueClass::Compound(CompoundClass::Sequence) => {
            text.push('[');
            write_items(text, value, ["", ", "], depth);
            text.push(']');
        }
        ValueClass::Compound(CompoundClass::Set) => {
            text.push_str("#{");
            write_items(text, value, ["", ", "], depth);
            text.push('}');
        }
        ValueClass::Compound(CompoundClass::Dictionary) => {
            text.push('{');
            write_entries(text, value, depth);
            text.push('}');
        }
        ValueClass::Embedded | ValueClass::Atomic(_) => write_atom(text, value),
    }
}

/// Writes the items of a collection, with a prefix for the first and one for the others.
fn write_items(text: &mut String, value: &IOValue, [first, other]: [&str; 2], depth: usize) {
    for (index, item) in value.iter().take(ITEMS).enumerate() {
        text.push_str(if index == 0 { first } else { other });
        write(text, &item.into(), depth - 1);
    }
    write_rest(text, value.len(), other);
}

fn write_entries(text: &mut String, value: &IOValue, depth: usize) {
    let as_value = |part: Value<IOValue>| IOValue::from(part);
    for (index, (key, entry)) in value.entries().take(ITEMS).enumerate() {
        text.push_str(if index == 0 { "" } else { ", " });
        write(text, &as_value(key), depth - 1);
        text.push_str(": ");
        write(text, &as_value(entry), depth - 1);
    }
    write_rest(text, value.len(), ", ");
}

fn write_rest(text: &mut String, length: usize, before: &str) {
    if length > ITEMS {
        // Writing to a string does not fail.
        let _ = write!(text, "{before}… {} more", length - ITEMS);
    }
}

fn write_atom(text: &mut String, value: &IOValue) {
    let Some((start, rest)) = start(value) else {
        text.push_str(&shown(value));
        return;
    };
    let written = shown(&start);
    let length = written.chars().count() + rest;
    if length > TEXT_CHARACTERS {
        text.extend(written.chars().take(TEXT_CHARACTERS));
        let _ = write!(text, "… {} more", length - TEXT_CHARACTERS);
    } else {
        text.push_str(&written);
    }
}

/// Returns the start of a text or of bytes, which may have millions, and the number of characters
/// that the rest takes if it has no escapes.
fn start(value: &IOValue) -> Option<(IOValue, usize)> {
    if let Some(whole) = value.as_string() {
        let start: String = whole.chars().take(TEXT_CHARACTERS).collect();
        let rest = whole.chars().skip(TEXT_CHARACTERS).count();
        return Some((IOValue::new(start), rest));
    }
    let whole = value.as_bytestring()?;
    let start: Vec<u8> = whole.iter().copied().take(TEXT_CHARACTERS).collect();
    // Four digits of Base64 are three bytes.
    let rest = (whole.len() - start.len()) * 4 / 3;
    Some((IOValue::bytes(start), rest))
}

#[cfg(test)]
mod tests {
    use preserves::IOValue;

    use duet_runtime::driver::packed::PackedLimits;
    use duet_runtime::driver::packed::framing::read_text;

    use super::{AROUND_CHARACTERS, abbreviated, apart, shown};

    fn value(text: &str) -> IOValue {
        text.parse().expect("a value")
    }

    #[test]
    fn what_is_shown_reads_back() {
        for letter in ['\u{1}', '\u{7f}', '\u{85}', '\u{2028}', '\u{202e}', '\n', 'é', '👋'] {
            for value in [
                IOValue::new(format!("a{letter}b")),
                IOValue::symbol(format!("a{letter}b")),
            ] {
                let text = shown(&value);
                assert!(!text.chars().any(char::is_control), "{text:?}");
                assert_eq!(read_text(&text, PackedLimits::default()).as_ref(), Ok(&value), "{text}");
            }
        }
        assert_eq!(shown(&IOValue::new("\u{1}".to_owned())), "\"\\u0001\"");
    }

    #[test]
    fn what_is_short_is_whole() {
        for text in [
            "<a 1 \"b\">",
            "<empty>",
            "[1, [2], #{3}]",
            "{a: 1, b: <c>}",
            "#:<observer 0 1>",
            "#[YQ]",
            "#f",
            "[]",
            "{}",
        ] {
            assert_eq!(abbreviated(&value(text)), text);
        }
    }

    #[test]
    fn what_is_long_is_cut() {
        let items = format!(
            "[{}]",
            (0..12).map(|item| item.to_string()).collect::<Vec<_>>().join(" ")
        );
        let nested = format!("{}{}", "[".repeat(9), "]".repeat(9));
        let text = format!("\"{}\"", "x".repeat(100));
        let lines = format!("\"{}\"", "\\n".repeat(40));
        let bytes = format!("#[{}]", "YWJj".repeat(30));
        for (long, expected) in [
            (items.as_str(), "[0, 1, 2, 3, 4, 5, 6, 7, … 4 more]".to_owned()),
            (&nested, "[[[[[[…]]]]]]".to_owned()),
            (&text, format!("\"{}… 42 more", "x".repeat(59))),
            (&lines, format!("\"{}\\… 22 more", "\\n".repeat(29))),
            (&bytes, format!("#[{}YW… 63 more", "YWJj".repeat(14))),
        ] {
            assert_eq!(abbreviated(&value(long)), expected);
        }
    }

    #[test]
    fn two_values_never_look_alike() {
        let long = |middle: &str| value(&format!("<file \"{}{middle}{}\">", "x".repeat(200), "y".repeat(200)));
        let [left, right] = apart([Some(&long("a")), Some(&long("b"))]);
        assert_eq!(left, format!("…{}a{}…", "x".repeat(40), "y".repeat(79)));
        assert_eq!(right, format!("…{}b{}…", "x".repeat(40), "y".repeat(79)));
        assert_eq!(apart([None, Some(&value("[2]"))]), ["nothing", "[2]"]);
        let many = format!("[{}]", vec![format!("\"{}\"", "x".repeat(50)); 9].join(" "));
        let [_, right] = apart([None, Some(&value(&many))]);
        assert_eq!(right.chars().count(), AROUND_CHARACTERS + 1);
    }
}
