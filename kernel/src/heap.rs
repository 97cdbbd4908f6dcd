//! The heap of one instance.
//!
//! Owns the words, the limits and the decision when a collection is due. The index of a word is the
//! address of an object. Old space is `[0, line)`; everything between `line` and `top` is young. An
//! abort of the open turn restores the words below `undo_limit`, which is the top at the turn's
//! beginning. One write barrier serves undo, minor collections, savepoints and snapshots; see
//! `heap/pages.rs`.
//! INVARIANT: the same operations give the same words; nothing depends on addresses, time or hash
//! seeds.
//! It does not run Scheme and never collects on its own: allocation only reports that a collection
//! is due.
//! Read next: `heap/kind.rs`, `heap/allocate.rs`, `heap/undo.rs`, `heap/savepoint.rs`,
//! `heap/collect.rs`, `heap/compact.rs`, `heap/frames.rs`.

mod access;
mod allocate;
mod charge;
mod old_words;
mod closures;
mod collect;
mod copier;
mod dictionary;
mod equality;
mod collection_budget;
mod frames;
mod hash;
pub mod kind;
pub(crate) mod rate;
mod literal;
mod major;
mod marks;
mod savepoint;
mod numeral;
mod pace;
mod pages;
mod identity;
mod record;
mod register;
mod replacement;
mod compact;
mod last_snapshot;
mod string;
mod stress;
mod symbol;
#[cfg(test)]
mod tests;
mod undo;

pub use compact::Template;
pub use dictionary::TableEntry;
pub use frames::{AllLive, LiveRegisters};
pub(crate) use frames::{clear_dead, clear_dead_frames, clear_dead_words};
pub use kind::{Flags, Header, Kind};
pub(crate) use last_snapshot::{FullSnapshot, LastSnapshot};
pub(crate) use marks::{Mark, Marks};
pub(crate) use pages::{PAGE_NOTED, PAGE_WORDS};
pub use register::{Register, RootId};

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::number::limbs::Scratch;
use crate::value::Value;
use charge::Charge;
pub(crate) use charge::{ITEMS_BETWEEN_LOOKS, Spent, Steps};
use collection_budget::CollectionBudget;
use compact::{Compacted, Shared};
use identity::Moves;
use kind::padded;
use pace::Pace;
use pages::Pages;
use savepoint::Savepoints;
use undo::{SavedPages, Turn};

/// Bounds that an instance may not exceed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The maximum size of the objects in bytes, uncollected garbage included. The process holds up
    /// to twice as much while a collection runs, while a turn that ran a major collection is open,
    /// and between the collections of a busy heap, there at most 32 megabytes more. After memory
    /// ran out in a turn, the rest of that turn may take up to two further megabytes, because
    /// handlers need memory too.
    pub bytes_max: usize,
}

impl Limits {
    /// Returns the maximum number of words.
    pub fn words_max(self) -> usize {
        (self.bytes_max / 8).min(WORDS_MAX) & !1
    }
}

/// An allocation would exceed the hard limit: collect with [`Heap::collect_major`] and try again,
/// or fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeapFull;

impl std::fmt::Display for HeapFull {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("the instance's memory limit is reached")
    }
}

impl std::error::Error for HeapFull {}

