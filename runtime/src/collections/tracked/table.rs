//! Tables: the kinds of maps that are tracked.
//!
//! INVARIANT: what was put under a key last is found there until it is removed.
//! It does not take anything back; `tracked.rs` does.
//! Read next: `../ordered.rs`.

use std::ops::Bound;

use crate::collections::ordered::{Key, Ordered};

/// A map whose changes can be noted and taken back.
pub trait Table<K, V>: Default {
    /// Returns the number of entries.
    fn count(&self) -> usize;

    /// Returns what stands under `key`.
    fn get(&self, key: &K) -> Option<&V>;

    /// Returns what stands under `key`, to change it.
    fn get_mut(&mut self, key: &K) -> Option<&mut V>;

    /// Puts `value` under `key` and returns what stood there.
    fn insert(&mut self, key: K, value: V) -> Option<V>;

    /// Removes what stands under `key` and returns it.
    fn remove(&mut self, key: &K) -> Option<V>;

    /// Lists the keys from `from` on.
    fn keys_from(&self, from: Bound<K>) -> Vec<K>;

    /// Returns from where on no key lies, if keys that are added mostly lie there.
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
