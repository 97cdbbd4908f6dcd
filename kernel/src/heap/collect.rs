//! Minor collection: what is young and reachable moves to the end of old space; the choice between minor and major.
//!
//! Between turns everything above the line is young. Within a turn, what was young when the turn began is promoted where it stands,
//! because an abort must find it there; only what the turn allocated moves.
//! INVARIANT: afterwards nothing is young, and no word below the line refers above it.
//! It does not free old objects; `heap/major.rs` does. Read next: `heap/major.rs`.

use super::Heap;
use super::frames::{LiveRegisters, Segments, belongs_to_stack, is_link};
use super::kind::{extent, forward, forwarded_to, is_raw_header, link, payload_words};
use super::pages::PAGE_WORDS;
use super::{MAJOR_WORDS_MIN, Register};
use crate::value::{Immediate, Value};

/// Words of room for survivors that are kept from one collection to the next in any case, because fresh memory costs more than copying; and which part of
/// old space they may be in a larger heap, which does without while everything is collected, when most memory is needed.
pub(super) const SURVIVORS_KEPT: usize = 64 * 1024;
const SURVIVORS_KEPT_PART: usize = 8;

/// Copies objects at `from` and above out of the heap's words; their places afterwards begin at `from`.
struct Evacuation<'a> {
    words: &'a mut [u64],
    from: usize,
    survivors: Vec<u64>,
}

