//! Which registers of the frame are also in registers of the processor.
//!
//! Owns the choice of processor registers in the run of instructions between two places where
//! control may come in. Every word is stored to the frame when it is computed, so forgetting a
//! copy needs no instruction.
//! INVARIANT: a bound processor register holds the word that the frame's register holds.
//! It emits nothing.
//! Read next: `machine/native/assembler.rs`.

/// The copies.
pub(super) struct Registers {
    /// The processor registers that may hold copies.
    pool: &'static [u8],
    /// Registers of the frame and the processor registers that hold their words.
    bindings: Vec<(usize, u8)>,
    /// Registers of the frame that are known to hold pairs.
    pairs: Vec<usize>,
    /// The processor registers that the present instruction uses, by bit.
    pinned: u16,
    /// The place in the pool after the one that was taken last.
    next: usize,
}

impl Registers {
    /// No copies, in a pool of processor registers.
    pub(super) fn new(pool: &'static [u8]) -> Registers {
        Registers {
            pool,
            bindings: Vec::new(),
            pairs: Vec::new(),
            pinned: 0,
            next: 0,
        }
    }

    /// Whether nothing is known, so that control may come in from anywhere.
    pub(super) fn is_empty(&self) -> bool {
        self.bindings.is_empty() && self.pairs.is_empty()
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.bindings.clear();
        self.pairs.clear();
    }

    /// Ends the use by the present instruction.
    pub(super) fn unpin(&mut self) {
        self.pinned = 0;
    }

    /// The processor register that holds `register`, for use by the present instruction.
    pub(super) fn holding(&mut self, register: usize) -> Option<u8> {
        let binding = self.bindings.iter().find(|(bound, _)| *bound == register);
        let processor = binding.map(|(_, processor)| *processor)?;
        self.pinned |= 1 << processor;
        Some(processor)
    }

    /// A processor register for a word of the present instruction; its former copy is forgotten.
    pub(super) fn take(&mut self) -> u8 {
        let is_bound = |processor: u8| self.bindings.iter().any(|(_, bound)| *bound == processor);
        let is_pinned = |processor: u8| self.pinned >> processor & 1 == 1;
        let in_turn = (0..self.pool.len()).map(|place| self.pool[(self.next + place) % self.pool.len()]);
        let unpinned = in_turn.filter(|processor| !is_pinned(*processor));
        let free = unpinned.clone().find(|processor| !is_bound(*processor));
        let chosen = free.or_else(|| unpinned.clone().next());
        let processor = chosen.expect("an instruction uses fewer registers than there are");
        self.next = self.pool.iter().position(|place| *place == processor).unwrap_or(0) + 1;
        self.bindings.retain(|(_, bound)| *bound != processor);
        self.pinned |= 1 << processor;
        processor
    }

    /// Notes that `register` has been loaded into `processor`.
    pub(super) fn bind(&mut self, register: usize, processor: u8) {
        self.bindings.push((register, processor));
    }

    /// The registers of the frame and the processor registers that hold their words.
    pub(super) fn copies(&self) -> Vec<(usize, u8)> {
        self.bindings.clone()
    }

    /// The registers of the frame that are known to hold pairs.
    pub(super) fn pairs(&self) -> Vec<usize> {
        self.pairs.clone()
    }

    /// Forgets the registers that nothing reads any more: a collection clears them in the frame, so
    /// their copies would no longer be copies. A processor register keeps the word for the others
    /// that it is bound to.
    pub(super) fn keep(&mut self, is_live: impl Fn(usize) -> bool) {
        self.bindings.retain(|(bound, _)| is_live(*bound));
        self.pairs.retain(|pair| is_live(*pair));
    }

    /// Notes that `register` has another word now.
    pub(super) fn forget(&mut self, register: usize) {
        self.bindings.retain(|(bound, _)| *bound != register);
        self.pairs.retain(|pair| *pair != register);
    }

    /// Notes that `register` holds a pair.
    pub(super) fn note_pair(&mut self, register: usize) {
        if !self.is_pair(register) {
            self.pairs.push(register);
        }
    }

    /// Whether `register` is known to hold a pair.
    pub(super) fn is_pair(&self, register: usize) -> bool {
        self.pairs.contains(&register)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POOL: [u8; 6] = [6, 7, 8, 9, 10, 11];

    #[test]
    fn a_word_stays_where_it_is_until_its_place_is_needed() {
        let mut registers = Registers::new(&POOL);
        let first = registers.take();
        registers.bind(1, first);
        registers.unpin();
        assert_eq!(registers.holding(1), Some(first));
        let others: Vec<u8> = (1..POOL.len()).map(|_| registers.take()).collect();
        assert!(!others.contains(&first), "a pinned register is not given away");
        registers.unpin();
        for (register, processor) in (2..).zip(others) {
            registers.bind(register, processor);
        }
        let taken: Vec<u8> = (0..POOL.len()).map(|_| registers.take()).collect();
        assert_eq!(taken.len(), POOL.len());
        assert!(registers.is_empty(), "every copy was given up");
    }

    #[test]
    fn a_dead_register_gives_up_its_share_of_a_copy() {
        let mut registers = Registers::new(&POOL);
        let processor = registers.take();
        registers.bind(1, processor);
        registers.bind(2, processor);
        registers.note_pair(2);
        registers.keep(|register| register == 1);
        assert_eq!(registers.copies(), [(1, processor)]);
        assert!(registers.pairs().is_empty());
    }

    #[test]
    fn a_written_register_is_no_longer_what_it_was() {
        let mut registers = Registers::new(&POOL);
        let processor = registers.take();
        registers.bind(1, processor);
        registers.bind(2, processor);
        registers.note_pair(1);
        registers.forget(1);
        assert_eq!(
            (registers.holding(1), registers.holding(2), registers.is_pair(1)),
            (None, Some(processor), false)
        );
    }
}
