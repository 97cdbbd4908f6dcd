//! Postings: which numbers have which terms.
//!
//! Owns the pairs of a term and a number, and finds the rarest of several terms.
//! INVARIANT: each pair is present once, however often it was posted.
//! It does not know what a number identifies.
//! Read next: `facts.rs`, then `index.rs`.

use super::form::Term;
use crate::collections::tracked::{TrackedSet, tracked_fields};

/// A set of pairs of a term and a number that has it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Postings {
    pairs: TrackedSet<(u64, u64)>,
}

tracked_fields!(Postings { pairs });

impl Postings {
    /// Records that `number` has `term`.
    pub(crate) fn insert(&mut self, term: Term, number: u64) {
        self.pairs.insert((term.number(), number));
    }

    /// Removes that record.
    pub(crate) fn remove(&mut self, term: Term, number: u64) {
        self.pairs.remove(&(term.number(), number));
    }

    /// Lists the numbers that have `term`, in ascending order.
    fn of(&self, term: Term) -> impl Iterator<Item = u64> {
        let term = term.number();
        self.pairs
            .range((term, 0)..=(term, u64::MAX))
            .map(|(_, number)| *number)
    }

    /// Returns the numbers that have the rarest of `terms`; `None` if there are no terms.
    ///
    /// It walks all lists in step, so the cost is proportional to the shortest.
    pub(crate) fn rarest(&self, terms: &[Term]) -> Option<Vec<u64>> {
        let mut walks: Vec<_> = terms.iter().map(|term| (self.of(*term), Vec::new())).collect();
        while !walks.is_empty() {
            for (walk, seen) in &mut walks {
                match walk.next() {
                    Some(number) => seen.push(number),
                    None => return Some(std::mem::take(seen)),
                }
            }
        }
        None
    }
}
