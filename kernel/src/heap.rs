//! The heap of one instance: its words, who may write them, and what the rest of the kernel may ask of it.
//!
//! Objects are addressed by word index. Old space is `[0, line)`, everything younger lies between `line` and `top`. Within a turn, words
//! below `mark` (the top at its beginning) are those an abort must put back. One write barrier below `max(mark, line)` serves undo,
//! minor collection and checkpoints alike; see `heap/pages.rs`.
//! INVARIANT: the same operations give the same words; nothing depends on addresses, time or hash seeds.
//! It does not run Scheme and never collects of its own accord: allocation only says that a collection is due.
//! Read next: `heap/kind.rs`, `heap/allocate.rs`, `heap/undo.rs`, `heap/mark.rs`, `heap/collect.rs`, `heap/rest.rs`, `heap/frames.rs`.

mod access;
mod allocate;
mod checkpoint;
mod collect;
mod dictionary;
mod equality;
mod forced;
mod frames;
mod hash;
pub mod kind;
mod literal;
mod major;
mod mark;
mod numeral;
mod pages;
mod placed;
mod record;
mod register;
mod rest;
mod spare;
mod stored;
mod string;
mod symbol;
#[cfg(test)]
mod tests;
mod undo;

pub use dictionary::TableEntry;
pub use frames::{AllLive, LiveRegisters};
pub(crate) use frames::{clear_dead, clear_dead_frames, clear_dead_words};
pub use kind::{Flags, Header, Kind};
pub(crate) use pages::PAGE_WORDS;
pub use register::{Register, RootId};
pub use rest::Template;
pub(crate) use stored::{Stored, Whole};

use crate::value::Value;
use forced::Account;
use kind::padded;
use mark::Marks;
use pages::Pages;
use placed::Moves;
use rest::{Rested, Shared};
use spare::Spare;
use undo::{SavedPages, Turn};

/// Bounds that an instance may not exceed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most bytes its objects may take, garbage that is not collected yet included. While a collection runs, and while a turn
    /// that ran a major collection is open, the process holds up to twice as much. In the rest of a turn in which memory ran out it may be
    /// up to two megabytes more, because whatever handles that needs some memory too. Spare room for the next collection, up to two megabytes, does not count.
    pub bytes_max: usize,
}

/// The hard limit would be crossed: collect with [`Heap::collect_major`] and try again, or fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeapFull;

impl std::fmt::Display for HeapFull {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("the instance's memory limit is reached")
    }
}

impl std::error::Error for HeapFull {}

/// What a heap has done and holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Statistics {
    /// Words in use, garbage included.
    pub words_used: usize,
    /// Words of old space.
    pub words_old: usize,
    /// Words that were reachable after the last major collection.
    pub words_live: usize,
    /// Minor collections so far.
    pub collections_minor: u64,
    /// Major collections so far.
    pub collections_major: u64,
    /// Pages saved for undo so far.
    pub pages_saved: u64,
}

/// The heap of one instance.
#[derive(Clone, Debug)]
pub struct Heap {
    words: Vec<u64>,
    /// The next free word; even.
    top: usize,
    /// Allocation below this index needs no thought: the least of the words at hand and the nursery's end.
    limit: usize,
    /// Allocation beyond this index makes a collection due.
    nursery_end: usize,
    collection_due: bool,
    words_max: usize,
    /// Whether the host allocates, which cannot collect first.
    is_lenient: bool,
    /// Words beyond the limit that the open turn may take.
    words_lent: usize,
    line: usize,
    /// Writes below this index go through the barrier: the greatest of the line, the open turn's mark and the limit of the newest mark.
    barrier_limit: usize,
    /// Words below this index are restored by page when the open turn aborts.
    undo_limit: usize,
    /// What old space held after the last major collection.
    words_live: usize,
    pages: Pages,
    /// Empty room for collections, while the heap is in use.
    spare: Option<Box<Spare>>,
    saved: SavedPages,
    registers: [Value; Register::COUNT],
    turn: Option<Box<Turn>>,
    /// What the store has of it.
    stored: Option<Box<Stored>>,
    /// Whether it was ever stored.
    was_stored: bool,
    marks: Marks,
    /// The template it began with, if it is still there.
    shared: Shared,
    /// The words, while it is at rest; nothing else is where it was then.
    rested: Rested,
    account: Account,
    moves: Moves,
    statistics: Statistics,
}

/// The header of a cell.
pub(crate) const CELL_HEADER: Value = kind::cell::HEADER;
/// The header of a vector, apart from its length.
pub(crate) const VECTOR_HEADER: Value = Header::new(Kind::Vector, 0).to_value();
/// The bits of a header that say its kind.
pub(crate) const KIND_MASK: u64 = 0xffff;
/// The bits of a header that say its kind and whether it may change.
pub(crate) const KIND_AND_MUTABILITY_MASK: u64 = 0x1_ffff;

const WORDS_INITIAL: usize = 512;
/// A quarter of a megabyte: the nursery and what it survives into stay within a core's second-level cache.
const NURSERY_WORDS_MIN: usize = 32 * 1024;
/// Four megabytes: a minor collection of which everything survives takes some milliseconds.
const NURSERY_WORDS_MAX: usize = 512 * 1024;
/// The first major collection waits for this much old space.
const MAJOR_WORDS_MIN: usize = 64 * 1024;
/// Indices are halved into 32 bits where objects are forwarded.
const WORDS_MAX: usize = 1 << 32;

