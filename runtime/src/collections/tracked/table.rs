//! Tables: the kinds of maps that can be tracked.
//!
//! INVARIANT: a key has the value of its last insertion until someone removes it.
//! It does not undo changes; `map.rs` does.
//! Read next: `../ordered.rs`.

use std::ops::Bound;

use crate::collections::ordered::{Key, Ordered};

/// A map whose changes [`Tracked`](super::Tracked) can note and undo.
///
/// Its clone shares what neither changes.
pub trait Table<K, V>: Clone + Default {
    /// Returns the number of entries.
    fn count(&self) -> usize;

    /// Returns the value of `key`.
    fn get(&self, key: &K) -> Option<&V>;

    /// Returns the value of `key`, to change it.
    fn get_mut(&mut self, key: &K) -> Option<&mut V>;

    /// Sets the value of `key` and returns the old value.
    fn insert(&mut self, key: K, value: V) -> Option<V>;

    /// Removes `key` and returns its value.
    fn remove(&mut self, key: &K) -> Option<V>;

    /// Lists the keys from the lower bound `from` on.
    fn keys_from(&self, from: Bound<K>) -> Vec<K>;

    /// Returns a bound beyond which no key lies, if most added keys lie there.
    fn end(&self) -> Option<Bound<K>>;

    /// Lists the values.
    fn values<'a>(&'a self) -> impl Iterator<Item = &'a V>
    where
        V: 'a;
}

impl<K: Key + Clone, V: Clone> Table<K, V> for Ordered<K, V> {
    fn count(&self) -> usize {
        self.len()
    }

    fn get(&self, key: &K) -> Option<&V> {
        self.get(key)
    }

    fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        self.get_mut(key)
    }

    fn insert(&mut self, key: K, value: V) -> Option<V> {
        self.insert(key, value)
    }

    fn remove(&mut self, key: &K) -> Option<V> {
        self.remove(key)
    }

    fn keys_from(&self, from: Bound<K>) -> Vec<K> {
        let range = self.range((from, Bound::Unbounded));
        range.map(|(key, _)| key.clone()).collect()
    }

    fn end(&self) -> Option<Bound<K>> {
        let last = self.keys().next_back().cloned();
        Some(last.map_or(Bound::Unbounded, Bound::Excluded))
    }

    fn values<'a>(&'a self) -> impl Iterator<Item = &'a V>
    where
        V: 'a,
    {
        self.values()
    }
}
