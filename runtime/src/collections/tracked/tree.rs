//! Tracked maps whose values track their own changes.
//!
//! INVARIANT: until the turn ends, a value with notes is in `touched` or in a note of the map; a
//! savepoint keeps a value as it was before its first change after the savepoint.
//! It does not know what the values mean; `../../state.rs` and `../../state/actor.rs` do.
//! Read next: `set.rs`.

use std::fmt::{self, Debug};
use std::ops::{Bound, Deref};
use std::sync::Arc;

use duet_journal::packed::PackedWriter;
use preserves::IOValue;

use super::map::Tracked;
use super::table::Table;
use super::tracking::Tracking;
use crate::collections::ordered::Ordered;
use crate::model::codec::{Codec, DecodeError};

/// A tree with at most this many values compacts them with itself.
const COMPACTED_MAX: usize = 4;

/// A tracked map whose values keep notes of their own changes, so that changing one copies nothing.
#[derive(Clone)]
pub struct TrackedTree<K, V, M = Ordered<K, Arc<V>>> {
    map: Tracked<K, Arc<V>, M>,
    /// The keys of the values that may have notes.
    touched: Vec<K>,
}

impl<K, V, M: Default> Default for TrackedTree<K, V, M> {
    fn default() -> Self {
        Self {
            map: Tracked::default(),
            touched: Vec::new(),
        }
    }
}

impl<K, V, M: Debug> Debug for TrackedTree<K, V, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.map.fmt(f)
    }
}

impl<K, V, M> Deref for TrackedTree<K, V, M> {
    type Target = Tracked<K, Arc<V>, M>;

    fn deref(&self) -> &Self::Target {
        &self.map
    }
}

impl<K: Ord + Clone, V: Clone + Tracking, M: Table<K, Arc<V>>> TrackedTree<K, V, M> {
    /// Sets the value of `key` and returns the old value.
    pub fn insert(&mut self, key: K, value: V) -> Option<Arc<V>> {
        self.map.insert(key, value.into())
    }

    /// Removes `key` and returns its value.
    pub fn remove(&mut self, key: &K) -> Option<Arc<V>> {
        self.map.remove(key)
    }

    /// Returns the value of `key`, to change the fields that it tracks.
    pub fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        let value = self.map.map.get_mut(key)?;
        if self.touched.last() != Some(key) {
            self.touched.push(key.clone());
            // If the turn inserted or removed the value, its note passes to the savepoint at the
            // commit.
            if let Some(notes) = self.map.notes.as_mut().filter(|notes| notes.noted.get(key).is_none()) {
                notes.savepoints.keep(key, || Some(Arc::clone(value)));
            }
        }
        Some(Arc::make_mut(value))
    }

    /// Says whether the turn has touched the value under `key`.
    pub(crate) fn has_touched(&self, key: &K) -> bool {
        self.touched.contains(key)
    }

    /// Frees, between turns, the room that a value keeps for the next turn's notes.
    pub(crate) fn compact_value(&mut self, key: &K) {
        // A mutable access would copy the path to the value, if a checkpoint shares it.
        if self.map.map.get(key).is_none_or(|value| value.is_compacted()) {
            return;
        }
        if let Some(value) = self.map.map.get_mut(key) {
            Arc::make_mut(value).compact();
        }
    }

    fn each_touched(&mut self, end: impl Fn(&mut V)) {
        for key in self.touched.drain(..) {
            if let Some(value) = self.map.map.get_mut(&key) {
                end(Arc::make_mut(value));
            }
        }
    }
}

impl<K, V, M: Codec + Default> Codec for TrackedTree<K, V, M> {
    fn write(&self, out: &mut PackedWriter) {
        self.map.write(out);
    }

    fn decode(value: &IOValue) -> Result<Self, DecodeError> {
        Tracked::decode(value).map(|map| Self {
            map,
            touched: Vec::new(),
        })
    }
}

impl<K: Ord + Clone, V: Clone + Tracking, M: Table<K, Arc<V>>> Tracking for TrackedTree<K, V, M> {
    fn commit_turn(&mut self) {
        self.map.commit_turn();
        self.each_touched(V::commit_turn);
    }

    fn abort_turn(&mut self) {
        // This restores removed and replaced values together with the notes that they had.
        self.map.abort_turn();
        self.each_touched(V::abort_turn);
    }

    fn compact(&mut self) {
        self.map.compact();
        self.touched = Vec::new();
        // Compacting must not cost more than a turn, so the values of a large tree keep their room.
        if self.map.count() <= COMPACTED_MAX {
            let keys = self.map.keys_from(Bound::Unbounded);
            keys.iter().for_each(|key| self.compact_value(key));
        }
    }

    fn is_compacted(&self) -> bool {
        let is_compacted = self.map.count() > COMPACTED_MAX || self.map.values().all(|value| value.is_compacted());
        is_compacted && self.touched.capacity() == 0 && self.map.is_compacted()
    }

    fn make_savepoint(&mut self, number: u64) {
        self.map.make_savepoint(number);
    }

    fn restore_savepoint(&mut self, number: u64) -> bool {
        self.map.restore_savepoint(number)
    }

    fn drop_savepoints(&mut self, oldest: u64) {
        self.map.drop_savepoints(oldest);
    }
}

impl<K, V, M: FromIterator<(K, Arc<V>)> + Default> FromIterator<(K, V)> for TrackedTree<K, V, M> {
    fn from_iter<T: IntoIterator<Item = (K, V)>>(entries: T) -> Self {
        let map = entries.into_iter().map(|(key, value)| (key, value.into()));
        Self {
            map: map.collect(),
            touched: Vec::new(),
        }
    }
}

impl<K, V, M: PartialEq> PartialEq for TrackedTree<K, V, M> {
    fn eq(&self, other: &Self) -> bool {
        self.map == other.map
    }
}
