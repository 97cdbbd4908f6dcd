//! Major collection: copies everything reachable to new words.
//!
//! Owns the replacement of the heap's words. Where an abort of the open turn, or a savepoint, needs
//! the old words, the forwarding places stand beside the heap; otherwise they stand in the old
//! objects, so that a collection needs little more memory than the copy.
//! INVARIANT: afterwards all words are old and reachable; symbols that nothing uses are gone.
//! It does not decide when to run.
//! Read next: `heap/undo.rs`.

use super::Heap;
use super::copier::Copier;
use super::frames::LiveRegisters;
use super::register::Register;
use super::symbol::swept_table;
use super::undo::{Replaced, SavedPages};
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
        let room = self.take_room_for_copy();
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
        let (copied, length) = copier.into_room();
        self.adopt(copied, length);
        self.moves.all += 1;
    }

    /// Makes the first `top` of the `copied` words the heap's; the open turn or the newest
    /// savepoint keeps the old words if it needs them.
    fn adopt(&mut self, copied: Vec<u64>, top: usize) {
        let mut words = std::mem::replace(&mut self.words, copied);
        self.note_major();
        self.fit_words(top);
        let pages = std::mem::take(&mut self.pages);
        let continuing = SavedPages::continuing(&self.saved);
        let saved = std::mem::replace(&mut self.saved, continuing);
        match &mut self.turn {
            None => self.savepoints.keep_replaced(words),
            Some(turn) if turn.replaced.is_some() => self.recycle(words),
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
