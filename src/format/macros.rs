//! The macros that a text defines and whose uses have a body.
//!
//! INVARIANT: only a rule whose pattern ends in `body ...` makes a body; a name with several rules
//! has the fewest operands before it.
//! It expands nothing.
//! Read next: `forms.rs`.

use std::collections::BTreeMap;
use std::ops::Range;

use super::pieces::{Kind, Pieces};

/// The macros of one text: how many operands stand before the body of each.
#[derive(Debug, Default)]
pub(crate) struct Macros<'a> {
    bodies: BTreeMap<&'a str, usize>,
}

impl<'a> Macros<'a> {
    /// Reads the definitions of a text by `define-syntax`, `let-syntax` and `letrec-syntax`.
    pub(crate) fn of(text: &'a str, pieces: &Pieces) -> Self {
        let mut macros = Self::default();
        for at in 2..pieces.all.len() {
            let is_rules = pieces.all[at].kind == Kind::Symbol && pieces.text(text, at) == "syntax-rules";
            // The name stands before the list of the rules.
            let name = (at - 1)
                .checked_sub(1)
                .filter(|_| pieces.all[at - 1].kind == Kind::Open);
            let Some(name) = name.filter(|name| is_rules && pieces.all[*name].kind == Kind::Symbol) else {
                continue;
            };
            let end = pieces.all[at - 1].close;
            let bodies = pieces
                .children(at..end)
                .into_iter()
                .filter_map(|rule| operands(text, pieces, rule));
            if let Some(fewest) = bodies.min() {
                macros.bodies.insert(pieces.text(text, name), fewest);
            }
        }
        macros
    }

    /// How many operands stand before the body of a macro of this name.
    pub(crate) fn operands_before_body(&self, name: &str) -> Option<usize> {
        self.bodies.get(name).copied()
    }

    /// All names and their operands.
    #[cfg(test)]
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, usize)> {
        self.bodies.iter().map(|(name, operands)| (*name, *operands))
    }
}

/// How many operands stand before the body in the pattern of a rule.
fn operands(text: &str, pieces: &Pieces, rule: Range<usize>) -> Option<usize> {
    let is_list = |range: &Range<usize>| pieces.all[range.start].kind == Kind::Open;
    let inside = |range: Range<usize>| pieces.children(range.start + 1..range.end);
    let pattern = Some(rule)
        .filter(is_list)
        .and_then(|rule| inside(rule).into_iter().next());
    let parts = inside(pattern.filter(is_list)?);
    let name = |part: &Range<usize>| pieces.text(text, part.start);
    let ends_in_body = matches!(&parts[..], [.., body, dots] if name(body).starts_with("body") && name(dots) == "...");
    let first = parts.iter().position(|part| name(part).starts_with("body"))?;
    (ends_in_body && first > 0).then(|| first - 1)
}
