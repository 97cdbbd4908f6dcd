//! Lines that fit a terminal, and their colours.
//!
//! INVARIANT: a line that is cut says so by its last character.
//! It does not know what the lines say. Read next: `text/view.rs`.

use duet_drivers::text::Text;
use unicode_width::UnicodeWidthChar;

pub(super) const RED: &str = "31";
pub(super) const GREEN: &str = "32";
pub(super) const BOLD: &str = "1";
pub(super) const DIM: &str = "2";

/// The columns that a text takes.
pub(super) fn columns_of(text: &str) -> usize {
    text.chars().filter_map(UnicodeWidthChar::width).sum()
}

/// A line, cut at the columns that there are; whole if lines may have any length.
pub(super) fn cut(line: &str, columns: Option<usize>) -> String {
    let Some(room) = columns.filter(|columns| columns_of(line) > *columns) else {
        return line.to_owned();
    };
    let mut left = room.saturating_sub(1);
    let kept = line.chars().take_while(|letter| {
        let columns = letter.width().unwrap_or(0);
        let fits = columns <= left;
        left = left.saturating_sub(columns);
        fits
    });
    kept.chain(['…']).collect()
}

/// A line with its end, in a colour if it has one.
pub(super) fn styled_line(line: &str, style: Option<&str>) -> String {
    match style {
        Some(style) => format!("\x1b[{style}m{line}\x1b[0m\n"),
        None => format!("{line}\n"),
    }
}

/// A report whose lines say by a sign what went and what came, in colours if it may have some.
pub(super) fn signed(text: &str, is_styled: bool) -> Text {
    if !is_styled {
        return Text::lines(text);
    }
    let lines = text.lines().map(|line| {
        let style = match line.trim_start().chars().next() {
            Some('-') => Some(RED),
            Some('+') => Some(GREEN),
            Some('@') => Some(DIM),
            Some(_) | None => None,
        };
        styled_line(Text::lines(line).as_str(), style)
    });
    Text::styled(&lines.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_cut_at_the_columns_that_there_are() {
        for (columns, line) in [
            (None, "type äöü 漢字"),
            (Some(13), "type äöü 漢字"),
            (Some(12), "type äöü 漢…"),
            (Some(11), "type äöü …"),
            (Some(1), "…"),
        ] {
            assert_eq!(cut("type äöü 漢字", columns), line);
        }
        assert_eq!(styled_line("a", Some(RED)), "\u{1b}[31ma\u{1b}[0m\n");
    }

    #[test]
    fn a_colour_of_the_data_is_none_of_the_report() {
        let text = "same\n- gone\n  + \u{1b}[1mcame\n";
        assert_eq!(signed(text, false).as_str(), "same\n- gone\n  + \\x1b;[1mcame\n");
        assert_eq!(
            signed(text, true).as_str(),
            "same\n\u{1b}[31m- gone\u{1b}[0m\n\u{1b}[32m  + \\x1b;[1mcame\u{1b}[0m\n"
        );
    }
}
