//! Text in which a person sees every character.
//!
//! INVARIANT: texts that differ look different: a run of blanks is counted, and a character without
//! a form of its own becomes `\u{…}`. A backslash of JSON is never followed by `{` or `u{`, so the
//! escapes cannot be forged in it.
//! Control characters are those of whoever shows the text.
//! Read next: `question.rs`.

use std::fmt::Write as _;

/// The longest run of one blank that is shown as it is.
const BLANKS_MAX: usize = 16;

/// The blanks, as JSON writes them, and their names.
const BLANKS: [(&str, &str); 5] = [
    (" ", "blanks"),
    ("\\n", "line ends"),
    ("\\r", "returns"),
    ("\\t", "tabs"),
    ("\n", "line ends"),
];

/// Makes the invisible characters and the long runs of blanks in a JSON text visible.
pub fn visible(json: &str) -> String {
    let mut shown = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(letter) = rest.chars().next() {
        let run = BLANKS.iter().find_map(|(blank, name)| {
            let count = rest
                .as_bytes()
                .chunks(blank.len())
                .take_while(|part| *part == blank.as_bytes())
                .count();
            (count > BLANKS_MAX).then_some((count, count * blank.len(), *name))
        });
        if let Some((count, length_bytes, name)) = run {
            let _ = write!(shown, "\\{{{count} {name}}}");
            rest = &rest[length_bytes..];
            continue;
        }
        // The letter after a backslash belongs to it.
        let length_bytes = match letter {
            '\\' => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
            _ => letter.len_utf8(),
        };
        if is_invisible(letter) {
            let _ = write!(shown, "\\u{{{:x}}}", u32::from(letter));
        } else {
            shown.push_str(&rest[..length_bytes]);
        }
        rest = &rest[length_bytes..];
    }
    shown
}

/// Says whether a character leaves no mark, or looks like a blank that it is not.
///
/// Source: Unicode 16, `DerivedCoreProperties.txt`, `Default_Ignorable_Code_Point`, and
/// `PropList.txt`, `White_Space`.
fn is_invisible(letter: char) -> bool {
    matches!(letter,
        '\u{a0}' | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{1680}'
        | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{2000}'..='\u{200f}'
        | '\u{2028}'..='\u{202f}' | '\u{205f}'..='\u{206f}' | '\u{2800}' | '\u{3000}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}
