//! Notes: the old values of changed keys.
//!
//! INVARIANT: each key has at most one note; the order has the places of all notes, if there are
//! more than [`SHORT_MAX`].
//! It does not know when a note is due.
//! Read next: `map.rs`, `savepoints.rs`.

use std::vec::Drain;

use super::order::{Gap, Order};

/// A linear search finds a key among at most this many notes.
const SHORT_MAX: usize = 16;

/// Room for this many notes stays allocated from turn to turn.
const KEPT_MAX: usize = 4;

/// The old values of keys, in the order in which they were noted: `None` for a key that had none.
#[derive(Clone)]
pub(super) struct Noted<K, V> {
    notes: Vec<(K, Option<V>)>,
    order: Order,
}

impl<K, V> Default for Noted<K, V> {
    fn default() -> Self {
        Self {
            notes: Vec::new(),
            order: Order::default(),
        }
    }
}

impl<K, V> Noted<K, V> {
    pub(super) fn is_empty(&self) -> bool {
        self.notes.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.notes.len()
    }

    /// Lists the notes, oldest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &(K, Option<V>)> {
        self.notes.iter()
    }

    /// Takes all notes out, and lists the oldest of them, at most this many.
    pub(super) fn drain(&mut self, oldest_max: usize) -> Drain<'_, (K, Option<V>)> {
        self.order.clear();
        self.notes.truncate(oldest_max);
        self.notes.drain(..)
    }

    /// Frees room that a turn with this many notes leaves, if it is much more than it used, so that
    /// turns of equal size allocate nothing.
    pub(super) fn shrink(&mut self, used: usize) {
        if used > SHORT_MAX {
            self.notes.shrink_to(SHORT_MAX);
        } else if used <= KEPT_MAX && self.notes.capacity() > 2 * KEPT_MAX {
            self.notes.shrink_to(KEPT_MAX);
        }
    }
}

impl<K: Ord, V> Noted<K, V> {
    /// Returns the note about a key, or the gap in which it belongs.
    pub(super) fn find(&self, key: &K) -> Result<&Option<V>, Gap> {
        let noted = if self.notes.len() > SHORT_MAX {
            let place = self.order.find(|place| self.notes[place as usize].0.cmp(key))?;
            Some(&self.notes[place as usize])
        } else {
            self.notes.iter().find(|(noted, _)| noted == key)
        };
        noted.map(|(_, old)| old).ok_or_else(Gap::default)
    }

    /// Returns the note about a key.
    pub(super) fn get(&self, key: &K) -> Option<&Option<V>> {
        self.find(key).ok()
    }

    /// Notes the old value of a key in its gap.
    pub(super) fn add(&mut self, gap: Gap, key: K, old: Option<V>) {
        let place = self.notes.len();
        if place == 0 && self.notes.capacity() == 0 {
            self.notes.reserve_exact(1);
        }
        self.notes.push((key, old));
        if place > SHORT_MAX {
            self.order.insert(gap, place as u32);
        } else if place == SHORT_MAX {
            let notes = &self.notes;
            self.order = Order::of(SHORT_MAX as u32 + 1, &|one, other| {
                notes[one as usize].0.cmp(&notes[other as usize].0)
            });
        }
    }
}
