//! What a question about facts asks for: a pattern or an expression, and an address.
//!
//! INVARIANT: a pattern before an address is read as it stands; the other order is understood where
//! the texts show it, or where only the first is the address of a run.
//! It reads neither the pattern nor the expression. Read next: `text/query.rs`.

use super::project::ProjectReader;
use crate::history::journal::Place;
use crate::text::error::CommandError;
use crate::text::saying::{Way, say};

/// The texts of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Asked<'a> {
    /// The pattern, or the expression.
    pub(super) what: &'a str,
    /// The address of the branch or the turn; the present branch without one.
    pub(super) address: Option<&'a str>,
}

impl<'a> Asked<'a> {
    /// The question of two texts, the pattern first.
    pub(super) fn of(look: &ProjectReader<'_>, first: &'a str, second: Option<&'a str>) -> Self {
        Self::told_apart(first, second, &|text| look.resolve(Some(text)).is_ok())
    }

    /// Finds the place.
    ///
    /// # Errors
    /// If there is none; the error shows how the verb is called.
    pub(super) fn place(&self, look: &ProjectReader<'_>, verb: &'static str) -> Result<Place, CommandError> {
        let found = look.resolve_turn(self.address);
        found.map_err(|error| match self.address {
            Some(_) => error.advise(say!["the pattern comes first: ", Way::of(verb).with("PATTERN ADDRESS")]),
            None => error,
        })
    }

    fn told_apart(first: &'a str, second: Option<&'a str>, is_place: &dyn Fn(&str) -> bool) -> Self {
        let as_written = Self {
            what: first,
            address: second,
        };
        let Some(second) = second else { return as_written };
        let is_exchanged = match (is_written_value(first), is_written_value(second)) {
            (false, true) => true,
            (true, false) => false,
            (true, true) | (false, false) => !is_place(second) && is_place(first),
        };
        if !is_exchanged {
            return as_written;
        }
        Self {
            what: second,
            address: Some(first),
        }
    }
}

/// Whether a text can only be a value or an expression: names of runs begin with a letter, a digit,
/// `-`, `_` or `.`.
fn is_written_value(text: &str) -> bool {
    let text = text.trim_start();
    text == "_" || text.starts_with(['<', '(', '[', '{', '"', '#', '|', '\''])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_orders_are_told_apart() {
        let is_place = |text: &str| ["plan", "plan/by-short", "review@7", "job"].contains(&text);
        for (first, second, what, address) in [
            ("<job _>", Some("plan"), "<job _>", Some("plan")),
            ("plan", Some("<job _>"), "<job _>", Some("plan")),
            ("plan", Some("(length jobs)"), "(length jobs)", Some("plan")),
            ("nowhere", Some("<job _>"), "<job _>", Some("nowhere")),
            // Words are read in the order of the manual, unless only the first is a place.
            ("plan", Some("plan/by-short"), "plan", Some("plan/by-short")),
            ("plan/by-short", Some("plan"), "plan/by-short", Some("plan")),
            ("job", Some("plan"), "job", Some("plan")),
            ("review@7", Some("greeted"), "greeted", Some("review@7")),
            ("greeted", Some("review@7"), "greeted", Some("review@7")),
            ("greeted", Some("nowhere"), "greeted", Some("nowhere")),
            ("job", None, "job", None),
        ] {
            let asked = Asked::told_apart(first, second, &is_place);
            assert_eq!((asked.what, asked.address), (what, address), "{first} {second:?}");
        }
    }
}
