//! Major collection: everything reachable is copied to new words; the rest, unused symbols included, is gone.
//!
//! Where an abort of the open turn, or going back to a mark, must find the old words, forwarding places are kept beside the heap; elsewhere in the old objects themselves, so that a collection
//! takes little more memory than the copy.
//! INVARIANT: afterwards all words are old and reachable.
//! It does not choose when to run. Read next: `heap/undo.rs`.

use super::collect::SURVIVORS_KEPT;
use super::frames::{LiveRegisters, Segments, belongs_to_stack, is_link};
use super::kind::{extent, forward, forwarded_to, is_raw_header, link, payload_words};
use super::register::Register;
use super::spare::SPARE_WORDS_MAX;
use super::symbol::swept_table;
use super::undo::{Replaced, SavedPages};
use super::{Heap, WORDS_INITIAL};
use crate::value::{Immediate, Value};

/// A copy of what is reachable in `words`, under construction.
pub(super) struct Copying<'a> {
    words: &'a mut [u64],
    /// For every second of the words that stay as they are, one more than half the index its object was copied to; 0 if it was not.
    forwarded: Vec<u32>,
    copied: Vec<u64>,
}

impl Copying<'_> {
    #[inline(always)]
    fn forward(&mut self, value: Value) -> Value {
        if value.is_reference() { self.copy(value) } else { value }
    }

    fn copy(&mut self, value: Value) -> Value {
        if let Some(target) = self.copy_of(value) {
            return target;
        }
        let index = value.index();
        let target = self.copied.len();
        let first_word = Value::from_bits(self.words[index]);
        if first_word.is_immediate(Immediate::Header) {
            self.copied
                .extend_from_slice(&self.words[index..index + extent(first_word)]);
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

    /// Where the object of a reference was copied to, if it was.
    pub(super) fn copy_of(&self, reference: Value) -> Option<Value> {
        let target = match self.forwarded.get(reference.index() / 2) {
            Some(place) => place.checked_sub(1)? as usize * 2,
            None => forwarded_to(Value::from_bits(self.words[reference.index()]))?,
        };
        Some(reference.moved_to(target))
    }

    /// The words being copied.
    pub(super) fn word(&self, index: usize) -> Value {
        Value::from_bits(self.words[index])
    }

    /// The copy, to which finished objects may be appended.
    pub(super) fn copied_mut(&mut self) -> &mut Vec<u64> {
        &mut self.copied
    }

    fn scan(&mut self, live: &dyn LiveRegisters) {
        let mut segments = Segments::default();
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
                    if segments.is_segment(&self.copied, index) {
                        index += extent(first_word);
                        continue;
                    }
                    // The return points of a condition's backtrace are frames too, and need no care.
                    if is_link(first_word) {
                        self.scan_segment(index, &mut segments, live);
                    }
                }
                (index + 1, next)
            };
            for place in start..next {
                let word = Value::from_bits(self.copied[place]);
                if word.is_reference() {
                    self.copied[place] = self.copy(word).to_bits();
                }
            }
            index = (next + 1) & !1;
        }
        segments.finish(&mut self.copied);
    }

    /// Updates the words that count for the link at `index` of the copy.
    fn scan_segment(&mut self, index: usize, segments: &mut Segments, live: &dyn LiveRegisters) {
        let field = |copied: &[u64], field: usize| Value::from_bits(copied[index + 1 + field]);
        let frames = field(&self.copied, link::FRAMES);
        let limit = field(&self.copied, link::LIMIT).as_fixnum().unwrap_or(0) as usize;
        let frames = self.forward(frames);
        if !frames.is_reference() {
            return;
        }
        for place in segments.claim(&mut self.copied, frames.index(), limit, live) {
            self.copied[place] = self.forward(Value::from_bits(self.copied[place])).to_bits();
        }
    }
}

impl Heap {
    /// Collects everything unreachable; see [`Heap::collect`].
    pub fn collect_major(&mut self, roots: &mut [&mut [Value]], live: &dyn LiveRegisters) {
        self.wake();
        let kept = match &self.turn {
            Some(turn) if turn.replaced.is_none() => self.undo_limit,
            Some(_) => 0,
            None => self.marks.words_needed(),
        };
        let room = self.room_for_copy();
        let spare = self.spare.get_or_insert_default();
        if spare.survivors.capacity() > SURVIVORS_KEPT {
            spare.survivors = Vec::new();
        }
        // Room that is not written takes no memory.
        let mut copying = Copying {
            words: &mut self.words[..self.top],
            forwarded: vec![0; kept / 2],
            copied: spare.take(room),
        };
        for value in roots.iter_mut().flat_map(|values| values.iter_mut()) {
            *value = copying.forward(*value);
        }
        for &register in Register::ALL {
            if Heap::is_strong(register) {
                let value = &mut self.registers[register as usize];
                *value = copying.forward(*value);
            }
        }
        copying.scan(live);
        let symbols = &mut self.registers[Register::Symbols as usize];
        *symbols = swept_table(&mut copying, *symbols);
        let copied = copying.copied;
        self.adopt(copied);
        self.statistics.collections_major += 1;
        self.moves.all += 1;
    }

    /// Makes `copied` the heap's words; within a turn, keeps the ones it replaces if they date from before.
    fn adopt(&mut self, copied: Vec<u64>) {
        let top = copied.len();
        let mut words = std::mem::replace(&mut self.words, copied);
        self.words.shrink_to(self.room_kept_after_major(top));
        self.words
            .resize(top + WORDS_INITIAL.min(self.words_max.saturating_sub(top)), 0);
        let pages = std::mem::take(&mut self.pages);
        let continuing = SavedPages::continuing(&self.saved);
        let saved = std::mem::replace(&mut self.saved, continuing);
        let spare = self.spare.get_or_insert_default();
        match &mut self.turn {
            None => self.marks.keep_replaced(words, spare),
            Some(turn) if turn.replaced.is_some() => spare.offer(words),
            Some(turn) => {
                turn.has_collected = true;
                words.truncate(self.undo_limit);
                if words.capacity() > SPARE_WORDS_MAX {
                    words.shrink_to_fit();
                }
                turn.replaced = Some(Replaced { words, pages, saved });
            }
        }
        self.forget_template(top);
        self.keep_stored_below(0);
        self.top = top;
        self.line = top;
        self.words_live = top;
        self.undo_limit = 0;
        self.barrier_limit = top;
        self.pages.resize(top);
        self.start_nursery(top);
    }
}
