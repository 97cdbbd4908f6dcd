//! Savepoints: how a map goes back over many turns.
//!
//! Owns, for each mark, what stood under the keys that have changed since. Ids are given out in ascending order, so most of what a turn adds lies beyond the greatest
//! key that there was, and nothing need be noted of it. (A clone of the map was the alternative: the first change of a node after each copies it and
//! counts a reference to everything below, which among many things is far away in memory.)
//! INVARIANT: with all that stands in the newest mark put back, and what lies beyond its end removed, the map is as it was then.
//! It does not know how many turns a mark is kept; `past.rs` does.
//! Read next: `tracked.rs`.

use std::collections::{BTreeMap, VecDeque};
use std::ops::{Bound, RangeBounds};

use super::table::Table;

/// The keys of which a mark knows what stood there are no more; a map that changes more between two marks cannot go back.
const KEPT_MAX: usize = 1 << 16;

/// The marks of a map, oldest first.
pub(super) struct Savepoints<K, V>(VecDeque<Savepoint<K, V>>);

struct Savepoint<K, V> {
    number: u64,
    /// From where on there was no key, if most keys that are added lie there.
    end: Option<Bound<K>>,
    /// What stood under other keys where something changed before the next mark.
    old: BTreeMap<K, Option<V>>,
}

impl<K, V> Default for Savepoints<K, V> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<K: Ord + Clone, V: Clone> Savepoints<K, V> {
    /// Says whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Savepoints a map, whose keys end there, under a number greater than those before.
    pub(super) fn push(&mut self, number: u64, end: Option<Bound<K>>) {
        self.0.push_back(Savepoint {
            number,
            end,
            old: BTreeMap::new(),
        });
    }

    /// Keeps what stood under a key before it changed, unless that is known.
    pub(super) fn keep(&mut self, key: &K, old: impl FnOnce() -> Option<V>) {
        let Some(newest) = self.0.back_mut() else { return };
        let is_beyond = |end: &Bound<K>| (end.as_ref(), Bound::Unbounded).contains(key);
        if newest.end.as_ref().is_some_and(is_beyond) || newest.old.contains_key(key) {
            return;
        }
        if newest.old.len() < KEPT_MAX {
            newest.old.insert(key.clone(), old());
        } else {
            self.0.clear();
        }
    }

    /// Forgets the marks with numbers below `oldest`.
    pub(super) fn forget(&mut self, oldest: u64) {
        while self.0.pop_front_if(|mark| mark.number < oldest).is_some() {}
    }

    /// Takes a map back to the mark with this number, which is gone then like those after it; says whether it was still there.
    pub(super) fn restore_savepoint(&mut self, number: u64, map: &mut impl Table<K, V>) -> bool {
        let mut reached = None;
        while let Some(mark) = self.0.pop_back_if(|mark| mark.number >= number) {
            for key in mark.end.map_or_else(Vec::new, |end| map.keys_from(end)) {
                map.remove(&key);
            }
            for (key, old) in mark.old {
                match old {
                    Some(old) => map.insert(key, old),
                    None => map.remove(&key),
                };
            }
            reached = Some(mark.number);
        }
        reached == Some(number)
    }
}
