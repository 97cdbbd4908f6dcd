//! The table of the present facts: by number, and with it by content.
//!
//! INVARIANT: the table lists every present fact once under the hash of its content, and no caller
//! changes the fact of an entry. So undoing a change to the table undoes the change to its index by
//! content too, which needs no undo log of its own.
//! It does not know terms or observers.
//! Read next: `facts.rs`.

use std::ops::Bound;

use crate::collections::ordered::Ordered;
use crate::collections::tracked::Table;
use crate::model::value::Fact;

use super::form::Terms;

/// A present fact.
#[derive(Clone, Debug)]
pub(crate) struct Presence {
    /// The fact.
    pub(crate) fact: Fact,
    /// The number of its occurrences.
    pub(crate) count: u64,
    /// The hash of its content.
    pub(crate) hash: ContentHash,
}

/// The hash of a fact's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ContentHash(u64);

impl ContentHash {
    /// Hashes a fact.
    pub(crate) fn of(fact: &Fact) -> Self {
        Self(Terms::whole(fact).number())
    }
}

/// The present facts, by number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Listing {
    by_number: Ordered<u64, Presence>,
    /// Numbers by the hash of the content; collisions are rare.
    by_content: Ordered<(u64, u64), ()>,
}

impl Listing {
    /// Returns the facts by number.
    pub(crate) fn by_number(&self) -> &Ordered<u64, Presence> {
        &self.by_number
    }

    /// Finds a fact by its content; if it is absent, returns the hash of its content.
    pub(crate) fn find(&self, fact: &Fact) -> Result<(u64, &Presence), ContentHash> {
        let hash = ContentHash::of(fact);
        let found = self.numbers(hash).find_map(|number| {
            let presence = self.by_number.get(&number)?;
            (presence.fact == *fact).then_some((number, presence))
        });
        found.ok_or(hash)
    }

    /// Lists the numbers of the facts with this hash.
    fn numbers(&self, hash: ContentHash) -> impl Iterator<Item = u64> {
        let range = self.by_content.range((hash.0, 0)..=(hash.0, u64::MAX));
        range.map(|((_, number), ())| *number)
    }

    fn list(&mut self, hash: ContentHash, number: u64) {
        self.by_content.insert((hash.0, number), ());
    }

    fn unlist(&mut self, hash: ContentHash, number: u64) {
        self.by_content.remove(&(hash.0, number));
    }
}

impl Table<u64, Presence> for Listing {
    fn count(&self) -> usize {
        self.by_number.len()
    }

    fn get(&self, number: &u64) -> Option<&Presence> {
        self.by_number.get(number)
    }

    fn get_mut(&mut self, number: &u64) -> Option<&mut Presence> {
        self.by_number.get_mut(number)
    }

    fn insert(&mut self, number: u64, presence: Presence) -> Option<Presence> {
        let hash = presence.hash;
        let old = self.by_number.insert(number, presence);
        if let Some(old) = old.as_ref().filter(|old| old.hash != hash) {
            self.unlist(old.hash, number);
        }
        if old.as_ref().is_none_or(|old| old.hash != hash) {
            self.list(hash, number);
        }
        old
    }

    fn remove(&mut self, number: &u64) -> Option<Presence> {
        let removed = self.by_number.remove(number)?;
        self.unlist(removed.hash, *number);
        Some(removed)
    }

    fn keys_from(&self, from: Bound<u64>) -> Vec<u64> {
        self.by_number.keys_from(from)
    }

    fn end(&self) -> Option<Bound<u64>> {
        self.by_number.end()
    }

    fn values<'a>(&'a self) -> impl Iterator<Item = &'a Presence>
    where
        Presence: 'a,
    {
        self.by_number.values()
    }
}
