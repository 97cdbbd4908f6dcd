//! The old words for a snapshot, and a heap made of such words.
//!
//! INVARIANT: a heap made by [`Heap::from_words`] behaves like the one that the words come from.
//! It does not encode anything.
//! Read next: `heap/last_snapshot.rs`, `image/snapshot.rs`.

use super::pace::Pace;
use super::register::Register;
use super::{Heap, HeapFull, Limits};
use crate::value::Value;

impl Heap {
    /// Whether everything is old and no turn is open.
    pub(crate) fn is_settled(&self) -> bool {
        self.top == self.line && self.turn.is_none() && !self.is_compacted()
    }

    /// The words of old space.
    pub(crate) fn old_words(&self) -> &[u64] {
        &self.words[..self.line]
    }

    /// The start of the object that the word at `index`, the first of a page, belongs to.
    pub(crate) fn object_covering(&mut self, index: usize) -> usize {
        self.pages.cover_word(&self.words, index, self.line)
    }

    /// Words reachable after the last major collection.
    pub(crate) fn words_live(&self) -> usize {
        self.words_live
    }

    /// The capacity at which the first allocation beyond `line` old words does not move them.
    pub(crate) fn room_for(line: usize) -> usize {
        let goal = Pace::default().nursery_words(line);
        line + goal + goal / 2
    }

    /// A heap whose old space is `words`, all of them well-formed objects.
    ///
    /// # Errors
    /// [`HeapFull`] if the words exceed `limits`.
    pub(crate) fn from_words(
        limits: Limits,
        words: Vec<u64>,
        registers: [Value; Register::COUNT],
        words_live: usize,
    ) -> Result<Heap, HeapFull> {
        let mut heap = Heap::new(limits);
        // The words may be more than the limit: lenient allocation went beyond it.
        heap.set_lenient(true);
        if words.len() > heap.words_allowed() {
            return Err(HeapFull);
        }
        heap.top = words.len();
        heap.line = words.len();
        heap.barrier_limit = words.len();
        // The heap's own part counts as collected, as it was when the snapshot was taken.
        heap.forget_template(words.len());
        heap.words = words;
        heap.registers = registers;
        heap.words_live = words_live;
        heap.pages.resize(heap.line);
        heap.set_lenient(false);
        heap.start_nursery(heap.line);
        Ok(heap)
    }

    /// Whether the registers that the heap itself uses hold what it expects.
    pub(crate) fn has_sound_registers(&self) -> bool {
        let count = |register: Register| self.register(register).as_fixnum().filter(|&count| count >= 0);
        let roots = self.register(Register::HostRoots);
        let is_table = |register: Register| {
            let table = self.register(register);
            table == crate::value::Value::FALSE || self.is_kind(table, super::Kind::Vector)
        };
        let has_roots = !roots.is_true() || self.is_kind(roots, super::Kind::Vector);
        has_roots
            && is_table(Register::Globals)
            && is_table(Register::Constants)
            && count(Register::UnitCount).is_some()
            && count(Register::HostRootsHint).is_some_and(|hint| hint as usize <= self.roots_length())
            && count(Register::RecordTypeSerial).is_some()
            && count(Register::IdentityHash).is_some()
            && self.is_sound_symbol_table(self.register(Register::Symbols))
    }
}
