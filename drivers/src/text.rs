//! Text for people: the form in which data of programs reach a terminal.
//!
//! Owns the escapes of control characters, which could move the cursor, hide a line or forge one.
//! INVARIANT: a [`Text`] has no control character and no bidirectional mark except line ends, tabs
//! and the sequences that set a style of Duet's own layout.
//! The console output of a program in the foreground is bytes, no text, and is not its concern.
//! Read next: `console.rs`.

use std::borrow::Cow;
use std::fmt;

/// Text that a terminal may show.
///
/// The functions that write to a terminal take nothing else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text(String);

impl Text {
    /// Takes text of several lines; other control characters become escapes such as `\x1b;`.
    pub fn lines(text: &str) -> Self {
        Self(escaped(text, |letter| !matches!(letter, '\n' | '\t') && is_hidden(letter)).into_owned())
    }

    /// Takes text with styles. Its author has made each part from data with [`line()`] or
    /// [`Text::lines`], so that the styles are the author's own.
    pub fn styled(text: &str) -> Self {
        let mut shown = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(start) = rest.find("\x1b[") {
            let (before, after) = rest.split_at(start);
            shown.push_str(&Self::lines(before).0);
            let end = style_length(after);
            // A sequence that is no style is data.
            shown.push_str(&if end > 0 {
                Cow::Borrowed(&after[..end])
            } else {
                line(&after[..1])
            });
            rest = &after[end.max(1)..];
        }
        shown.push_str(&Self::lines(rest).0);
        Self(shown)
    }

    /// Takes JSON; control characters become the escapes of JSON, so its value is the same.
    pub fn json(text: &str) -> Self {
        Self(in_units(text, |letter| letter != '\n' && is_hidden(letter)))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The texts with the same words between them.
    pub fn joined(texts: &[Self], between: &str) -> Self {
        let texts: Vec<&str> = texts.iter().map(Self::as_str).collect();
        Self(texts.join(&Self::lines(between).0))
    }

    /// The text with an end of line.
    #[must_use]
    pub fn ended(mut self) -> Self {
        self.0.push('\n');
        self
    }
}

impl fmt::Display for Text {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self::lines(text)
    }
}

impl From<&String> for Text {
    fn from(text: &String) -> Self {
        Self::lines(text)
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self::lines(&text)
    }
}

/// Makes data a part of a line: line ends and tabs become escapes too.
pub fn line(text: &str) -> Cow<'_, str> {
    escaped(text, is_hidden)
}

/// Makes data of several lines a part of a message: the lines after the first are set in, so that
/// none of them begins where those of Duet begin.
pub fn inset(text: &str) -> String {
    let mut lines = text.split('\n');
    let mut shown = lines.next().unwrap_or_default().to_owned();
    for line in lines {
        shown.push_str(if line.is_empty() { "\n" } else { "\n  " });
        shown.push_str(line);
    }
    shown
}

/// Writes a value as Preserves text that readers take back: hidden characters, which stand in
/// strings and symbols only, become escapes such as `\u001b`.
pub fn preserves(value: &preserves::IOValue) -> String {
    in_units(&format!("{value:?}"), is_hidden)
}

/// Replaces characters, all below U+10000, by the escapes of JSON and Preserves.
fn in_units(text: &str, is_replaced: impl Fn(char) -> bool) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        if is_replaced(letter) {
            shown.push_str(&format!("\\u{:04x}", u32::from(letter)));
        } else {
            shown.push(letter);
        }
    }
    shown
}

/// Whether a terminal acts on a character instead of showing it: the control characters of ASCII
/// and ISO 6429, the marks that reverse the order of letters, and the separators of lines.
///
/// Source: Unicode Standard Annex #9, "Directional Formatting Characters".
fn is_hidden(letter: char) -> bool {
    letter.is_control()
        || matches!(
            letter,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
}

fn escaped(text: &str, is_hidden: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for letter in text.chars() {
        match letter {
            _ if !is_hidden(letter) => shown.push(letter),
            '\n' => shown.push_str("\\n"),
            '\t' => shown.push_str("\\t"),
            '\r' => shown.push_str("\\r"),
            _ => shown.push_str(&format!("\\x{:x};", u32::from(letter))),
        }
    }
    Cow::Owned(shown)
}

/// The length in bytes of the style that a text begins with, such as `ESC [ 1 ; 31 m`; 0 if it
/// begins with another sequence.
fn style_length(text: &str) -> usize {
    let parameters = text.as_bytes()[2..]
        .iter()
        .take_while(|byte| byte.is_ascii_digit() || **byte == b';')
        .count();
    if text.as_bytes().get(2 + parameters) == Some(&b'm') {
        parameters + 3
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_control_character_and_bidirectional_mark_becomes_a_visible_escape() {
        let all = (0..=0x1f)
            .chain(0x7f..=0x9f)
            .chain([0x61c, 0x200e, 0x200f])
            .chain(0x2028..=0x202e)
            .chain(0x2066..=0x2069);
        for letter in all.filter_map(char::from_u32) {
            let text = format!("a{letter}b");
            let is_layout = matches!(letter, '\n' | '\t');
            assert_eq!(Text::lines(&text).as_str() == text, is_layout, "{letter:?}");
            assert!(!line(&text).contains(letter), "{letter:?}");
            assert!(
                !Text::styled(&text).as_str().contains(letter) || is_layout,
                "{letter:?}"
            );
            let json = Text::json(&format!("{text:?}"));
            assert!(!json.as_str().contains(letter), "{letter:?}");
        }
        assert_eq!(line("a\x1b[2J\r\n\tb\u{9b}1m").as_ref(), "a\\x1b;[2J\\r\\n\\tb\\x9b;1m");
    }

    #[test]
    fn what_is_no_control_character_stays() {
        for text in ["", "plain", "Ünïcödé 漢字 👩‍👩‍👧", "back\\slash"] {
            assert_eq!(Text::lines(text).as_str(), text);
            assert_eq!(Text::styled(text).as_str(), text);
            assert_eq!(line(text), text);
        }
    }

    #[test]
    fn no_line_of_data_after_the_first_begins_like_a_message() {
        assert_eq!(inset("a"), "a");
        assert_eq!(inset("a\nerror: b\n\nc\n"), "a\n  error: b\n\n  c\n");
    }

    #[test]
    fn styles_stay_and_every_other_sequence_is_data() {
        for (text, expected) in [
            ("\x1b[1;31merror\x1b[0m", "\x1b[1;31merror\x1b[0m"),
            ("\x1b[mx", "\x1b[mx"),
            ("\x1b[2Jx", "\\x1b;[2Jx"),
            ("\x1b[", "\\x1b;["),
            ("\x1b]0;t\x07", "\\x1b;]0;t\\x7;"),
            ("a\x1b[1", "a\\x1b;[1"),
        ] {
            assert_eq!(Text::styled(text).as_str(), expected);
        }
    }
}
