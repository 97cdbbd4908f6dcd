//! The present facts, indexed by content and by terms.
//!
//! INVARIANT: each present fact has one entry with a count above zero; the postings list exactly
//! the present facts with numbers up to `posted`, and `waiting` counts those above it.
//!
//! Facts are posted late, because posting is most of the cost of an assertion, only a new observer
//! reads the postings, and many facts disappear before one arrives. A new observer posts the
//! waiting facts; at most [`WAITING_MAX`] wait, which bounds its delay. (The alternative, posting
//! at once, took a third of the time of a turn that asserts.)
//! It knows no observers; `index.rs` does.
//! Read next: `listing.rs`, then `index.rs`.

use super::form::{Term, Terms};
use super::listing::{ContentHash, Listing, Presence};
use super::postings::Postings;
use crate::collections::ordered::Ordered;
use crate::collections::tracked::{Tracked, TrackedCell, TrackedSet, tracked_fields};
use crate::model::value::Fact;

/// Maximum number of facts that wait to be posted; posting them takes a few milliseconds.
const WAITING_MAX: u64 = 4096;

/// The present facts, by number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    present: Tracked<u64, Presence, Listing>,
    postings: Postings,
    /// The numbers of the posted facts that have too many terms to list.
    unlisted: TrackedSet<u64>,
    /// The highest number of a posted fact.
    posted: TrackedCell<u64>,
    /// The number of facts that wait to be posted.
    waiting: TrackedCell<u64>,
}

tracked_fields!(Facts {
    present,
    postings,
    unlisted,
    posted,
    waiting
});

impl Facts {
    /// Returns the present facts, by number.
    pub(crate) fn present(&self) -> &Ordered<u64, Presence> {
        self.present.by_number()
    }

    /// Finds a fact's number and count; if it is absent, returns the hash to list it under.
    pub(crate) fn find(&self, fact: &Fact) -> Result<(u64, u64), ContentHash> {
        self.present.find(fact).map(|(number, found)| (number, found.count))
    }

    /// Returns the count of the fact `number`, to change it; it must stay above zero.
    pub(crate) fn count_mut(&mut self, number: u64) -> Option<&mut u64> {
        self.present.get_mut(&number).map(|presence| &mut presence.count)
    }

    /// Adds a fact that [`find`](Self::find) did not find, under a number higher than any before.
    pub(crate) fn add(&mut self, number: u64, presence: Presence) {
        self.present.insert(number, presence);
        *self.waiting.get_mut() += 1;
        if *self.waiting > WAITING_MAX {
            self.post_next();
        }
    }

    /// Removes the fact `number` and returns it.
    pub(crate) fn remove(&mut self, number: u64) -> Option<Fact> {
        let Presence { fact, .. } = self.present.remove(&number)?;
        if number > *self.posted {
            *self.waiting.get_mut() -= 1;
            return Some(fact);
        }
        match Terms::of(&fact).parts() {
            Some(terms) => terms.iter().for_each(|term| self.postings.remove(*term, number)),
            None => self.unlisted.remove(&number),
        }
        Some(fact)
    }

    /// Lists candidates: a superset of the facts that have all of `terms`.
    pub(crate) fn candidates(&mut self, terms: &[Term]) -> Vec<u64> {
        while *self.waiting > 0 && !terms.is_empty() {
            self.post_next();
        }
        match self.postings.rarest(terms) {
            Some(numbers) => numbers.into_iter().chain(self.unlisted.iter().copied()).collect(),
            None => self.present().keys().copied().collect(),
        }
    }

