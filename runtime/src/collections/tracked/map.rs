//! Tracked maps: maps with an undo log.
//!
//! INVARIANT: a map with an empty undo log equals the map at the start of the turn; the first note
//! about a key holds the value from then.
//! It does not know what a turn is; `../../state.rs` does.
//! Read next: `table.rs`, then `tree.rs`.

use std::fmt::{self, Debug};
use std::ops::{Bound, Deref};

use duet_journal::packed::PackedWriter;
use preserves::IOValue;

use super::old_values::OldValues;
use super::savepoints::Savepoints;
use super::table::Table;
use super::tracking::Tracking;
use crate::collections::ordered::Ordered;
use crate::model::codec::{Codec, DecodeError};

/// A map that can undo its changes since the last [`commit_turn`](Tracking::commit_turn).
///
/// It dereferences to the [table](Table) `M` for reading; its clone has no savepoints.
pub struct Tracked<K, V, M = Ordered<K, V>> {
    pub(super) map: M,
    /// The undo log; `None` in most maps, because few changed lately.
    pub(super) notes: Option<Box<Notes<K, V>>>,
}

/// What a map knows of its past.
pub(super) struct Notes<K, V> {
    /// The undo log of the turn.
    pub(super) old: OldValues<K, V>,
    /// The savepoints, which receive the undo logs of turns that commit.
    pub(super) savepoints: Savepoints<K, V>,
}

impl<K, V> Default for Notes<K, V> {
    fn default() -> Self {
        Self {
            old: OldValues::default(),
            savepoints: Savepoints::default(),
        }
    }
}

impl<K: Clone, V: Clone, M: Clone> Clone for Tracked<K, V, M> {
    fn clone(&self) -> Self {
        let notes = self.notes.as_ref().filter(|notes| !notes.old.is_empty());
        Self {
            map: self.map.clone(),
            notes: notes.map(|notes| {
                Box::new(Notes {
                    old: notes.old.clone(),
                    savepoints: Savepoints::default(),
                })
            }),
        }
    }
}

impl<K, V, M: Default> Default for Tracked<K, V, M> {
    fn default() -> Self {
        Self {
            map: M::default(),
            notes: None,
        }
    }
}

impl<K, V, M: Debug> Debug for Tracked<K, V, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.map.fmt(f)
    }
}

impl<K, V, M> Deref for Tracked<K, V, M> {
    type Target = M;

    fn deref(&self) -> &M {
        &self.map
    }
}

impl<K: Ord + Clone, V: Clone, M: Table<K, V>> Tracked<K, V, M> {
    /// Sets the value of `key` and returns the old value.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        let old = self.map.insert(key.clone(), value);
        if self.note(&key).is_none() {
            self.add_note(key, old.clone());
        }
        old
    }

    /// Removes `key` and returns its value.
    pub fn remove(&mut self, key: &K) -> Option<V> {
        let old = self.map.remove(key)?;
        if self.note(key).is_none() {
            self.add_note(key.clone(), Some(old.clone()));
        }
        Some(old)
    }

    /// Returns the value of `key`, to change it.
    pub fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        if self.note(key).is_none() {
            let old = self.map.get(key)?.clone();
            self.add_note(key.clone(), Some(old));
        }
        self.map.get_mut(key)
    }

    /// Returns the value that `key` had at the start of the turn.
    pub fn before(&self, key: &K) -> Option<&V> {
        match self.note(key) {
            Some(old) => old.as_ref(),
            None => self.map.get(key),
        }
    }

    /// Says whether the turn has changed any key.
    pub(crate) fn has_changed(&self) -> bool {
        self.notes.as_ref().is_some_and(|notes| !notes.old.is_empty())
    }

    /// Lists the keys that the turn has changed, each with its value from the start of the turn.
    pub fn noted(&self) -> impl Iterator<Item = (&K, Option<&V>)> {
        self.notes.iter().flat_map(|notes| notes.old.iter())
    }

    /// Removes everything.
    pub fn clear(&mut self) {
        for key in self.map.keys_from(Bound::Unbounded) {
            self.remove(&key);
        }
    }

    fn note(&self, key: &K) -> Option<&Option<V>> {
        self.notes.as_ref()?.old.get(key)
    }

    fn add_note(&mut self, key: K, old: Option<V>) {
        self.notes.get_or_insert_default().old.add(key, old);
    }
}

impl<K: Ord + Clone, V: Clone, M: Table<K, V>> Tracking for Tracked<K, V, M> {
    #[inline]
    fn commit_turn(&mut self) {
        // Most maps are untouched in most turns.
        if let Some(notes) = &mut self.notes
            && !notes.old.is_empty()
        {
            let Notes { old, savepoints } = &mut **notes;
            old.drain(|key, old| savepoints.keep(&key, || old));
        }
    }

    #[inline]
    fn abort_turn(&mut self) {
        if let Some(notes) = &mut self.notes {
            let map = &mut self.map;
            notes.old.drain(|key, old| {
                match old {
                    Some(old) => map.insert(key, old),
                    None => map.remove(&key),
                };
            });
        }
    }

    fn compact(&mut self) {
        self.notes.take_if(|notes| notes.savepoints.is_empty());
    }

    fn is_compacted(&self) -> bool {
        self.notes.as_ref().is_none_or(|notes| !notes.savepoints.is_empty())
    }

    fn make_savepoint(&mut self, number: u64) {
        self.notes
            .get_or_insert_default()
            .savepoints
            .push(number, self.map.end());
    }

    fn restore_savepoint(&mut self, number: u64) -> bool {
        let notes = self.notes.as_mut();
        notes.is_some_and(|notes| notes.savepoints.restore_savepoint(number, &mut self.map))
    }

    fn drop_savepoints(&mut self, oldest: u64) {
        if let Some(notes) = &mut self.notes {
            notes.savepoints.forget(oldest);
        }
    }
}

impl<K, V, M: FromIterator<(K, V)> + Default> FromIterator<(K, V)> for Tracked<K, V, M> {
    fn from_iter<T: IntoIterator<Item = (K, V)>>(entries: T) -> Self {
        Self {
            map: entries.into_iter().collect(),
            ..Self::default()
        }
    }
}

impl<K, V, M: PartialEq> PartialEq for Tracked<K, V, M> {
    fn eq(&self, other: &Self) -> bool {
        self.map == other.map
    }
}

impl<K, V, M: Codec + Default> Codec for Tracked<K, V, M> {
    fn write(&self, out: &mut PackedWriter) {
        self.map.write(out);
    }

    fn decode(value: &IOValue) -> Result<Self, DecodeError> {
        let map = M::decode(value)?;
        Ok(Self { map, ..Self::default() })
    }
}