/// Counts of what a heap holds and has done.
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
    /// Allocation below this index takes the fast path: the lesser of the length of `words` and the
    /// nursery's end.
    limit: usize,
    /// Allocation beyond this index makes a collection due.
    nursery_end: usize,
    collection_due: bool,
    words_max: usize,
    /// Whether the host allocates, which cannot collect first.
    is_lenient: bool,
    /// Whether the console's output ports pass on each write at once.
    is_console_prompt: bool,
    /// Words beyond the limit that the open turn may use.
    words_lent: usize,
    line: usize,
    /// Writes below this index pass the barrier: the maximum of the line, the undo limit and the
    /// limit of the newest savepoint.
    barrier_limit: usize,
    /// An abort of the open turn restores words below this index, page by page.
    undo_limit: usize,
    /// The words of old space after the last major collection.
    words_live: usize,
    pages: Pages,
    pace: Pace,
    /// The room for the survivors of minor collections; reused because fresh memory costs more than
    /// the copying.
    survivors: Vec<u64>,
    /// Memory of the arithmetic of long integers.
    scratch: Scratch,
    saved: SavedPages,
    registers: [Value; Register::COUNT],
    turn: Option<Box<Turn>>,
    /// The newest snapshot of it in the store.
    last_snapshot: Option<Box<LastSnapshot>>,
    /// Whether the store ever had a snapshot of it.
    had_snapshot: bool,
    savepoints: Savepoints,
    /// The template it began with, while its words still begin with the template's.
    shared: Shared,
    /// The words, while it is compacted; `words` is empty then.
    compacted: Compacted,
    collection_budget: CollectionBudget,
    moves: Moves,
    statistics: Statistics,
    /// Whether it collects as often as it can; see `heap/stress.rs`.
    is_stressed: bool,
    charge: Charge,
    /// Set while a person wants the computation to stop.
    stop: Option<Arc<AtomicBool>>,
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
/// The collector stores half an index in 32 bits.
const WORDS_MAX: usize = 1 << 32;

/// Words beyond the limit that a turn may use each time that its memory runs out, and the maximum
/// of all of these together; both besides the words of its stack.
const WORDS_LENT_AT_ONCE: usize = 8 * 1024;
const WORDS_LENT_MAX: usize = 32 * WORDS_LENT_AT_ONCE;

/// The maximum of words in a lenient heap whose limit is `words_max`.
pub(crate) fn lenient(words_max: usize) -> usize {
    words_max.saturating_mul(2).saturating_add(1 << 20)
}

impl Heap {
    /// An empty heap of a few KiB.
    pub fn new(limits: Limits) -> Heap {
        let words_max = limits.words_max();
        let mut heap = Heap {
            words: vec![0; WORDS_INITIAL.min(words_max)],
            top: 0,
            limit: 0,
            nursery_end: 0,
            collection_due: false,
            words_max,
            is_lenient: false,
            is_console_prompt: false,
            words_lent: 0,
            line: 0,
            barrier_limit: 0,
            undo_limit: 0,
            words_live: 0,
            pages: Pages::default(),
            pace: Pace::default(),
            survivors: Vec::new(),
            scratch: Scratch::default(),
            saved: SavedPages::default(),
            registers: Register::INITIAL,
            turn: None,
            last_snapshot: None,
            had_snapshot: false,
            savepoints: Savepoints::default(),
            shared: Shared::default(),
            compacted: Compacted::default(),
            collection_budget: CollectionBudget::new(words_max),
            moves: Moves::default(),
            statistics: Statistics::default(),
            is_stressed: false,
            charge: Charge::default(),
            stop: None,
        };
        heap.start_nursery(0);
        heap
    }

    /// Returns the counts.
    pub fn statistics(&self) -> Statistics {
        Statistics {
            words_used: self.top,
            words_old: self.line,
            words_live: self.words_live,
            pages_saved: self.saved.pages_saved(),
            ..self.statistics
        }
    }

