//! Tracked maps: maps with an undo log.
//!
//! INVARIANT: a map with an empty undo log equals the map at the start of the turn; the first note
//! about a key holds the value from then.
//! A turn that changes very many keys copies the map, which shares its nodes, and an abort goes
//! back to the copy: to undo a million insertions one by one takes a second, in which nobody can
//! stop the process. (A copy in each turn would make most turns slower.)
//! It does not know what a turn is; `../../state.rs` does.
//! Read next: `table.rs`, then `tree.rs`.

use std::collections::BTreeMap;
use std::fmt::{self, Debug};
use std::ops::{Bound, Deref};

use duet_journal::packed::PackedWriter;
use preserves::IOValue;

use super::savepoints::Savepoints;
use super::table::Table;
use super::tracking::Tracking;
use crate::collections::ordered::Ordered;
use crate::model::codec::{Codec, DecodeError};

/// A linear search finds a key among at most this many notes.
const SHORT_MAX: usize = 16;

/// The maximum number of long notes before the map is copied.
const LONG_MAX: usize = if cfg!(test) { 8 } else { 1 << 14 };

/// Room for this many notes stays allocated from turn to turn.
const KEPT_MAX: usize = 4;

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
    /// The first notes, in the order of the changes; not empty if `long` has any.
    short: Vec<(K, Option<V>)>,
    /// The next notes; few turns have any.
    long: BTreeMap<K, Option<V>>,
    /// The map after these changes, and the notes about keys that changed later.
    copy: Option<(M, BTreeMap<K, Option<V>>)>,
    /// The savepoints, which receive the notes of turns that commit.
    pub(super) savepoints: Savepoints<K, V>,
}

impl<K, V, M> Default for Notes<K, V, M> {
    fn default() -> Self {
        Self {
            short: Vec::new(),
            long: BTreeMap::new(),
            copy: None,
            savepoints: Savepoints::default(),
        }
    }
}

impl<K: Clone, V: Clone, M: Clone> Clone for Tracked<K, V, M> {
    fn clone(&self) -> Self {
        let notes = self.notes.as_ref().filter(|notes| !notes.short.is_empty());
        Self {
            map: self.map.clone(),
            notes: notes.map(|notes| {
                Box::new(Notes {
                    short: notes.short.clone(),
                    long: notes.long.clone(),
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
        self.notes.as_ref().is_some_and(|notes| !notes.short.is_empty())
    }

    /// Lists the keys that the turn has changed, each with its value from the start of the turn.
    pub fn noted(&self) -> impl Iterator<Item = (&K, Option<&V>)> {
        let notes = self.notes.iter();
        notes.flat_map(|notes| {
            let short = notes.short.iter().map(|(key, old)| (key, old));
            let last = notes.copy.iter().flat_map(|(_, last)| last);
            let all = short.chain(&notes.long).chain(last);
            all.map(|(key, old)| (key, old.as_ref()))
        })
    }

    /// Removes everything.
    pub fn clear(&mut self) {
        for key in self.map.keys_from(Bound::Unbounded) {
            self.remove(&key);
        }
    }

    fn note(&self, key: &K) -> Option<&Option<V>> {
        self.notes.as_ref()?.get(key)
    }

    fn add_note(&mut self, key: K, old: Option<V>) {
        let notes = self.notes.get_or_insert_default();
        if notes.short.len() < SHORT_MAX {
            if notes.short.capacity() == 0 {
                notes.short.reserve_exact(1);
            }
            notes.short.push((key, old));
        } else if let Some((_, last)) = &mut notes.copy {
            last.insert(key, old);
        } else {
            notes.long.insert(key, old);
            if notes.long.len() == LONG_MAX {
                notes.copy = Some((self.map.clone(), BTreeMap::new()));
            }
        }
    }
}

impl<K: Ord + Clone, V: Clone, M: Table<K, V>> Tracking for Tracked<K, V, M> {
    #[inline]
    fn commit_turn(&mut self) {
        // Most maps are untouched in most turns.
        if let Some(notes) = &mut self.notes
            && !notes.short.is_empty()
        {
            notes.settle();
        }
    }

    #[inline]
    fn abort_turn(&mut self) {
        if let Some(notes) = &mut self.notes {
            let long = std::mem::take(&mut notes.long);
            if let Some((copy, _)) = notes.copy.take() {
                self.map = copy;
            }
            for (key, old) in notes.short.drain(..).chain(long) {
                match old {
                    Some(old) => self.map.insert(key, old),
                    None => self.map.remove(&key),
                };
            }
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
    /// Returns the note about a key.
    pub(super) fn get(&self, key: &K) -> Option<&Option<V>> {
        let short = self.short.iter().find(|(noted, _)| noted == key);
        let later = || self.long.get(key).or_else(|| self.copy.as_ref()?.1.get(key));
        short.map(|(_, old)| old).or_else(later)
    }

    /// Passes the notes to the newest savepoint, if there is one.
    fn settle(&mut self) {
        let used = self.short.len();
        for (key, old) in self.short.drain(..) {
            self.savepoints.keep(&key, || old);
        }
        // Only a turn that needed much less frees room, so that turns of equal size allocate
        // nothing.
        if used <= KEPT_MAX && self.short.capacity() > 2 * KEPT_MAX {
            self.short.shrink_to(KEPT_MAX);
        }
        // Taking an empty tree costs as much as searching a small one.
        if !self.long.is_empty() {
            let last = self.copy.take().map(|(_, last)| last);
            for (key, old) in std::mem::take(&mut self.long)
                .into_iter()
                .chain(last.into_iter().flatten())
            {
                self.savepoints.keep(&key, || old);
            }
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
