//! Minor collection, and the choice between minor and major.
//!
//! Owns the move of young reachable objects to the end of old space. Between turns everything above
//! the line is young. Within a turn, objects that were young at its beginning are promoted in
//! place, because an abort must find them there; only objects that the turn allocated move.
//! INVARIANT: afterwards nothing is young, and no word below the line refers to one above it.
//! It does not free old objects; `heap/major.rs` does.
//! Read next: `heap/copier.rs`, `heap/major.rs`.

use super::copier::Copier;
use super::frames::LiveRegisters;
use super::pages::PAGE_WORDS;
use super::{Heap, MAJOR_WORDS_MIN, Register};
use crate::value::Value;

/// Words of the survivors' buffer that are kept between collections, because fresh memory costs
/// more than copying; a larger heap keeps more of them, up to this part of old space, but not
/// during a major collection, when most memory is needed.
pub(super) const SURVIVORS_KEPT: usize = 64 * 1024;
const SURVIVORS_KEPT_PART: usize = 8;

impl Heap {
    /// Collects the young objects, or everything once old space has grown enough since the last
    /// major collection.
    ///
    /// `roots` are words in Rust variables; references among them are updated in place. `live`
    /// tells which registers captured frames read.
    pub fn collect(&mut self, roots: &mut [&mut [Value]], live: &dyn LiveRegisters) {
        let end = self.top;
        if self.is_major_due() || self.is_major_forced() {
            self.collect_major(roots, live);
        } else {
            self.collect_minor(roots, live);
        }
        self.poison_free(end);
    }

    /// Whether old space has grown by four fifths since the last major collection: with the young
    /// objects and the copy, the heap then takes three times the live words.
    pub fn is_major_due(&self) -> bool {
        self.line >= Heap::major_goal(self.words_live)
    }

    /// The size of old space that makes a major collection due after one that left `words_live`.
    pub(super) fn major_goal(words_live: usize) -> usize {
        MAJOR_WORDS_MIN.max(words_live / 5 * 9)
    }

    /// Collects the young objects; see [`Heap::collect`].
    pub fn collect_minor(&mut self, roots: &mut [&mut [Value]], live: &dyn LiveRegisters) {
        self.expand();
        let remembered = self.pages.take_remembered();
        self.evacuate(self.line.max(self.undo_limit), remembered, roots, live);
        self.statistics.collections_minor += 1;
        self.moves.young += 1;
    }

    /// Collects, between turns, the objects from the word at `from` on; `referring` are the pages
    /// before it that may refer to them, in ascending order.
    pub(super) fn collect_beyond(&mut self, from: usize, referring: &[u32], live: &dyn LiveRegisters) {
        // `referring` has the remembered pages among them, because only these refer to young
        // objects.
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
            self.savepoints.keep_moved(from, &remembered, &self.words);
        }
        self.keep_snapshot_below(from);
        // The collection may update their references, which is no write of the program.
        for &page in &remembered {
            self.pages.mark_changed(page as usize * PAGE_WORDS);
        }
        let room = std::mem::take(&mut self.survivors);
        let mut copier = Copier::new(&mut self.words[..self.top], from, 0, room);
        for values in roots.iter_mut() {
            copier.forward_all(values);
        }
        copier.forward_all(&mut self.registers);
        for &page in &remembered {
            if (page as usize) * PAGE_WORDS < from {
                let cover = self.pages.cover(copier.words, page as usize, from);
                copier.scan_page(page, cover, live);
            }
        }
        copier.scan(live);
        let mut survivors = copier.copied;
        // Words that are promoted in place may share their first page with old ones.
        self.pages.mark_changed(self.line.min(from));
        self.top = from + survivors.len();
        self.words[from..self.top].copy_from_slice(&survivors);
        if survivors.capacity() <= SURVIVORS_KEPT.max(from / SURVIVORS_KEPT_PART) {
            survivors.clear();
            self.survivors = survivors;
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

    /// Whether a register is a root of a collection; the symbol table keeps nothing alive.
    pub(super) fn is_strong(register: Register) -> bool {
        register != Register::Symbols
    }
}
