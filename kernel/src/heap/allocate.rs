//! Allocation: bumping the top, growing the words, making objects.
//!
//! Owns the free words and the room beyond them.
//! INVARIANT: allocation moves no object and never collects, so values in Rust variables stay valid
//! until their owner collects.
//! It does not write old objects.
//! Read next: `heap/access.rs`.

use std::ops::Range;

use super::kind::{Flags, Header, Kind, padded};
use super::pace::{MAJOR_WORDS_MIN, Pace};
use super::{Heap, HeapFull, WORDS_INITIAL};
use crate::value::Value;

/// A megabyte: moving more words than this costs more than a minor collection.
const LARGE_WORDS: usize = 128 * 1024;

/// Two megabytes: a heap keeps room for the time until its next major collection only up to this
/// size.
const ROOM_WORDS_MAX: usize = 256 * 1024;
/// Thirty-two megabytes: the same for a busy heap, and the size up to which the words that a
/// collection leaves become the room of the next.
const BUSY_ROOM_WORDS_MAX: usize = 4 * 1024 * 1024;

/// Words of the room for survivors that are kept at any time; a larger heap keeps more of them, up
/// to this part of old space, but not during a major collection, when most memory is needed.
const SURVIVORS_KEPT: usize = 64 * 1024;
const SURVIVORS_KEPT_PART: usize = 8;

/// An eighth of a megabyte: the words grow in steps of this size, because zeroing words that a
/// short turn does not reach takes longer than the turn.
const STEP_WORDS: usize = 16 * 1024;

impl Heap {
    /// Allocates `words` words, an even number, and returns the index of the first; the caller
    /// writes all of them.
    #[inline(always)]
    pub(crate) fn bump(&mut self, words: usize) -> Result<usize, HeapFull> {
        let index = self.top;
        if index + words <= self.limit {
            self.top = index + words;
            Ok(index)
        } else {
            self.bump_slow(words)
        }
    }

    #[cold]
    #[inline(never)]
    fn bump_slow(&mut self, words: usize) -> Result<usize, HeapFull> {
        if self.would_exceed(words) {
            self.collection_due = true;
            return Err(HeapFull);
        }
        let index = self.top;
        let end = index + words;
        self.collection_due |= end > self.nursery_end;
        if end > self.words.len() {
            let length = end.max(self.wanted_words()).min(self.words_allowed().max(end));
            if end > self.words.capacity() {
                self.words.reserve_exact(self.room_kept_for(length) - self.words.len());
            }
            let length = length.min(self.words.capacity());
            self.words.resize(length.min(end.max(self.words.len() + STEP_WORDS)), 0);
        }
        self.limit = self.limit_now();
        self.top = end;
        Ok(index)
    }

    /// The capacity for `length` words. A large heap gets half as many again, because unwritten
    /// room takes no memory and growing it moves everything.
    pub(super) fn room_kept_for(&self, length: usize) -> usize {
        if length < LARGE_WORDS {
            return length;
        }
        (length + length / 2).min(self.words_allowed().max(length))
    }

    /// Room for the copy of a major collection: that of the last one if all words fit, because
    /// fresh memory costs as much as the copying.
    pub(super) fn take_room_for_copy(&mut self) -> Vec<u64> {
        let room = std::mem::take(&mut self.survivors);
        let needed = self.top + WORDS_INITIAL;
        if self.pace.has_room() && room.capacity() >= needed {
            return room;
        }
        if room.capacity() <= SURVIVORS_KEPT {
            self.survivors = room;
        }
        // A small heap gets room for the objects until the next one, too. Room that is not written
        // takes no memory.
        let until_next = self.pace.words_until_major(self.words_live);
        let is_small = self.top >= MAJOR_WORDS_MIN && until_next <= self.room_max();
        Vec::with_capacity(if is_small { needed.max(until_next) } else { needed })
    }

    /// Keeps words that a major collection has left, as room.
    pub(super) fn recycle(&mut self, words: Vec<u64>) {
        if self.pace.has_room() && words.capacity() <= BUSY_ROOM_WORDS_MAX {
            self.survivors = words;
        }
    }

    /// Changes the pace; a heap that is no longer busy frees the room that only busy heaps keep.
    pub(super) fn set_pace(&mut self, pace: Pace) {
        let before = std::mem::replace(&mut self.pace, pace);
        if self.survivors.capacity() > self.survivors_max() {
            self.survivors = Vec::new();
        }
        if before.has_room() && !pace.has_room() {
            self.words.truncate(self.top);
            self.fit_words(self.top);
        }
    }

