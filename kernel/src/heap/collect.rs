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
use super::{Heap, Register};
use crate::value::Value;

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

    /// Whether old space has grown enough since the last major collection.
    pub fn is_major_due(&self) -> bool {
        self.line >= self.pace.major_words(self.words_live)
    }

    /// Collects the young objects; see [`Heap::collect`].
    pub fn collect_minor(&mut self, roots: &mut [&mut [Value]], live: &dyn LiveRegisters) {
        self.expand();
        let remembered = self.pages.take_remembered();
        self.evacuate(self.line.max(self.undo_limit), remembered, roots, live);
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
        let (survivors, length) = copier.into_room();
        self.note_minor(self.top - from, length);
        // Words that are promoted in place may share their first page with old ones.
        self.pages.mark_changed(self.line.min(from));
        self.top = from + length;
        self.words[from..self.top].copy_from_slice(&survivors[..length]);
        self.line = self.top;
        if survivors.capacity() <= self.survivors_max() {
            self.survivors = survivors;
        }
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
