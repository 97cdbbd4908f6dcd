//! Savepoints: how a map returns to a state of many turns ago.
//!
//! Owns, for each savepoint, the old values of the keys that changed after it. Ids ascend, so most
//! keys that a turn adds lie beyond the greatest key at the savepoint, and need no note. (The
//! alternative was a clone of the map: the first change of each node after a clone copies the node
//! and increments a reference count for everything below it, which in a large map is far away in
//! memory.)
//! INVARIANT: restoring the old values of the newest savepoint and removing the keys beyond its end
//! gives the map at the savepoint.
//! It does not know for how many turns a savepoint stays; `../../run/checkpoints.rs` does.
//! Read next: `../tracked.rs`.

use std::collections::VecDeque;
use std::ops::{Bound, RangeBounds};

use super::noted::Noted;
use super::table::Table;

/// Maximum number of old values in a savepoint; a map that changes more keys between two savepoints
/// drops all its savepoints.
const KEPT_MAX: usize = 1 << 16;

/// The savepoints of a map, oldest first.
pub(super) struct Savepoints<K, V>(VecDeque<Savepoint<K, V>>);

struct Savepoint<K, V> {
    number: u64,
    /// The bound beyond which the map had no key, if most added keys lie there.
    end: Option<Bound<K>>,
    /// The old values of other keys that changed before the next savepoint.
    old: Noted<K, V>,
}

impl<K, V> Default for Savepoints<K, V> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<K: Ord + Clone, V: Clone> Savepoints<K, V> {
    /// Says whether there are no savepoints.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Makes a savepoint of a map whose keys end at `end`; its number is greater than those before.
    pub(super) fn push(&mut self, number: u64, end: Option<Bound<K>>) {
        self.0.push_back(Savepoint {
            number,
            end,
            old: Noted::default(),
        });
    }

    /// Records the value that a key had before it changed, unless the savepoint knows it.
    pub(super) fn keep(&mut self, key: &K, old: impl FnOnce() -> Option<V>) {
        let Some(newest) = self.0.back_mut() else { return };
        let is_beyond = |end: &Bound<K>| (end.as_ref(), Bound::Unbounded).contains(key);
        if newest.end.as_ref().is_some_and(is_beyond) {
            return;
        }
        let Err(gap) = newest.old.find(key) else { return };
        if newest.old.len() < KEPT_MAX {
            newest.old.add(gap, key.clone(), old());
        } else {
            self.0.clear();
        }
    }

    /// Drops the savepoints with numbers below `oldest`.
    pub(super) fn forget(&mut self, oldest: u64) {
        while self.0.pop_front_if(|savepoint| savepoint.number < oldest).is_some() {}
    }

    /// Restores a map to the savepoint with this number and drops it and the later ones; says
    /// whether it existed.
    pub(super) fn restore_savepoint(&mut self, number: u64, map: &mut impl Table<K, V>) -> bool {
        let mut reached = None;
        while let Some(mut savepoint) = self.0.pop_back_if(|savepoint| savepoint.number >= number) {
            for key in savepoint.end.map_or_else(Vec::new, |end| map.keys_from(end)) {
                map.remove(&key);
            }
            for (key, old) in savepoint.old.drain(usize::MAX) {
                match old {
                    Some(old) => map.insert(key, old),
                    None => map.remove(&key),
                };
            }
            reached = Some(savepoint.number);
        }
        reached == Some(number)
    }
}
