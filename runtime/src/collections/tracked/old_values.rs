//! Old values: the undo log of a map.
//!
//! The values lie in one list; only the index of a long list is a tree, and the tree holds keys and
//! places, so that maps whose keys have one type share its code.
//! INVARIANT: each key stands in the log once, with the value that it had first.
//! It does not know when a turn or a savepoint begins; `map.rs` and `savepoints.rs` do.
//! Read next: `map.rs`.

use std::collections::BTreeMap;

/// A linear search finds a key among at most this many entries.
const SHORT_MAX: usize = 16;

/// Room for this many entries stays allocated from turn to turn.
const KEPT_MAX: usize = 4;

/// The old values of keys that changed, in the order of their first changes; `None` stands for a
/// key that was absent.
#[derive(Clone)]
pub(super) struct OldValues<K, V> {
    entries: Vec<(K, Option<V>)>,
    /// The places of the entries beyond the first [`SHORT_MAX`]; few logs have any.
    places: BTreeMap<K, u32>,
}

impl<K, V> Default for OldValues<K, V> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            places: BTreeMap::new(),
        }
    }
}

impl<K, V> OldValues<K, V> {
    /// Says whether no key has changed.
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the number of keys that have changed.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Lists the keys and their old values in the order of the first changes.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&K, Option<&V>)> {
        self.entries.iter().map(|(key, old)| (key, old.as_ref()))
    }
}

impl<K: Ord + Clone, V> OldValues<K, V> {
    /// Returns the old value of a key, if the key has changed.
    pub(super) fn get(&self, key: &K) -> Option<&Option<V>> {
        let short = &self.entries[..self.entries.len().min(SHORT_MAX)];
        let place = short.iter().position(|(noted, _)| noted == key);
        let place = place.or_else(|| self.places.get(key).map(|place| *place as usize))?;
        self.entries.get(place).map(|(_, old)| old)
    }

    /// Adds a key that is not in the log.
    pub(super) fn add(&mut self, key: K, old: Option<V>) {
        if self.entries.capacity() == 0 {
            self.entries.reserve_exact(1);
        }
        if self.entries.len() >= SHORT_MAX {
            self.places.insert(key.clone(), self.entries.len() as u32);
        }
        self.entries.push((key, old));
    }

    /// Empties the log. A short log keeps its room, unless the entries needed much less, so that
    /// turns of equal size allocate nothing.
    pub(super) fn drain(&mut self, mut receive: impl FnMut(K, Option<V>)) {
        let used = self.entries.len();
        if used > SHORT_MAX {
            self.places = BTreeMap::new();
            std::mem::take(&mut self.entries)
                .into_iter()
                .for_each(|(key, old)| receive(key, old));
            return;
        }
        self.entries.drain(..).for_each(|(key, old)| receive(key, old));
        if used <= KEPT_MAX && self.entries.capacity() > 2 * KEPT_MAX {
            self.entries.shrink_to(KEPT_MAX);
        }
    }
}