    /// Fits the room behind the first `top` words to the time until the next major collection, if
    /// these are all that is live.
    pub(super) fn fit_words(&mut self, top: usize) {
        let until_next = self.pace.words_until_major(top);
        let mut kept = if until_next <= self.room_max() {
            until_next
        } else {
            self.room_kept_for(top + WORDS_INITIAL)
        };
        let mut length = top + WORDS_INITIAL.min(self.words_max.saturating_sub(top));
        if self.pace.has_room() {
            kept = kept.max(BUSY_ROOM_WORDS_MAX);
            // Not more than the limit, even where more is allowed: what a step needs at most must
            // be free if it finds at once what it needs.
            length = length.max(self.words.len().min(self.words_max).min(kept));
        }
        self.words.truncate(length);
        self.words.shrink_to(kept);
        self.words.resize(length, 0);
    }

    fn room_max(&self) -> usize {
        if self.pace.has_room() {
            BUSY_ROOM_WORDS_MAX
        } else {
            ROOM_WORDS_MAX
        }
    }

    /// The greatest size of the room for survivors that is kept until the next minor collection,
    /// because fresh memory costs more than copying.
    pub(super) fn survivors_max(&self) -> usize {
        if self.pace == Pace::default() {
            SURVIVORS_KEPT.max(self.line / SURVIVORS_KEPT_PART)
        } else {
            BUSY_ROOM_WORDS_MAX
        }
    }

    /// The length to grow to: twice the present one, but not much more than the nursery needs.
    fn wanted_words(&self) -> usize {
        let nursery = self.nursery_end + (self.nursery_end - self.line.min(self.nursery_end)) / 2;
        let needed = if self.collection_due {
            self.top + self.top / 8
        } else {
            nursery
        };
        needed.min(self.words.len() * 2)
    }

    /// Allocates `words` words if they are free without growing anything; the machine's fast path.
    #[inline(always)]
    pub(crate) fn bump_young(&mut self, words: usize) -> Option<usize> {
        let index = self.top;
        if index + words > self.limit {
            return None;
        }
        self.top = index + words;
        Some(index)
    }

    /// The words that are free without growing anything.
    #[inline(always)]
    pub(crate) fn free_range(&self) -> Range<usize> {
        self.top..self.limit
    }

    /// Allocates the free words up to `end`; the caller has written all of them.
    #[inline(always)]
    pub(crate) fn bump_to(&mut self, end: usize) {
        debug_assert!((self.top..=self.limit.max(self.top)).contains(&end) && end.is_multiple_of(2));
        self.top = end;
    }

    /// Ensures that the next `words` words are free without growing anything.
    ///
    /// # Errors
    /// [`HeapFull`] if they would cross the hard limit.
    pub(crate) fn reserve(&mut self, words: usize) -> Result<(), HeapFull> {
        let index = self.bump(words)?;
        self.top = index;
        self.limit = self.limit.max(index + words);
        Ok(())
    }

    /// Whether `words` further words are free without growing anything.
    #[inline(always)]
    pub(crate) fn has_free_words(&self, words: usize) -> bool {
        self.top + words <= self.limit
    }

    /// Whether `words` further words exceed the nursery, so that a collection should come first.
    pub(crate) fn is_nursery_full(&self, words: usize) -> bool {
        self.collection_due || self.top + words > self.nursery_end
    }

    /// Whether `words` further words would exceed the hard limit.
    pub fn would_exceed(&self, words: usize) -> bool {
        words > self.words_allowed().saturating_sub(self.top)
    }

    /// Makes a pair.
    ///
    /// # Errors
    /// [`HeapFull`], as for everything that allocates; nothing is changed then.
    #[inline(always)]
    pub fn cons(&mut self, car: Value, cdr: Value) -> Result<Value, HeapFull> {
        let index = self.bump(2)?;
        self.words[index] = car.to_bits();
        self.words[index + 1] = cdr.to_bits();
        Ok(Value::pair_at(index))
    }

    /// Makes an object of `kind` whose fields all hold `fill`.
    ///
    /// # Errors
    /// [`HeapFull`].
    pub fn allocate_filled(&mut self, kind: Kind, length: usize, fill: Value) -> Result<Value, HeapFull> {
        let index = self.allocate_header(kind, Flags::NONE, length, length)?;
        self.words[index + 1..=index + length].fill(fill.to_bits());
        Ok(reference(kind, index))
    }

    /// Makes an object of `kind` with `length` fields, all unspecified.
    ///
    /// # Errors
    /// [`HeapFull`].
    pub fn allocate(&mut self, kind: Kind, length: usize) -> Result<Value, HeapFull> {
        self.allocate_filled(kind, length, Value::UNSPECIFIED)
    }

