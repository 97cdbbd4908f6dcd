//! Copying: a collection moves the objects that it keeps, and all that these refer to, to new
//! words.
//!
//! Owns the copy, the forwarding places and the scan that updates references (Cheney's algorithm).
//! INVARIANT: each object is copied once; after [`Copier::scan`] no reference in the copy leads to
//! words at `from` or above that were not copied.
//! It does not know the roots; `heap/collect.rs` and `heap/major.rs` do.
//! Read next: `heap/frames.rs`.

use super::frames::{LiveRegisters, Segments, belongs_to_stack, is_link};
use super::kind::{extent, forward, forwarded_to, is_raw_header, link, payload_words};
use super::pages::PAGE_WORDS;
use crate::value::{Immediate, Value};

/// A copy, under construction, of the objects of `words` at `from` and above; the copy begins at
/// `from` too.
pub(super) struct Copier<'a> {
    pub(super) words: &'a mut [u64],
    from: usize,
    /// For every second word that must stay as it is: one more than half the index of its object's
    /// copy, or 0. Objects behind these words hold their forwarding places themselves, which needs
    /// no memory.
    forwarded: Vec<u32>,
    pub(super) copied: Vec<u64>,
    segments: Segments,
}

impl<'a> Copier<'a> {
    /// Copies the objects at `from` and above to `room`, which is empty, and leaves the words below
    /// `kept` as they are.
    pub(super) fn new(words: &'a mut [u64], from: usize, kept: usize, room: Vec<u64>) -> Copier<'a> {
        Copier {
            words,
            from,
            forwarded: vec![0; kept / 2],
            copied: room,
            segments: Segments::default(),
        }
    }

    /// The value after the copying of its object, if it is a reference to one that moves.
    #[inline(always)]
    pub(super) fn forward(&mut self, value: Value) -> Value {
        if value.is_reference() && value.index() >= self.from {
            self.copy(value)
        } else {
            value
        }
    }

    fn copy(&mut self, value: Value) -> Value {
        if let Some(target) = self.copy_of(value) {
            return target;
        }
        let index = value.index();
        let target = self.from + self.copied.len();
        let first_word = Value::from_bits(self.words[index]);
        if first_word.is_immediate(Immediate::Header) {
            let object = &self.words[index..index + extent(first_word)];
            self.copied.extend_from_slice(object);
        } else {
            self.copied
                .extend_from_slice(&[first_word.to_bits(), self.words[index + 1]]);
        }
        match self.forwarded.get_mut(index / 2) {
            Some(place) => *place = (target / 2) as u32 + 1,
            None => self.words[index] = forward(target).to_bits(),
        }
        value.moved_to(target)
    }

    /// The reference to the copy of an object, if there is one.
    pub(super) fn copy_of(&self, reference: Value) -> Option<Value> {
        let target = match self.forwarded.get(reference.index() / 2) {
            Some(place) => place.checked_sub(1)? as usize * 2,
            None => forwarded_to(Value::from_bits(self.words[reference.index()]))?,
        };
        Some(reference.moved_to(target))
    }

    pub(super) fn forward_all(&mut self, values: &mut [Value]) {
        for value in values {
            *value = self.forward(*value);
        }
    }

    /// Updates the words of `page` below `from`, where `cover` is the object its first word belongs
    /// to. A link there may have received a segment that moves.
    pub(super) fn scan_page(&mut self, page: u32, cover: usize, live: &dyn LiveRegisters) {
        let start = page as usize * PAGE_WORDS;
        let end = (start + PAGE_WORDS).min(self.from);
        let mut index = cover;
        while index < end {
            let first_word = Value::from_bits(self.words[index]);
            let next = index + extent(first_word);
            let is_raw = first_word.is_immediate(Immediate::Header) && is_raw_header(first_word);
            if !is_raw {
                if first_word.is_immediate(Immediate::Header) && is_link(first_word) {
                    let [frames, limit] = [link::FRAMES, link::LIMIT].map(|field| self.words[index + 1 + field]);
                    self.scan_segment(Value::from_bits(frames), Value::from_bits(limit), live);
                }
                for place in index.max(start)..next.min(end) {
                    self.words[place] = self.forward(Value::from_bits(self.words[place])).to_bits();
                }
            }
            index = next;
        }
    }

    /// Updates the references in the copy, which copies the objects that only they lead to.
    pub(super) fn scan(&mut self, live: &dyn LiveRegisters) {
        let mut index = 0;
        while index < self.copied.len() {
            let first_word = Value::from_bits(self.copied[index]);
            let (start, next) = if !first_word.is_immediate(Immediate::Header) {
                (index, index + 2)
            } else if is_raw_header(first_word) {
                index += extent(first_word);
                continue;
            } else {
                let next = index + 1 + payload_words(first_word);
                if belongs_to_stack(first_word) {
                    if self.segments.is_segment(&self.copied, index) {
                        index += extent(first_word);
                        continue;
                    }
                    // The return points of a condition's backtrace are frames too, and need no
                    // care.
                    if is_link(first_word) {
                        let [frames, limit] = [link::FRAMES, link::LIMIT].map(|field| self.copied[index + 1 + field]);
                        self.scan_segment(Value::from_bits(frames), Value::from_bits(limit), live);
                    }
                }
                (index + 1, next)
            };
            for place in start..next {
                let word = Value::from_bits(self.copied[place]);
                if word.is_reference() && word.index() >= self.from {
                    self.copied[place] = self.copy(word).to_bits();
                }
            }
            index = (next + 1) & !1;
        }
        std::mem::take(&mut self.segments).finish(&mut self.copied);
    }

    /// Updates the words of a link's segment that count for the link, if the segment moves.
    fn scan_segment(&mut self, frames: Value, limit: Value, live: &dyn LiveRegisters) {
        let limit = limit.as_fixnum().unwrap_or(0) as usize;
        let frames = self.forward(frames);
        if !frames.is_reference() || frames.index() < self.from {
            return;
        }
        let index = frames.index() - self.from;
        for place in self.segments.claim(&mut self.copied, index, limit, live) {
            self.copied[place] = self.forward(Value::from_bits(self.copied[place])).to_bits();
        }
    }
}
