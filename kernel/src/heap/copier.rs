//! Copying: a collection moves the objects that it keeps, and all that these refer to, to new
//! words.
//!
//! Owns the copy, the forwarding places and the scan that updates references (Cheney's algorithm).
//! INVARIANT: each object is copied once; after [`Copier::scan`] no reference in the copy leads to
//! words at `from` or above that were not copied.
//! It does not know the roots; `heap/collect.rs` and `heap/major.rs` do.
//! Read next: `heap/frames.rs`.

use super::frames::{LiveRegisters, Segments, belongs_to_stack, is_link};
use super::kind::{extent, forward, forwarded_to, is_raw_header, link, padded, payload_words};
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
    /// The copy, and behind it words that mean nothing: appending word by word to a vector would
    /// look at its capacity each time.
    room: Vec<u64>,
    /// The number of words that are copied.
    length: usize,
    segments: Segments,
}

/// The room grows in steps of this many words at least.
const STEP_WORDS_MIN: usize = 512;
/// An eighth of a megabyte: the room grows in steps of this many words at most, which stay in a
/// core's cache between their zeroing and their use.
const STEP_WORDS_MAX: usize = 16 * 1024;

impl<'a> Copier<'a> {
    /// Copies the objects at `from` and above to `room`, whose words mean nothing, and leaves the
    /// words below `kept` as they are.
    pub(super) fn new(words: &'a mut [u64], from: usize, kept: usize, room: Vec<u64>) -> Copier<'a> {
        Copier {
            words,
            from,
            forwarded: vec![0; kept / 2],
            room,
            length: 0,
            segments: Segments::default(),
        }
    }

    /// The room, and how many of its words are the copy.
    pub(super) fn into_room(self) -> (Vec<u64>, usize) {
        (self.room, self.length)
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

    #[inline(always)]
    fn copy(&mut self, value: Value) -> Value {
        if let Some(target) = self.copy_of(value) {
            return target;
        }
        let index = value.index();
        let target = self.from + self.length;
        if value.is_pair() {
            self.append::<2>(index);
        } else {
            self.append_object(index);
        }
        match self.forwarded.get_mut(index / 2) {
            Some(place) => *place = (target / 2) as u32 + 1,
            None => self.words[index] = forward(target).to_bits(),
        }
        value.moved_to(target)
    }

    /// Appends the object whose header is at `index`.
    #[inline(never)]
    fn append_object(&mut self, index: usize) {
        // A copy of so few words takes less time than a call that copies any number.
        match extent(Value::from_bits(self.words[index])) {
            2 => self.append::<2>(index),
            4 => self.append::<4>(index),
            6 => self.append::<6>(index),
            8 => self.append::<8>(index),
            words => {
                let start = self.extend(words);
                self.room[start..start + words].copy_from_slice(&self.words[index..index + words]);
            }
        }
    }

    /// Appends `WORDS` words from `index` on.
    #[inline(always)]
    fn append<const WORDS: usize>(&mut self, index: usize) {
        let start = self.extend(WORDS);
        self.room[start..start + WORDS].copy_from_slice(&self.words[index..index + WORDS]);
    }

    /// Makes the copy `words` words longer and returns where they begin.
    #[inline(always)]
    fn extend(&mut self, words: usize) -> usize {
        let start = self.length;
        self.length = start + words;
        if self.length > self.room.len() {
            self.enlarge_room();
        }
        start
    }

    #[cold]
    #[inline(never)]
    fn enlarge_room(&mut self) {
        let step = self.room.len().clamp(STEP_WORDS_MIN, STEP_WORDS_MAX);
        let useful = self.words.len() - self.from;
        let length = self.length.max((self.room.len() + step).min(useful));
        self.room.resize(length, 0);
    }

    /// Appends words that are no copy of an object, and returns where they begin.
    pub(super) fn append_made(&mut self, words: &[u64]) -> usize {
        let start = self.extend(words.len());
        self.room[start..self.length].copy_from_slice(words);
        start
    }

    /// The reference to the copy of an object, if there is one.
    pub(super) fn copy_of(&self, reference: Value) -> Option<Value> {
        let target = match self.forwarded.get(reference.index() / 2) {
            Some(place) => place.checked_sub(1)? as usize * 2,
            None => forwarded_to(Value::from_bits(self.words[reference.index()]))?,
        };
        Some(reference.moved_to(target))
    }

    /// Updates references outside the heap.
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
                let places = index.max(start)..next.min(end);
                // Where two pages share a link, the one with its segment has the care of it.
                let is_link = first_word.is_immediate(Immediate::Header) && is_link(first_word);
                if is_link && places.contains(&(index + 1 + link::FRAMES)) {
                    let [frames, limit] = [link::FRAMES, link::LIMIT].map(|field| self.words[index + 1 + field]);
                    self.scan_segment(Value::from_bits(frames), Value::from_bits(limit), live);
                }
                for place in places {
                    self.words[place] = self.forward(Value::from_bits(self.words[place])).to_bits();
                }
            }
            index = next;
        }
    }

    /// Updates the references in the copy, which copies the objects that only they lead to.
    pub(super) fn scan(&mut self, live: &dyn LiveRegisters) {
        let mut index = 0;
        while index < self.length {
            let first_word = Value::from_bits(self.room[index]);
            if !first_word.is_immediate(Immediate::Header) {
                self.update(index);
                self.update(index + 1);
                index += 2;
                continue;
            }
            if is_raw_header(first_word) {
                index += extent(first_word);
                continue;
            }
            if belongs_to_stack(first_word) {
                if self.segments.is_segment(&self.room, index) {
                    index += extent(first_word);
                    continue;
                }
                // The return points of a condition's backtrace are frames too, and need no care.
                if is_link(first_word) {
                    let [frames, limit] = [link::FRAMES, link::LIMIT].map(|field| self.room[index + 1 + field]);
                    self.scan_segment(Value::from_bits(frames), Value::from_bits(limit), live);
                }
            }
            let next = index + 1 + payload_words(first_word);
            for place in index + 1..next {
                self.update(place);
            }
            index = padded(next);
        }
        std::mem::take(&mut self.segments).finish(&mut self.room);
    }

    /// Updates the word of the copy at `place`.
    #[inline(always)]
    fn update(&mut self, place: usize) {
        let word = Value::from_bits(self.room[place]);
        if word.is_reference() && word.index() >= self.from {
            self.room[place] = self.copy(word).to_bits();
        }
    }

    /// Updates the words of a link's segment that count for the link, if the segment moves.
    fn scan_segment(&mut self, frames: Value, limit: Value, live: &dyn LiveRegisters) {
        let limit = limit.as_fixnum().unwrap_or(0) as usize;
        let frames = self.forward(frames);
        if !frames.is_reference() || frames.index() < self.from {
            return;
        }
        let index = frames.index() - self.from;
        for place in self.segments.claim(&mut self.room, index, limit, live) {
            self.update(place);
        }
    }
}