    /// Makes an object of `kind` with these fields.
    ///
    /// # Errors
    /// [`HeapFull`].
    #[inline]
    pub fn make(&mut self, kind: Kind, fields: &[Value]) -> Result<Value, HeapFull> {
        let index = self.allocate_header(kind, Flags::NONE, fields.len(), fields.len())?;
        for (word, field) in self.words[index + 1..].iter_mut().zip(fields) {
            *word = field.to_bits();
        }
        Ok(reference(kind, index))
    }

    /// Makes an object of a raw `kind` with `length` bytes, all zero.
    ///
    /// # Errors
    /// [`HeapFull`].
    pub fn allocate_raw(&mut self, kind: Kind, length: usize) -> Result<Value, HeapFull> {
        self.allocate_raw_flagged(kind, Flags::NONE, length)
    }

    /// Makes an object of a raw `kind` with a copy of `bytes`.
    ///
    /// # Errors
    /// [`HeapFull`].
    pub fn make_raw(&mut self, kind: Kind, flags: Flags, bytes: &[u8]) -> Result<Value, HeapFull> {
        let object = self.allocate_raw_flagged(kind, flags, bytes.len())?;
        self.fresh_bytes_mut(object).copy_from_slice(bytes);
        Ok(object)
    }

    /// Makes an object of `length` zero bytes.
    pub(super) fn allocate_raw_flagged(&mut self, kind: Kind, flags: Flags, length: usize) -> Result<Value, HeapFull> {
        debug_assert!(kind.is_raw());
        let payload_words = length.div_ceil(8);
        let index = self.allocate_header(kind, flags, length, payload_words)?;
        self.words[index + 1..=index + payload_words].fill(0);
        Ok(Value::object_at(index))
    }

    /// Makes a vector of `length` elements, all `fill`.
    ///
    /// # Errors
    /// [`HeapFull`].
    pub fn make_vector(&mut self, length: usize, fill: Value) -> Result<Value, HeapFull> {
        self.allocate_filled(Kind::Vector, length, fill)
    }

    /// Makes a bytevector with these bytes.
    ///
    /// # Errors
    /// [`HeapFull`].
    pub fn bytevector(&mut self, bytes: &[u8]) -> Result<Value, HeapFull> {
        self.make_raw(Kind::Bytevector, Flags::NONE, bytes)
    }

    /// Makes a list of these elements ending in `tail`; if the limit is reached, the pairs made so
    /// far are garbage.
    ///
    /// # Errors
    /// [`HeapFull`].
    pub fn list(&mut self, elements: &[Value], tail: Value) -> Result<Value, HeapFull> {
        elements
            .iter()
            .rev()
            .try_fold(tail, |rest, &element| self.cons(element, rest))
    }

    /// Makes a copy of the first `length` pairs of `list` that ends in `tail`.
    ///
    /// # Errors
    /// [`HeapFull`].
    pub(crate) fn copy_list(&mut self, list: Value, length: usize, tail: Value) -> Result<Value, HeapFull> {
        let start = self.bump(2 * length)?;
        // The last pair comes first, as if each were made of the next.
        let (mut from, mut index) = (list, start + 2 * length);
        while index > start {
            index -= 2;
            let pair = from.index();
            let next = if index == start {
                tail
            } else {
                Value::pair_at(index - 2)
            };
            (self.words[index], from) = (self.words[pair], Value::from_bits(self.words[pair + 1]));
            self.words[index + 1] = next.to_bits();
        }
        Ok(if length == 0 {
            tail
        } else {
            Value::pair_at(start + 2 * length - 2)
        })
    }

    /// Allocates an object and writes its header and padding; the caller writes the payload.
    #[inline(always)]
    fn allocate_header(
        &mut self,
        kind: Kind,
        flags: Flags,
        length: usize,
        payload_words: usize,
    ) -> Result<usize, HeapFull> {
        let Ok(header_length) = u32::try_from(length) else {
            return Err(HeapFull);
        };
        let words = padded(1 + payload_words);
        let index = self.bump(words)?;
        self.words[index + words - 1] = 0;
        self.words[index] = Header {
            kind,
            flags,
            length: header_length,
        }
        .to_value()
        .to_bits();
        Ok(index)
    }
}

/// The reference to an object of `kind` at `index`.
#[inline(always)]
pub(crate) const fn reference(kind: Kind, index: usize) -> Value {
    if kind.is_procedure() {
        Value::procedure_at(index)
    } else {
        Value::object_at(index)
    }
}