    /// Posts the oldest waiting fact.
    fn post_next(&mut self) {
        let next = self.present().range(*self.posted + 1..).next();
        let Some((number, terms)) = next.map(|(number, presence)| (*number, Terms::of(&presence.fact))) else {
            return;
        };
        match terms.parts() {
            Some(terms) => terms.iter().for_each(|term| self.postings.insert(*term, number)),
            None => self.unlisted.insert(number),
        }
        *self.posted.get_mut() = number;
        *self.waiting.get_mut() -= 1;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::collections::tracked::Tracking;
    use crate::dataspace::form::mix;

    /// Makes different facts with one hash: byte strings whose last eight bytes cancel the effect
    /// of the eight before.
    fn colliding(count: u8) -> Vec<Fact> {
        let step = |hash: u64, word: [u8; 8]| {
            let product = (hash ^ u64::from_le_bytes(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            product ^ (product >> 29)
        };
        let begin = [0xb2, 22, 0, 0, 0, 0, 0, 0];
        let begun = step(mix(0xcbf2_9ce4_8422_2325, b"w"), begin);
        let fact = |number: u8| {
            let middle = [number; 8];
            let end = step(begun, middle) ^ step(begun, [0; 8]);
            let bytes = [begin, middle, end.to_le_bytes()].concat();
            Fact::from_bytes(bytes).expect("a byte string")
        };
        (0..count).map(fact).collect()
    }

    #[test]
    fn facts_of_one_hash_are_told_apart_in_whichever_order_they_go() {
        let facts = colliding(3);
        let hash = Terms::whole(&facts[0]).number();
        assert!(facts.iter().all(|fact| Terms::whole(fact).number() == hash));
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let mut listed = Facts::default();
            for (number, fact) in (1..).zip(&facts) {
                let hash = listed.find(fact).expect_err("it is not there yet");
                let fact = fact.clone();
                listed.add(
                    number,
                    Presence {
                        fact,
                        count: number,
                        hash,
                    },
                );
            }
            let mut present = vec![true; facts.len()];
            for gone in order {
                assert_eq!(listed.remove(gone as u64 + 1).as_ref(), Some(&facts[gone]));
                present[gone] = false;
                for (number, fact) in (1..).zip(&facts) {
                    let expected = present[number as usize - 1].then_some((number, number));
                    assert_eq!(listed.find(fact).ok(), expected, "{order:?}, {gone} has gone");
                }
            }
        }
    }

    #[derive(Clone, Copy, Debug)]
    enum Do {
        /// Adds the fact if it is absent, else removes it.
        Toggle(usize),
        Commit,
        Abort,
        Savepoint,
        GoBack,
    }

    proptest! {
        #[test]
        fn facts_are_found_by_content_whatever_is_taken_back(steps in proptest::collection::vec(
            prop_oneof![
                6 => (0..6_usize).prop_map(Do::Toggle),
                2 => Just(Do::Commit),
                1 => Just(Do::Abort),
                1 => Just(Do::Savepoint),
                1 => Just(Do::GoBack),
            ],
            0..200,
        )) {
            let alone = (0..3_u8).map(|byte| Fact::from_bytes(vec![0xb2, 1, byte]).expect("a byte string"));
            let all: Vec<Fact> = colliding(3).into_iter().chain(alone).collect();
            let (mut facts, mut number, mut savepoint) = (Facts::default(), 0, 0);
            // The present facts, those at the start of the turn, and those at each savepoint, by
            // their places in `all`.
            let (mut now, mut begun) = (BTreeMap::new(), BTreeMap::new());
            let mut savepoints = Vec::new();
            for step in steps {
                match step {
                    Do::Toggle(place) => match facts.find(&all[place]) {
                        Ok((found, _)) => {
                            facts.remove(found);
                            now.remove(&place);
                        }
                        Err(hash) => {
                            number += 1;
                            let fact = all[place].clone();
                            facts.add(number, Presence { fact, count: 1, hash });
                            now.insert(place, number);
                        }
                    },
                    Do::Commit => {
                        facts.commit_turn();
                        begun = now.clone();
                    }
                    Do::Abort => {
                        facts.abort_turn();
                        now = begun.clone();
                    }
                    Do::Savepoint => {
                        facts.commit_turn();
                        begun = now.clone();
                        savepoint += 1;
                        facts.make_savepoint(savepoint);
                        savepoints.push((savepoint, now.clone()));
                    }
                    Do::GoBack => {
                        facts.abort_turn();
                        now = begun.clone();
                        if let Some((to, then)) = savepoints.pop() {
                            prop_assert!(facts.restore_savepoint(to));
                            (now, begun) = (then.clone(), then);
                        }
                    }
                }
                for (place, fact) in all.iter().enumerate() {
                    prop_assert_eq!(facts.find(fact).ok().map(|(found, _)| found), now.get(&place).copied());
                }
            }
        }
    }
}
