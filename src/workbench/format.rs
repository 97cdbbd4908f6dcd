//! The formatter: one layout for the texts of programs.
//!
//! Owns the style: indentation, spaces, blank lines, and the breaks of lines that are too long. The
//! author's own line breaks stay, as rows of data and groups of arguments have a meaning.
//! INVARIANT: the tokens and comments of the result are those of the text, in their order; what is
//! formatted already does not change; nesting costs no stack.
//! It opens no file and prints nothing, so an editor can call it as `duet fmt` does.
//! Read next: `format/layout.rs`, `format/forms.rs`.

pub(crate) mod forms;
mod frame;
mod layout;
mod macros;
pub(crate) mod pieces;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use duet_kernel::datum::SourceId;
use duet_kernel::datum::reader::read_all;

pub use duet_kernel::datum::reader::ReadError;
use layout::Layout;
pub use macros::Macros;
use pieces::Pieces;

/// Texts are laid out at most this many times.
const PASSES_MAX: usize = 8;

/// The columns of a line.
pub(crate) const WIDTH: usize = 100;

/// Formats a text. The macros that it defines are known; `imported` has those of the libraries that
/// it imports.
///
/// ```
/// use duet::format::{Macros, format};
/// let imported = Macros::of("(define-syntax twice (syntax-rules () ((_ n e ...) (begin e ... e ...))))")?;
/// assert_eq!(format("(twice  2\n(f))", &imported)?, "(twice 2\n  (f))\n");
/// # Ok::<(), Vec<duet::format::ReadError>>(())
/// ```
///
/// # Errors
/// Every error of the reader; a text that has one is not formatted.
pub fn format(text: &str, imported: &Macros) -> Result<String, Vec<ReadError>> {
    in_passes(text, |text| {
        let after = laid_out(text, imported)?;
        let is_narrow = is_narrow(&after);
        Ok((after, is_narrow))
    })
}

/// Lays a text out until nothing changes; `lay_out` also returns whether its lines are narrow
/// enough.
fn in_passes(
    text: &str,
    lay_out: impl Fn(&str) -> Result<(String, bool), Vec<ReadError>>,
) -> Result<String, Vec<ReadError>> {
    let mut before = text.to_owned();
    // The breaks of one pass are the author's for the next, which may use them for what was still
    // too wide.
    for _ in 0..PASSES_MAX {
        let (after, is_narrow) = lay_out(&before)?;
        let is_stable = is_narrow || after == before;
        before = after;
        if is_stable {
            break;
        }
    }
    Ok(before)
}

fn is_narrow(text: &str) -> bool {
    text.lines().all(|line| line.chars().count() <= WIDTH)
}

fn laid_out(text: &str, imported: &Macros) -> Result<String, Vec<ReadError>> {
    let pieces = read(text)?;
    Ok(Layout::new(text, &pieces, known(text, &pieces, imported)).write())
}

/// The macros that a text knows.
fn known(text: &str, pieces: &Pieces, imported: &Macros) -> Macros {
    let mut macros = imported.clone();
    macros.learn(text, pieces);
    macros
}

/// Formats the data at top level that touch these lines, counted from 1; the rest stays as it is.
///
/// # Errors
/// As [`format()`].
pub fn format_lines(text: &str, lines: &RangeInclusive<usize>, imported: &Macros) -> Result<String, Vec<ReadError>> {
    let touched = touched(text, lines)?;
    in_passes(text, |text| laid_out_forms(text, &touched, imported))
}

/// The places among the data at top level of those that begin a line and touch these lines. Layout
/// moves none to another place.
fn touched(text: &str, lines: &RangeInclusive<usize>) -> Result<BTreeSet<usize>, Vec<ReadError>> {
    let pieces = read(text)?;
    let (mut touched, mut line, mut counted) = (BTreeSet::new(), 1, 0);
    for (place, form) in pieces.forms().into_iter().enumerate() {
        let (start, end) = (pieces.start_of(form.start), pieces.end_of(form.end - 1));
        let newlines = |range| text.get(range).map_or(0, |part: &str| part.matches('\n').count());
        let first = line + newlines(counted..start);
        let last = first + newlines(start..end);
        (line, counted) = (last, end);
        let is_first = text[line_start(text, start)..start].trim().is_empty();
        if first <= *lines.end() && last >= *lines.start() && is_first {
            touched.insert(place);
        }
    }
    Ok(touched)
}

/// Lays out the data at these places once; also returns whether their lines are narrow enough.
fn laid_out_forms(text: &str, places: &BTreeSet<usize>, imported: &Macros) -> Result<(String, bool), Vec<ReadError>> {
    let pieces = read(text)?;
    let layout = Layout::new(text, &pieces, known(text, &pieces, imported));
    let (mut result, mut kept, mut are_narrow) = (String::new(), 0, true);
    for (place, form) in pieces.forms().into_iter().enumerate() {
        if places.contains(&place) {
            let begins_line = line_start(text, pieces.start_of(form.start));
            result.push_str(&text[kept..begins_line.max(kept)]);
            kept = pieces.end_of(form.end - 1);
            let written = layout.write_form(form);
            are_narrow &= is_narrow(&written);
            result.push_str(&written);
        }
    }
    result.push_str(&text[kept..]);
    Ok((result, are_narrow))
}

/// Where the line of a place in a text begins.
fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |newline| newline + 1)
}

fn read(text: &str) -> Result<Pieces, Vec<ReadError>> {
    let (_, errors) = read_all(text, SourceId(0));
    if errors.is_empty() {
        Ok(Pieces::of(text))
    } else {
        Err(errors)
    }
}
