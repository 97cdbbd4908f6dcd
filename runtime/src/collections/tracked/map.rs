//! Tracked maps: maps with an undo log.
//!
//! INVARIANT: a map with an empty undo log equals the map at the start of the turn; the first note
//! about a key holds the value from then.
//! A turn that changes very many keys copies the map, which shares its nodes, and an abort goes
//! back to the copy: to undo a million insertions one by one takes a second, in which nobody can
//! stop the process. (A copy in each turn would make most turns slower.)
//! It does not know what a turn is; `../../state.rs` does.
//! Read next: `table.rs`, then `tree.rs`.

use std::fmt::{self, Debug};
use std::ops::{Bound, Deref};

use duet_journal::packed::PackedWriter;
use preserves::IOValue;

use super::noted::Noted;
use super::order::Gap;
use super::savepoints::Savepoints;
use super::table::Table;
use super::tracking::Tracking;
use crate::collections::ordered::Ordered;
use crate::model::codec::{Codec, DecodeError};

/// The maximum number of notes before the map is copied.
const UNCOPIED_MAX: usize = if cfg!(test) { 24 } else { 1 << 14 };

/// A map that can undo its changes since the last [`commit_turn`](Tracking::commit_turn).
///
/// It dereferences to the [table](Table) `M` for reading; its clone has no savepoints.
pub struct Tracked<K, V, M = Ordered<K, V>> {
    pub(super) map: M,
    /// The undo log; `None` in most maps, because few changed lately.
    pub(super) notes: Option<Box<Notes<K, V, M>>>,
}

/// The undo log: the old value of each changed key, each key once.
pub(super) struct Notes<K, V, M> {
    pub(super) noted: Noted<K, V>,
    /// The map after the first [`UNCOPIED_MAX`] of these changes.
    copy: Option<M>,
    /// The savepoints, which receive the notes of turns that commit.
    pub(super) savepoints: Savepoints<K, V>,
}

impl<K, V, M> Default for Notes<K, V, M> {
    fn default() -> Self {
        Self {
            noted: Noted::default(),
            copy: None,
            savepoints: Savepoints::default(),
        }
    }
}

impl<K: Clone, V: Clone, M: Clone> Clone for Tracked<K, V, M> {
    fn clone(&self) -> Self {
        let notes = self.notes.as_ref().filter(|notes| !notes.noted.is_empty());
        Self {
            map: self.map.clone(),
            notes: notes.map(|notes| {
                Box::new(Notes {
                    noted: notes.noted.clone(),
                    copy: notes.copy.clone(),
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
        if let Err(gap) = self.note(&key) {
            self.add_note(gap, key, old.clone());
        }
        old
    }

    /// Removes `key` and returns its value.
    pub fn remove(&mut self, key: &K) -> Option<V> {
        let old = self.map.remove(key)?;
        if let Err(gap) = self.note(key) {
            self.add_note(gap, key.clone(), Some(old.clone()));
        }
        Some(old)
    }

    /// Returns the value of `key`, to change it.
    pub fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        if let Err(gap) = self.note(key) {
            let old = self.map.get(key)?.clone();
            self.add_note(gap, key.clone(), Some(old));
        }
        self.map.get_mut(key)
    }

    /// Returns the value that `key` had at the start of the turn.
    pub fn before(&self, key: &K) -> Option<&V> {
        match self.note(key) {
            Ok(old) => old.as_ref(),
            Err(_) => self.map.get(key),
        }
    }

    /// Says whether the turn has changed any key.
    pub(crate) fn has_changed(&self) -> bool {
        self.notes.as_ref().is_some_and(|notes| !notes.noted.is_empty())
    }

    /// Lists the keys that the turn has changed, each with its value from the start of the turn.
    pub fn noted(&self) -> impl Iterator<Item = (&K, Option<&V>)> {
        let notes = self.notes.iter();
        notes.flat_map(|notes| notes.noted.iter().map(|(key, old)| (key, old.as_ref())))
    }

    /// Removes everything.
    pub fn clear(&mut self) {
        for key in self.map.keys_from(Bound::Unbounded) {
            self.remove(&key);
        }
    }

    /// Returns the note about a key, or the gap in which it belongs.
    fn note(&self, key: &K) -> Result<&Option<V>, Gap> {
        let notes = self.notes.as_ref().ok_or_else(Gap::default)?;
        notes.noted.find(key)
    }

    fn add_note(&mut self, gap: Gap, key: K, old: Option<V>) {
        let notes = self.notes.get_or_insert_default();
        notes.noted.add(gap, key, old);
        if notes.noted.len() == UNCOPIED_MAX {
            notes.copy = Some(self.map.clone());
        }
    }
}

impl<K: Ord + Clone, V: Clone, M: Table<K, V>> Tracking for Tracked<K, V, M> {
    #[inline]
    fn commit_turn(&mut self) {
        // Most maps are untouched in most turns.
        if let Some(notes) = &mut self.notes
            && !notes.noted.is_empty()
        {
            notes.settle();
        }
    }

    #[inline]
    fn abort_turn(&mut self) {
        if let Some(notes) = &mut self.notes {
            let used = notes.noted.len();
            if let Some(copy) = notes.copy.take() {
                self.map = copy;
            }
            for (key, old) in notes.noted.drain(UNCOPIED_MAX) {
                match old {
                    Some(old) => self.map.insert(key, old),
                    None => self.map.remove(&key),
                };
            }
            notes.noted.shrink(used);
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

impl<K: Ord + Clone, V: Clone, M> Notes<K, V, M> {
    /// Passes the notes to the newest savepoint, if there is one.
    fn settle(&mut self) {
        let used = self.noted.len();
        for (key, old) in self.noted.drain(usize::MAX) {
            self.savepoints.keep(&key, || old);
        }
        self.noted.shrink(used);
        self.copy = None;
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
