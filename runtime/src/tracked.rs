//! Maps that can go back to where a turn began.
//!
//! Owns [`Tracked`], a persistent map that notes what each change replaces, and the sets, cells and trees made of the same idea. A turn
//! changes the maps of the state in place; committing forgets the notes, aborting puts back what they say. So a turn costs what it changes,
//! whether it commits or not, and copies nothing that no checkpoint shares. (Copying the state before each turn was the alternative: it made
//! every insertion copy a path of its tree.)
//! INVARIANT: with no notes, a map is what it was when the turn began; the first note about a key holds what stood there then.
//! It does not know what a turn is; `state.rs` does.
//! Read next: `tracked/tree.rs`, then `state.rs`.

use std::collections::BTreeMap;
use std::fmt::{self, Debug};
use std::ops::Deref;

use im::OrdMap;
use preserves::IOValue;

use crate::codec::{Codec, DecodeError};

mod cell;
mod set;
mod tree;

pub use cell::TrackedCell;
pub use set::TrackedSet;
pub use tree::TrackedTree;

/// Up to this many notes are searched one by one.
const SHORT_MAX: usize = 16;

/// Room for this many notes is kept from turn to turn.
const KEPT_MAX: usize = 4;

/// A persistent map whose changes since the last [`commit_turn`](Tracking::commit_turn) can be taken back.
///
/// It reads like the map it is; a clone shares everything until one of the two changes.
#[derive(Clone)]
pub struct Tracked<K, V> {
    map: OrdMap<K, V>,
    /// What stood where something changed; each key once. The first few notes, in the order of the changes; never empty if there are others.
    short: Vec<(K, Option<V>)>,
    /// The other notes; few turns have any.
    #[expect(clippy::box_collection, reason = "most maps have none, and there are many maps")]
    long: Option<Box<BTreeMap<K, Option<V>>>>,
}

impl<K, V> Default for Tracked<K, V> {
    fn default() -> Self {
        Self {
            map: OrdMap::default(),
            short: Vec::new(),
            long: None,
        }
    }
}

impl<K: Ord + Debug, V: Debug> Debug for Tracked<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.map.fmt(f)
    }
}

impl<K, V> Deref for Tracked<K, V> {
    type Target = OrdMap<K, V>;

    fn deref(&self) -> &Self::Target {
        &self.map
    }
}

impl<K: Ord + Clone, V: Clone> Tracked<K, V> {
    /// Puts `value` under `key` and returns what stood there.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        let old = self.map.insert(key.clone(), value);
        if self.note(&key).is_none() {
            self.add_note(key, old.clone());
        }
        old
    }

    /// Removes what stands under `key` and returns it.
    pub fn remove(&mut self, key: &K) -> Option<V> {
        let old = self.map.remove(key)?;
        if self.note(key).is_none() {
            self.add_note(key.clone(), Some(old.clone()));
        }
        Some(old)
    }

    /// Returns what stands under `key`, to change it.
    pub fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        if self.note(key).is_none() {
            let old = self.map.get(key)?.clone();
            self.add_note(key.clone(), Some(old));
        }
        self.map.get_mut(key)
    }

    /// Returns what stood under `key` when the turn began.
    pub fn before(&self, key: &K) -> Option<&V> {
        match self.note(key) {
            Some(old) => old.as_ref(),
            None => self.map.get(key),
        }
    }

    /// Lists the keys that the turn has touched, each with what stood there when it began.
    pub fn noted(&self) -> impl Iterator<Item = (&K, Option<&V>)> {
        let short = self.short.iter().map(|(key, old)| (key, old.as_ref()));
        let long = self.long.iter().flat_map(|notes| notes.iter());
        short.chain(long.map(|(key, old)| (key, old.as_ref())))
    }

    /// Removes everything.
    pub fn clear(&mut self) {
        let keys: Vec<K> = self.map.keys().cloned().collect();
        for key in keys {
            self.remove(&key);
        }
    }

    fn note(&self, key: &K) -> Option<&Option<V>> {
        let short = self.short.iter().find(|(noted, _)| noted == key);
        short.map(|(_, old)| old).or_else(|| self.long.as_ref()?.get(key))
    }

    fn add_note(&mut self, key: K, old: Option<V>) {
        if self.short.len() < SHORT_MAX {
            self.short.push((key, old));
        } else {
            self.long.get_or_insert_default().insert(key, old);
        }
    }
}

impl<K: Ord + Clone, V: Clone> Tracking for Tracked<K, V> {
    #[inline]
    fn commit_turn(&mut self) {
        // Most maps are untouched in most turns.
        if !self.short.is_empty() {
            self.forget_notes();
        }
    }

    #[inline]
    fn abort_turn(&mut self) {
        if !self.short.is_empty() {
            self.put_back();
        }
    }
}

impl<K: Ord + Clone, V: Clone> Tracked<K, V> {
    fn forget_notes(&mut self) {
        let used = self.short.len();
        self.short.clear();
        // Room is given back only by a turn that needed much less, so that equal turns allocate nothing.
        if used <= KEPT_MAX && self.short.capacity() > 2 * KEPT_MAX {
            self.short.shrink_to(KEPT_MAX);
        }
        self.long = None;
    }

    fn put_back(&mut self) {
        let long = self.long.take().unwrap_or_default();
        for (key, old) in self.short.drain(..).chain(*long) {
            match old {
                Some(old) => self.map.insert(key, old),
                None => self.map.remove(&key),
            };
        }
    }
}

/// Something that keeps notes of its own changes.
pub trait Tracking {
    /// Keeps the changes since the last commit.
    fn commit_turn(&mut self);

    /// Takes the changes since the last commit back.
    fn abort_turn(&mut self);
}

/// Makes a struct [`Tracking`]: every field is named, those that keep notes and, after `but not`, those that a turn leaves alone or need not
/// give back; a field that is forgotten does not compile.
macro_rules! tracked_fields {
    ($type:ident { $($field:ident),* $(,)? } $(but not { $($other:ident),* $(,)? })?) => {
        impl $crate::tracked::Tracking for $type {
            fn commit_turn(&mut self) {
                let Self { $($field,)* $($($other: _,)*)? } = self;
                $($field.commit_turn();)*
            }

            fn abort_turn(&mut self) {
                let Self { $($field,)* $($($other: _,)*)? } = self;
                $($field.abort_turn();)*
            }
        }
    };
}
pub(crate) use tracked_fields;

impl<K: Ord + Clone, V: Clone> FromIterator<(K, V)> for Tracked<K, V> {
    fn from_iter<T: IntoIterator<Item = (K, V)>>(entries: T) -> Self {
        Self {
            map: entries.into_iter().collect(),
            ..Self::default()
        }
    }
}

impl<K: Ord + Clone, V: PartialEq> PartialEq for Tracked<K, V> {
    fn eq(&self, other: &Self) -> bool {
        self.map == other.map
    }
}

impl<K: Codec + Ord + Clone, V: Codec + Clone> Codec for Tracked<K, V> {
    fn encode(&self) -> IOValue {
        self.map.encode()
    }

    fn decode(value: &IOValue) -> Result<Self, DecodeError> {
        let map = OrdMap::decode(value)?;
        Ok(Self { map, ..Self::default() })
    }
}

#[cfg(test)]
mod tests;