/// Words beyond the limit that a turn may take for each time that its memory runs out, besides what is on its stack; and altogether.
const WORDS_LENT_AT_ONCE: usize = 8 * 1024;
const WORDS_LENT_MAX: usize = 32 * WORDS_LENT_AT_ONCE;

/// How many words a lenient heap may have whose limit is `words_max`.
pub(crate) fn lenient(words_max: usize) -> usize {
    words_max.saturating_mul(2).saturating_add(1 << 20)
}

impl Heap {
    /// An empty heap of a few KiB.
    pub fn new(limits: Limits) -> Heap {
        let words_max = (limits.bytes_max / 8).min(WORDS_MAX) & !1;
        let mut heap = Heap {
            words: vec![0; WORDS_INITIAL.min(words_max)],
            top: 0,
            limit: 0,
            nursery_end: 0,
            collection_due: false,
            words_max,
            is_lenient: false,
            words_lent: 0,
            line: 0,
            barrier_limit: 0,
            undo_limit: 0,
            words_live: 0,
            pages: Pages::default(),
            spare: None,
            saved: SavedPages::default(),
            registers: Register::INITIAL,
            turn: None,
            stored: None,
            was_stored: false,
            marks: Marks::default(),
            shared: Shared::default(),
            rested: Rested::default(),
            account: Account::new(words_max),
            moves: Moves::default(),
            statistics: Statistics::default(),
        };
        heap.start_nursery(0);
        heap
    }

    /// What the heap holds and has done.
    pub fn statistics(&self) -> Statistics {
        Statistics {
            words_used: self.top,
            words_old: self.line,
            words_live: self.words_live,
            pages_saved: self.saved.pages_saved(),
            ..self.statistics
        }
    }

    /// Whether the machine should collect at its next safepoint.
    #[inline(always)]
    pub fn is_collection_due(&self) -> bool {
        self.collection_due
    }

    /// Whether a turn is open.
    pub fn is_in_turn(&self) -> bool {
        self.turn.is_some()
    }

    /// The hard limit, in words.
    pub fn words_max(&self) -> usize {
        self.words_max
    }

    /// Changes the hard limit; what is already there stays.
    pub fn set_limits(&mut self, limits: Limits) {
        self.words_max = (limits.bytes_max / 8).min(WORDS_MAX) & !1;
    }

    /// Lets the limit be crossed, until it is strict again, by what does not collect before it allocates: whether that goes beyond the limit
    /// would depend on the garbage there is, and so on when the last snapshot was taken. The machine is strict, and judges by what lives.
    pub fn set_lenient(&mut self, is_lenient: bool) {
        self.is_lenient = is_lenient;
        self.limit = self.limit_now();
    }

    /// Does something that may go beyond the limit.
    pub(crate) fn leniently<T>(&mut self, step: impl FnOnce(&mut Heap) -> T) -> T {
        let was_lenient = std::mem::replace(&mut self.is_lenient, true);
        let outcome = step(self);
        self.set_lenient(was_lenient);
        outcome
    }

    /// Gives the rest of the turn some words beyond the limit: memory ran out, and what handles that needs some, for one thing to capture the `words_stacked`
    /// of the stack. They depend on nothing that garbage decides, so the turn comes out the same whenever the heap was collected.
    pub(crate) fn lend_words(&mut self, words_stacked: usize) {
        self.words_lent = (self.words_lent + WORDS_LENT_AT_ONCE + words_stacked).min(WORDS_LENT_MAX);
        self.limit = self.limit_now();
    }

    /// How many words there may be now. The tables of globals and literals do not count: their lengths depend on what else was loaded.
    pub(crate) fn words_allowed(&self) -> usize {
        let table_words = |register: Register| {
            let table = self.register(register);
            if self.is_kind(table, Kind::Vector) {
                padded(1 + self.object_length(table))
            } else {
                0
            }
        };
        let allowed = if self.is_lenient {
            lenient(self.words_max)
        } else {
            self.words_max + self.words_lent
        };
        let tables = table_words(Register::Globals) + table_words(Register::Constants);
        allowed.saturating_add(tables).min(WORDS_MAX)
    }

    /// Up to where words can be taken without any thought.
    fn limit_now(&self) -> usize {
        let end = if self.collection_due {
            self.words.len()
        } else {
            self.words.len().min(self.nursery_end)
        };
        // No fewer are ever allowed.
        if end <= self.words_max {
            end
        } else {
            end.min(self.words_allowed())
        }
    }

    /// The words, for unchecked access by the machine. The pointer is the vector's own and no slice's, so it stays good while others write to the words,
    /// until they move.
    #[inline(always)]
    pub(crate) fn words_pointer(&mut self) -> *mut u64 {
        self.words.as_mut_ptr()
    }

    /// How many words there are behind [`Heap::words_pointer`].
    #[cfg(debug_assertions)]
    pub(crate) fn words_count(&self) -> usize {
        self.words.len()
    }

    /// How many words may be allocated beyond `start` before a collection is due.
    fn nursery_goal(&self) -> usize {
        Heap::nursery_goal_beyond(self.line)
    }

    fn nursery_goal_beyond(line: usize) -> usize {
        (line / 4).clamp(NURSERY_WORDS_MIN, NURSERY_WORDS_MAX)
    }

    /// Lets the nursery end one goal beyond `start`.
    fn start_nursery(&mut self, start: usize) {
        self.nursery_end = start + self.nursery_goal();
        self.collection_due = self.top > self.nursery_end;
        self.limit = self.limit_now();
    }
}
