//! Postings: which numbers have which terms.
//!
//! Owns the pairs of a term and a number, and finds the term that the fewest have.
//! INVARIANT: a pair is there once, however often it was posted.
//! It does not know what a number is of.
//! Read next: `dataspace/facts.rs`, then `dataspace/index.rs`.

use super::form::Term;
use crate::collections::tracked::{TrackedSet, tracked_fields};

/// Pairs of a term and the number of what has it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Postings {
    pairs: TrackedSet<(u64, u64)>,
}

tracked_fields!(Postings { pairs });

impl Postings {
    /// Notes that `number` has `term`.
    pub(crate) fn insert(&mut self, term: Term, number: u64) {
        self.pairs.insert((term.number(), number));
    }

    /// Notes that it has not.
    pub(crate) fn remove(&mut self, term: Term, number: u64) {
        self.pairs.remove(&(term.number(), number));
    }

    /// Lists what has `term`, in ascending order.
    fn of(&self, term: Term) -> impl Iterator<Item = u64> {
        let term = term.number();
        self.pairs
            .range((term, 0)..=(term, u64::MAX))
            .map(|(_, number)| *number)
    }

    /// Returns those that have the term that the fewest have; `None` if there are no terms.
    ///
    /// All are walked in step, so that the cost is that of the fewest.
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
