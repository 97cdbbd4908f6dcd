//! The stress mode, which brings out words that somebody keeps over a collection.
//!
//! Owns what a stressed heap does otherwise: a collection is due at every safepoint, the nursery
//! has room for few objects or none, small heaps also move their old objects, and words that
//! nothing may read any more hold [`POISON`] in place of a harmless zero.
//! INVARIANT: programs compute the same, because they do not see when the heap collects.
//! It does not choose the mode; the machine does.
//! Read next: `heap/collect.rs`.

use super::Heap;
use crate::value::Value;

/// The word that dead registers and freed space hold: a number that no program has by accident.
const POISON: Value = Value::small(-0x2bad_f00d);

/// The nursery has room for none to this many pairs, in turn.
const PAIRS_MAX: u64 = 7;
/// One collection of this many is major.
const MAJOR_PERIOD: u64 = 8;
/// The maximum of words in the old space of a heap that has such major collections.
const MAJOR_WORDS: usize = 4096;

impl Heap {
    /// Makes the heap a stressed one, or a common one again.
    pub(crate) fn set_stressed(&mut self, is_stressed: bool) {
        if is_stressed || self.is_stressed {
            self.is_stressed = is_stressed;
            self.start_nursery(self.top);
        }
    }

    /// The word for registers that are dead.
    pub(crate) fn dead_word(&self) -> Value {
        if self.is_stressed { POISON } else { Value::ZERO }
    }

    /// The room of the nursery, so that some objects are made in line and others are not.
    pub(super) fn stressed_goal(&self) -> usize {
        2 * (self.collections() % (PAIRS_MAX + 1)) as usize
    }

    /// Whether the next collection is major for the sake of stress.
    pub(super) fn is_major_forced(&self) -> bool {
        let comes_now = self.collections() % MAJOR_PERIOD == MAJOR_PERIOD - 1;
        self.is_stressed && self.line <= MAJOR_WORDS && comes_now
    }

    /// The number of collections so far.
    fn collections(&self) -> u64 {
        self.statistics.collections_minor + self.statistics.collections_major
    }

    /// Poisons the free words before `end`, up to which words were in use.
    pub(super) fn poison_free(&mut self, end: usize) {
        if self.is_stressed {
            let end = end.min(self.words.len());
            if let Some(free) = self.words.get_mut(self.top..end) {
                free.fill(POISON.to_bits());
            }
        }
    }
}