impl Evacuation<'_> {
    #[inline(always)]
    fn forward(&mut self, value: Value) -> Value {
        if value.is_reference() && value.index() >= self.from {
            self.evacuate(value)
        } else {
            value
        }
    }

    fn evacuate(&mut self, value: Value) -> Value {
        let index = value.index();
        let first_word = Value::from_bits(self.words[index]);
        if let Some(target) = forwarded_to(first_word) {
            return value.moved_to(target);
        }
        let target = self.from + self.survivors.len();
        self.survivors
            .extend_from_slice(&self.words[index..index + extent(first_word)]);
        self.words[index] = forward(target).to_bits();
        value.moved_to(target)
    }

    fn forward_all(&mut self, values: &mut [Value]) {
        for value in values {
            *value = self.forward(*value);
        }
    }

    /// Updates the words of `page` below `from`, where `cover` is the object its first word belongs to.
    fn scan_page(&mut self, page: u32, cover: usize) {
        let start = page as usize * PAGE_WORDS;
        let end = (start + PAGE_WORDS).min(self.from);
        let mut index = cover;
        while index < end {
            let first_word = Value::from_bits(self.words[index]);
            let next = index + extent(first_word);
            let is_raw = first_word.is_immediate(Immediate::Header) && is_raw_header(first_word);
            if !is_raw {
                for place in index.max(start)..next.min(end) {
                    self.words[place] = self.forward(Value::from_bits(self.words[place])).to_bits();
                }
            }
            index = next;
        }
    }

    /// Updates the survivors, which brings along what only they refer to.
    fn scan_survivors(&mut self, live: &dyn LiveRegisters) {
        let mut segments = Segments::default();
        let mut index = 0;
        while index < self.survivors.len() {
            let first_word = Value::from_bits(self.survivors[index]);
            let (start, next) = if !first_word.is_immediate(Immediate::Header) {
                (index, index + 2)
            } else if is_raw_header(first_word) {
                index += extent(first_word);
                continue;
            } else {
                let next = index + 1 + payload_words(first_word);
                if belongs_to_stack(first_word) {
                    if segments.is_segment(&self.survivors, index) {
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
                let word = Value::from_bits(self.survivors[place]);
                if word.is_reference() && word.index() >= self.from {
                    self.survivors[place] = self.evacuate(word).to_bits();
                }
            }
            index = (next + 1) & !1;
        }
        segments.finish(&mut self.survivors);
    }

    /// Updates the words that count for the link at `index` of the survivors, if its segment is young too.
    fn scan_segment(&mut self, index: usize, segments: &mut Segments, live: &dyn LiveRegisters) {
        let field = |survivors: &[u64], field: usize| Value::from_bits(survivors[index + 1 + field]);
        let frames = field(&self.survivors, link::FRAMES);
        let limit = field(&self.survivors, link::LIMIT).as_fixnum().unwrap_or(0) as usize;
        let frames = self.forward(frames);
        if !frames.is_reference() || frames.index() < self.from {
            return;
        }
        for place in segments.claim(&mut self.survivors, frames.index() - self.from, limit, live) {
            self.survivors[place] = self.forward(Value::from_bits(self.survivors[place])).to_bits();
        }
    }
}

impl Heap {
    /// Collects as much as is due: the young, or everything when old space has grown enough since everything was last collected.
    ///
    /// `roots` are the words that Rust code holds, of whatever class; references among them are updated in place. `live` tells what captured frames keep alive.
    pub fn collect(&mut self, roots: &mut [&mut [Value]], live: &dyn LiveRegisters) {
        if self.is_major_due() {
            self.collect_major(roots, live);
        } else {
            self.collect_minor(roots, live);
        }
    }

    /// Whether old space has grown by four fifths since the last major collection: with what is young and the copy, that is three times what lives.
    pub fn is_major_due(&self) -> bool {
        self.line >= Heap::major_goal(self.words_live)
    }

    /// How much old space makes a major collection due after one that left so many words.
    pub(super) fn major_goal(words_live: usize) -> usize {
        MAJOR_WORDS_MIN.max(words_live / 5 * 9)
    }

    /// Collects the young objects; see [`Heap::collect`].
    pub fn collect_minor(&mut self, roots: &mut [&mut [Value]], live: &dyn LiveRegisters) {
        self.wake();
        let remembered = self.pages.take_remembered();
        self.evacuate(self.line.max(self.undo_limit), remembered, roots, live);
        self.statistics.collections_minor += 1;
        self.moves.young += 1;
    }

    /// Collects, between turns, everything from the word at `from` on; `referring` are the pages before it that may refer there, in ascending order.
    pub(super) fn collect_beyond(&mut self, from: usize, referring: &[u32], live: &dyn LiveRegisters) {
        // The remembered ones among them are listed already: all that refers to the young does.
        self.pages.take_remembered();
        for &page in referring {
            self.pages.mark_changed(page as usize * PAGE_WORDS);
        }
        self.evacuate(from, referring.to_vec(), &mut [], live);
        self.statistics.collections_minor += 1;
        self.moves.all += 1;
    }

    fn evacuate(&mut self, from: usize, remembered: Vec<u32>, roots: &mut [&mut [Value]], live: &dyn LiveRegisters) {
        if self.turn.is_none() {
            self.marks.keep_moved(from, &remembered, &self.words);
        }
        self.keep_stored_below(from);
        // Their references may change, though nobody writes to them.
        for &page in &remembered {
            self.pages.mark_changed(page as usize * PAGE_WORDS);
        }
        let spare = self.spare.get_or_insert_default();
        let survivors = std::mem::take(&mut spare.survivors);
        let mut evacuation = Evacuation {
            words: &mut self.words[..self.top],
            from,
            survivors,
        };
        for values in roots.iter_mut() {
            evacuation.forward_all(values);
        }
        evacuation.forward_all(&mut self.registers);
        for &page in &remembered {
            if (page as usize) * PAGE_WORDS < from {
                let cover = self.pages.cover(evacuation.words, page as usize, from);
                evacuation.scan_page(page, cover);
            }
        }
        evacuation.scan_survivors(live);
        let mut survivors = evacuation.survivors;
        // Words promoted where they stand may share their first page with old ones.
        self.pages.mark_changed(self.line.min(from));
        self.top = from + survivors.len();
        self.words[from..self.top].copy_from_slice(&survivors);
        if survivors.capacity() <= SURVIVORS_KEPT.max(from / SURVIVORS_KEPT_PART) {
            survivors.clear();
            spare.survivors = survivors;
        }
        self.line = self.top;
        self.barrier_limit = self.line;
        self.pages.rewrite_from(from);
        self.pages.resize(self.line);
        if let Some(turn) = &mut self.turn {
            turn.remembered.extend_from_slice(&remembered);
            turn.has_collected = true;
        }
        self.start_nursery(self.line);
    }

    /// The registers that a collection treats as roots; the symbol table keeps nothing alive.
    pub(super) fn is_strong(register: Register) -> bool {
        register != Register::Symbols
    }
}
