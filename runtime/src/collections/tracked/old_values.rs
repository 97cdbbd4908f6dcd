//! Old values: the undo log of a map.
//!
//! The values lie in lists; only the index of a long log is a tree, and the tree holds keys and
//! places, so that maps whose keys have one type share its code.
//! INVARIANT: each key stands in the log once, with the value that it had first.
//! It does not know when a turn or a savepoint begins; `map.rs` and `savepoints.rs` do.
//! Read next: `map.rs`.

use std::collections::BTreeMap;

/// A linear search finds a key among at most this many entries.
const SHORT_MAX: usize = 16;

/// Room for this many entries stays allocated from turn to turn.
const KEPT_MAX: usize = 4;

/// The entries of a chunk: a log that grows moves none, and needs no room for twice as many.
const CHUNK: usize = 256;

type Entry<K, V> = (K, Option<V>);

/// The old values of keys that changed, in the order of their first changes; `None` stands for a
/// key that was absent.
#[derive(Clone)]
pub(super) struct OldValues<K, V> {
    /// The first entries.
    short: Vec<Entry<K, V>>,
    /// The entries after them, in full chunks but for the last; few logs have any.
    long: Vec<Vec<Entry<K, V>>>,
    /// The places of the entries in `long`.
    places: BTreeMap<K, u32>,
}

impl<K, V> Default for OldValues<K, V> {
    fn default() -> Self {
        Self {
            short: Vec::new(),
            long: Vec::new(),
            places: BTreeMap::new(),
        }
    }
}

impl<K, V> OldValues<K, V> {
    /// Says whether no key has changed.
    pub(super) fn is_empty(&self) -> bool {
        self.short.is_empty()
    }

    /// Returns the number of keys that have changed.
    pub(super) fn len(&self) -> usize {
        self.short.len() + self.places.len()
    }

    /// Lists the keys and their old values in the order of the first changes.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&K, Option<&V>)> {
        let all = self.short.iter().chain(self.long.iter().flatten());
        all.map(|(key, old)| (key, old.as_ref()))
    }
}

impl<K: Ord + Clone, V> OldValues<K, V> {
    /// Returns the old value of a key, if the key has changed.
    pub(super) fn get(&self, key: &K) -> Option<&Option<V>> {
        let short = self.short.iter().find(|(noted, _)| noted == key);
        let long = || {
            let place = *self.places.get(key)? as usize;
            self.long.get(place / CHUNK)?.get(place % CHUNK)
        };
        short.or_else(long).map(|(_, old)| old)
    }

    /// Adds a key that is not in the log.
    pub(super) fn add(&mut self, key: K, old: Option<V>) {
        if self.short.len() < SHORT_MAX {
            if self.short.capacity() == 0 {
                self.short.reserve_exact(1);
            }
            self.short.push((key, old));
            return;
        }
        let place = self.places.len();
        self.places.insert(key.clone(), place as u32);
        if place.is_multiple_of(CHUNK) {
            self.long.push(Vec::with_capacity(CHUNK));
        }
        if let Some(chunk) = self.long.last_mut() {
            chunk.push((key, old));
        }
    }

    /// Empties the log. Of the room for the first entries some stays, unless they needed much
    /// less, so that turns of equal size allocate nothing.
    pub(super) fn drain(&mut self, mut receive: impl FnMut(K, Option<V>)) {
        let used = self.short.len();
        self.short.drain(..).for_each(|(key, old)| receive(key, old));
        if used <= KEPT_MAX && self.short.capacity() > 2 * KEPT_MAX {
            self.short.shrink_to(KEPT_MAX);
        }
        // Taking an empty tree costs as much as searching a small one.
        if !self.long.is_empty() {
            self.places = BTreeMap::new();
            let long = std::mem::take(&mut self.long);
            long.into_iter().flatten().for_each(|(key, old)| receive(key, old));
        }
    }
}
