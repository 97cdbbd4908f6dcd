//! Objects that the machine makes of free words, several at once.
//!
//! Owns the index of the next one.
//! INVARIANT: the heap knows none of them before [`Allocation::commit`], so running out of words
//! midway changes nothing.
//! It does not collect.
//! Read next: `machine/segment.rs`.

use crate::heap::kind::{Header, padded};
use crate::heap::{Heap, HeapFull, Kind};
use crate::value::Value;

use super::frame::HeapWords;

/// Free words that the machine fills; they become objects of the heap by [`Allocation::commit`].
pub(super) struct Allocation {
    next: usize,
    /// The number of free words beyond those that were asked for.
    spare: usize,
}

impl Allocation {
    /// Begins with `words` free words of the heap, if it has them.
    #[inline(always)]
    pub(super) fn begin(heap: &Heap, words: usize) -> Option<Allocation> {
        let at_hand = heap.free_range();
        let spare = at_hand.len().checked_sub(words)?;
        Some(Allocation {
            next: at_hand.start,
            spare,
        })
    }

    /// Begins with `words` free words of the heap, which grows if necessary.
    pub(super) fn reserve(heap: &mut Heap, words: usize) -> Result<Allocation, HeapFull> {
        heap.reserve(words)?;
        Allocation::begin(heap, words).ok_or(HeapFull)
    }

    /// The index of an object of `words` of the words that were asked for.
    #[inline(always)]
    pub(super) fn object(&mut self, words: usize) -> usize {
        let index = self.next;
        self.next += words;
        index
    }

    /// The index of an object of `words` further words, if they are free.
    #[inline(always)]
    pub(super) fn extra_object(&mut self, words: usize) -> Option<usize> {
        self.spare = self.spare.checked_sub(words)?;
        Some(self.object(words))
    }

    /// The index of the next object.
    #[inline(always)]
    pub(super) fn next(&self) -> usize {
        self.next
    }

    /// Makes the filled words objects of the heap.
    #[inline(always)]
    pub(super) fn commit(self, heap: &mut Heap) {
        debug_assert!(self.next <= heap.free_range().end, "the words were free");
        heap.bump_to(self.next);
    }
}

/// Fills a new object of `kind` with these fields.
#[inline(always)]
pub(super) fn write_object<const LENGTH: usize>(
    words: HeapWords,
    allocation: &mut Allocation,
    kind: Kind,
    fields: [Value; LENGTH],
) -> usize {
    let index = allocation.object(padded(1 + LENGTH));
    if LENGTH.is_multiple_of(2) {
        words.fill(index + 1 + LENGTH, Value::ZERO);
    }
    words.fill(index, Header::new(kind, LENGTH as u32).to_value());
    for (place, field) in fields.into_iter().enumerate() {
        words.fill(index + 1 + place, field);
    }
    index
}
