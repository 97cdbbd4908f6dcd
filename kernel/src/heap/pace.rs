//! The pace of collections: how many words are allocated before the next one is due.
//!
//! Owns the sizes of nursery and old space. A heap collects often at first, because the heaps of
//! many actors share the memory. If turn after turn collects, the actor is busy with a long
//! computation and gets more memory: a larger nursery while many objects survive, since they have
//! had too little time to die, and more old space after the first major collections.
//! INVARIANT: the pace begins anew after a turn that allocates little, and with each snapshot, so a
//! heap that was restored collects when the original does.
//! It does not collect.
//! Read next: `heap/collect.rs`.

use super::Heap;

/// A quarter of a megabyte: the nursery and its survivors stay in a core's second-level cache.
pub(super) const NURSERY_WORDS_MIN: usize = 32 * 1024;
/// Four megabytes: a minor collection in which everything survives takes a few milliseconds.
const NURSERY_WORDS_MAX: usize = 512 * 1024;
/// The first major collection comes at this size of old space.
pub(super) const MAJOR_WORDS_MIN: usize = 64 * 1024;

/// How often either minimum may double.
const DOUBLINGS_MAX: u8 = 4;
/// The nursery grows if more than this part of it survives, ...
const PART_LARGE: usize = 4;
/// ... and shrinks if less than this part does.
const PART_SMALL: usize = 32;
/// After this many major collections old space may triple, ...
const MAJORS_EARLY: u8 = 2;
/// ... by sixteen megabytes at most.
const GROWTH_WORDS_MAX: usize = 2 * 1024 * 1024;

/// The pace of a heap; at first the default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Pace {
    /// How often the least nursery has doubled.
    doublings: u8,
    /// The major collections within turns, as far as they count.
    majors: u8,
}

impl Pace {
    /// The number of words that may be allocated beyond `line` words of old space.
    pub(super) fn nursery_words(self, line: usize) -> usize {
        (line / 4).clamp(NURSERY_WORDS_MIN << self.doublings, NURSERY_WORDS_MAX)
    }

    /// The size of old space that makes a major collection due after one that left `words_live`: if
    /// it has grown by four fifths, the heap takes three times the live words with the young
    /// objects and the copy.
    pub(super) fn major_words(self, words_live: usize) -> usize {
        let usual = (MAJOR_WORDS_MIN << self.majors).max(words_live / 5 * 9);
        if self.majors < MAJORS_EARLY {
            return usual;
        }
        usual.max(words_live + (2 * words_live).min(GROWTH_WORDS_MAX))
    }

    /// The greatest number of words before the next major collection, if the last one left
    /// `words_live`.
    pub(super) fn words_until_major(self, words_live: usize) -> usize {
        let line = self.major_words(words_live);
        line + 2 * self.nursery_words(line)
    }

    /// Whether the heap is so busy that it keeps room between its collections.
    pub(super) fn has_room(self) -> bool {
        self.majors > 0
    }

    fn note_minor(&mut self, collected: usize, survived: usize) {
        if survived > collected / PART_LARGE {
            self.doublings = (self.doublings + 1).min(DOUBLINGS_MAX);
        } else if survived < collected / PART_SMALL {
            self.doublings = self.doublings.saturating_sub(1);
        }
    }

    fn note_major(&mut self) {
        self.majors = (self.majors + 1).min(DOUBLINGS_MAX);
    }
}

impl Heap {
    /// Notes that a minor collection has kept `survived` of `collected` words.
    pub(super) fn note_minor(&mut self, collected: usize, survived: usize) {
        self.statistics.collections_minor += 1;
        if self.turn.is_some() {
            self.pace.note_minor(collected, survived);
        }
    }

    /// Begins the pace anew, for a snapshot.
    pub(crate) fn begin_pace(&mut self) {
        self.pace = Pace::default();
        self.start_nursery(self.line);
    }

    /// Puts the next collection off until as many words are allocated as a collection looks at
    /// outside the heap, because that costs as much as to allocate them.
    pub(crate) fn delay_collection(&mut self, words_outside: usize) {
        let end = self.line + words_outside.min(NURSERY_WORDS_MAX);
        if end > self.nursery_end && !self.is_stressed {
            self.nursery_end = end;
            self.limit = self.limit_now();
        }
    }

    /// Notes a major collection.
    pub(super) fn note_major(&mut self) {
        self.statistics.collections_major += 1;
        if self.turn.is_some() {
            self.pace.note_major();
        }
    }
}