    /// Returns the bytes that the process holds for the heap besides those in use: free room, and
    /// copies that a collection or the open turn keeps.
    pub fn bytes_spare(&self) -> usize {
        let replaced = self.turn.as_ref().and_then(|turn| turn.replaced.as_ref());
        let copies = self.survivors.capacity() + replaced.map_or(0, |replaced| replaced.words.capacity());
        8 * (self.words.capacity().saturating_sub(self.top) + copies)
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

    /// Changes the hard limit; objects that exceed it stay.
    pub fn set_limits(&mut self, limits: Limits) {
        self.words_max = limits.words_max();
    }

    /// Makes the console's output ports pass on each write at once, so that a host that refuses it
    /// refuses it there, or buffer it.
    pub fn set_console_prompt(&mut self, is_prompt: bool) {
        self.is_console_prompt = is_prompt;
    }

    /// Returns whether the console's output ports pass on each write at once.
    pub(crate) fn is_console_prompt(&self) -> bool {
        self.is_console_prompt
    }

    /// Makes the limit lenient or strict. The host allocates without collecting first, so garbage
    /// counts against it; whether it exceeded a strict limit would depend on the time of the last
    /// snapshot. The machine is strict, because it collects before it fails.
    pub fn set_lenient(&mut self, is_lenient: bool) {
        self.is_lenient = is_lenient;
        self.limit = self.limit_now();
    }

    /// Lets primitives that take long fail while `flag` is set, as if memory had run out. Whoever
    /// sets the flag discards what the computation does afterwards. Without a flag they never fail
    /// so.
    pub fn stop_on(&mut self, flag: Option<Arc<AtomicBool>>) {
        self.stop = flag;
    }

    /// The flag, for work that does not know the heap.
    pub(crate) fn stop_flag(&self) -> Option<&AtomicBool> {
        self.stop.as_deref()
    }

    /// Whether the computation should stop.
    pub(crate) fn is_stop_wanted(&self) -> bool {
        self.stop.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    /// Runs a step that may exceed the limit.
    pub(crate) fn leniently<T>(&mut self, step: impl FnOnce(&mut Heap) -> T) -> T {
        let was_lenient = std::mem::replace(&mut self.is_lenient, true);
        let outcome = step(self);
        self.set_lenient(was_lenient);
        outcome
    }

    /// Lends the rest of the turn some words beyond the limit after memory ran out, because its
    /// handlers need some, first of all to capture the `words_stacked` words of the stack. The loan
    /// does not depend on garbage, so a turn has the same outcome whenever the heap was collected.
    pub(crate) fn lend_words(&mut self, words_stacked: usize) {
        self.words_lent = (self.words_lent + WORDS_LENT_AT_ONCE).min(WORDS_LENT_MAX) + words_stacked;
        self.limit = self.limit_now();
    }

    /// The maximum of words at present. The tables of globals and literals do not count, because
    /// their lengths depend on other units that are loaded.
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

    /// The end of the words that the fast path may allocate.
    fn limit_now(&self) -> usize {
        let end = if self.collection_due && !self.is_stressed {
            self.words.len()
        } else {
            self.words.len().min(self.nursery_end)
        };
        // At least `words_max` words are always allowed, so `words_allowed` need not be computed.
        if end <= self.words_max {
            end
        } else {
            end.min(self.words_allowed())
        }
    }

    /// The words, for unchecked access by the machine. The pointer comes from the vector, not from
    /// a slice, so it stays valid while others write to the words, until they move.
    #[inline(always)]
    pub(crate) fn words_pointer(&mut self) -> *mut u64 {
        self.words.as_mut_ptr()
    }

    /// The number of words behind [`Heap::words_pointer`].
    #[cfg(debug_assertions)]
    pub(crate) fn words_count(&self) -> usize {
        self.words.len()
    }

    /// The number of words that the nursery may grow by before a collection is due.
    fn nursery_goal(&self) -> usize {
        if self.is_stressed {
            return self.stressed_goal();
        }
        self.pace.nursery_words(self.line)
    }

    /// Puts off all collections until the limit is reached.
    pub(crate) fn put_off_collections(&mut self) {
        self.nursery_end = WORDS_MAX;
        self.collection_due = false;
        self.limit = self.limit_now();
    }

    /// Places the nursery's end one goal beyond `start`.
    fn start_nursery(&mut self, start: usize) {
        self.nursery_end = start + self.nursery_goal();
        self.collection_due = self.top > self.nursery_end || self.is_stressed;
        self.limit = self.limit_now();
    }
}
