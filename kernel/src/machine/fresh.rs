//! Objects that the machine makes of words at hand, several at once.
//!
//! INVARIANT: the heap knows of none of them before [`Fresh::take`], so whoever runs out of words midway has changed nothing.
//! It does not collect. Read next: `machine/segment.rs`.

use crate::heap::kind::{Header, padded};
use crate::heap::{Heap, HeapFull, Kind};
use crate::value::Value;

use super::frame::HeapWords;

/// Words at hand that are being filled. They are the heap's once it [takes](Fresh::take) them.
pub(super) struct Fresh {
    next: usize,
    /// How many words are at hand beyond those that were asked for.
    spare: usize,
}

impl Fresh {
    /// Words of `heap`, if so many are at hand.
    #[inline(always)]
    pub(super) fn at_hand(heap: &Heap, words: usize) -> Option<Fresh> {
        let at_hand = heap.at_hand();
        let spare = at_hand.len().checked_sub(words)?;
        Some(Fresh {
            next: at_hand.start,
            spare,
        })
    }

    /// Words of `heap`, which gets more if it must.
    pub(super) fn reserved(heap: &mut Heap, words: usize) -> Result<Fresh, HeapFull> {
        heap.reserve(words)?;
        Fresh::at_hand(heap, words).ok_or(HeapFull)
    }

    /// The index of an object of so many words, which were asked for.
    #[inline(always)]
    pub(super) fn object(&mut self, words: usize) -> usize {
        let index = self.next;
        self.next += words;
        index
    }

    /// The index of an object of so many words, which were not asked for, if they are at hand.
    #[inline(always)]
    pub(super) fn further_object(&mut self, words: usize) -> Option<usize> {
        self.spare = self.spare.checked_sub(words)?;
        Some(self.object(words))
    }

    /// Where the next object will be.
    #[inline(always)]
    pub(super) fn next(&self) -> usize {
        self.next
    }

    /// Gives the heap the objects that were filled.
    #[inline(always)]
    pub(super) fn take(self, heap: &mut Heap) {
        heap.take_until(self.next);
    }
}

/// Fills a fresh object of `kind` with these fields.
#[inline(always)]
pub(super) fn put<const LENGTH: usize>(
    words: HeapWords,
    fresh: &mut Fresh,
    kind: Kind,
    fields: [Value; LENGTH],
) -> usize {
    let index = fresh.object(padded(1 + LENGTH));
    if LENGTH.is_multiple_of(2) {
        words.fill(index + 1 + LENGTH, Value::ZERO);
    }
    words.fill(index, Header::new(kind, LENGTH as u32).to_value());
    for (place, field) in fields.into_iter().enumerate() {
        words.fill(index + 1 + place, field);
    }
    index
}
