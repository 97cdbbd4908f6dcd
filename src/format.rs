//! The formatter: one layout for the texts of programs.
//!
//! Owns the style: indentation, spaces, blank lines, and the breaks of lines that are too long. The
//! author's own line breaks stay, as rows of data and groups of arguments have a meaning.
//! INVARIANT: the tokens and comments of the result are those of the text, in their order; what is
//! formatted already does not change; nesting costs no stack.
//! It opens no file and prints nothing.
//! Read next: `format/layout.rs`, `format/forms.rs`.

pub(crate) mod forms;
mod frame;
mod layout;
mod macros;
pub(crate) mod pieces;
#[cfg(test)]
mod tests;

use std::ops::RangeInclusive;

use duet_kernel::datum::SourceId;
use duet_kernel::datum::reader::{ReadError, read_all};

use layout::Layout;
use macros::Macros;
use pieces::Pieces;

/// Texts are laid out at most this many times.
const PASSES_MAX: usize = 8;

/// The columns of a line.
pub(crate) const WIDTH: usize = 100;

/// Formats a text.
///
/// # Errors
/// Every error of the reader; a text that has one is not formatted.
pub(crate) fn format(text: &str) -> Result<String, Vec<ReadError>> {
    let mut before = text.to_owned();
    // The breaks of one pass are the author's for the next, which may use them for what was still
    // too wide.
    for _ in 0..PASSES_MAX {
        let after = laid_out(&before)?;
        let is_stable = after == before || after.lines().all(|line| line.chars().count() <= WIDTH);
        before = after;
        if is_stable {
            break;
        }
    }
    Ok(before)
}

fn laid_out(text: &str) -> Result<String, Vec<ReadError>> {
    let pieces = read(text)?;
    Ok(Layout::new(text, &pieces, Macros::of(text, &pieces)).write())
}

/// Formats the data at top level that touch these lines, counted from 1; the rest stays as it is.
///
/// # Errors
/// As [`format()`].
pub(crate) fn format_lines(text: &str, lines: &RangeInclusive<usize>) -> Result<String, Vec<ReadError>> {
    let pieces = read(text)?;
    let layout = Layout::new(text, &pieces, Macros::of(text, &pieces));
    let (mut result, mut kept, mut line, mut counted) = (String::new(), 0, 1, 0);
    for form in pieces.forms() {
        let (start, end) = (pieces.start_of(form.start), pieces.end_of(form.end - 1));
        let newlines = |range| text.get(range).map_or(0, |part: &str| part.matches('\n').count());
        let first = line + newlines(counted..start);
        let last = first + newlines(start..end);
        (line, counted) = (last, end);
        let begins_line = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        if first > *lines.end() || last < *lines.start() || !text[begins_line..start].trim().is_empty() {
            continue;
        }
        result.push_str(&text[kept..begins_line.max(kept)]);
        result.push_str(&layout.write_form(form));
        kept = end;
    }
    result.push_str(&text[kept..]);
    Ok(result)
}

fn read(text: &str) -> Result<Pieces, Vec<ReadError>> {
    let (_, errors) = read_all(text, SourceId(0));
    if errors.is_empty() {
        Ok(Pieces::of(text))
    } else {
        Err(errors)
    }
}
