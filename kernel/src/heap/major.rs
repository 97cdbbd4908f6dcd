//! Major collection: copies everything reachable to new words.
//!
//! Owns the replacement of the heap's words. Where an abort of the open turn, or a savepoint, needs
//! the old words, the forwarding places stand beside the heap; otherwise they stand in the old
//! objects, so that a collection needs little more memory than the copy.
//! INVARIANT: afterwards all words are old and reachable; symbols that nothing uses are gone.
//! It does not decide when to run.
//! Read next: `heap/undo.rs`.

use super::collect::SURVIVORS_KEPT;
use super::copier::Copier;
use super::frames::LiveRegisters;
use super::register::Register;
use super::symbol::swept_table;
use super::undo::{Replaced, SavedPages};
use super::{Heap, WORDS_INITIAL};
use crate::value::Value;

impl Heap {
    /// Frees everything unreachable; see [`Heap::collect`].
    pub fn collect_major(&mut self, roots: &mut [&mut [Value]], live: &dyn LiveRegisters) {
        self.expand();
        let kept = match &self.turn {
            Some(turn) if turn.replaced.is_none() => self.undo_limit,
            Some(_) => 0,
            None => self.savepoints.words_kept_for(),
        };
        if self.survivors.capacity() > SURVIVORS_KEPT {
            self.survivors = Vec::new();
        }
        // Room that is not written takes no memory.
        let room = Vec::with_capacity(self.room_for_copy());
        let mut copier = Copier::new(&mut self.words[..self.top], 0, kept, room);
        for values in roots.iter_mut() {
            copier.forward_all(values);
        }
        for &register in Register::ALL {
            if Heap::is_strong(register) {
                let value = &mut self.registers[register as usize];
                *value = copier.forward(*value);
            }
        }
        copier.scan(live);
        let symbols = &mut self.registers[Register::Symbols as usize];
        *symbols = swept_table(&mut copier, *symbols);
        let copied = copier.copied;
        self.adopt(copied);
        self.statistics.collections_major += 1;
        self.moves.all += 1;
    }

    /// Makes `copied` the heap's words; the open turn or the newest savepoint keeps the old words
    /// if it needs them.
    fn adopt(&mut self, copied: Vec<u64>) {
        let top = copied.len();
        let mut words = std::mem::replace(&mut self.words, copied);
        self.words.shrink_to(self.room_kept_after_major(top));
        self.words
            .resize(top + WORDS_INITIAL.min(self.words_max.saturating_sub(top)), 0);
        let pages = std::mem::take(&mut self.pages);
        let continuing = SavedPages::continuing(&self.saved);
        let saved = std::mem::replace(&mut self.saved, continuing);
        match &mut self.turn {
            None => self.savepoints.keep_replaced(words),
            Some(turn) if turn.replaced.is_some() => {}
            Some(turn) => {
                turn.has_collected = true;
                words.truncate(self.undo_limit);
                words.shrink_to_fit();
                turn.replaced = Some(Replaced { words, pages, saved });
            }
        }
        self.forget_template(top);
        self.keep_snapshot_below(0);
        self.top = top;
        self.line = top;
        self.words_live = top;
        self.undo_limit = 0;
        self.barrier_limit = top;
        self.pages.resize(top);
        self.start_nursery(top);
    }
}
