//! What the collections may cost that the memory limit forces.
//!
//! A heap that is full but for a few words is collected as a whole whenever those are used up, and fuel does not count that. So such a collection is paid
//! for with the words it copies, as far as what it finds does not make up for them, from an account that each turn fills anew and that grows with the fuel that
//! is used. A program that overdraws it does little but look for memory; the machine then stops it.
//! INVARIANT: only collections that the limit forces are paid for, so a program whose heap has room to spare is never stopped.
//! When collections come depends on the garbage there is, and so on when the last snapshot was taken: whoever repeats what was recorded stops
//! counting, and takes it from the record where it was stopped. Read next: `machine/execute.rs`.

use super::Heap;

/// How many times all memory may be copied in a turn, whatever it computes.
const COPIES: u64 = 16;
/// How many words may be copied for each unit of fuel: that takes some times as long as what a unit of fuel lets a program do.
const WORDS_PER_FUEL: u64 = 64;
/// How many words may be copied for each word that is found. So a program whose heap stays more than a thirtieth free is never stopped.
const WORDS_PER_FOUND: u64 = 32;

/// The account of a heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Account {
    /// Words that may still be copied.
    left: u64,
    /// Words that were found since the last collection that was paid for.
    found: u64,
    is_overdrawn: bool,
    is_counted: bool,
}

impl Account {
    /// The account of a heap that may have so many words.
    pub(super) fn new(words_max: usize) -> Account {
        Account {
            left: (words_max as u64).saturating_mul(COPIES),
            found: 0,
            is_overdrawn: false,
            is_counted: true,
        }
    }

    /// Fills the account for a turn.
    pub(super) fn fill(&mut self, words_max: usize) {
        *self = Account {
            is_counted: self.is_counted,
            ..Account::new(words_max)
        };
    }
}

impl Heap {
    /// Says whether collections that the limit forces are counted, as they are at first.
    pub fn count_forced_collections(&mut self, is_counted: bool) {
        self.account.is_counted = is_counted;
    }

    /// Whether such collections have taken more than they may since the turn began.
    pub fn is_overdrawn(&self) -> bool {
        self.account.is_overdrawn && self.account.is_counted
    }

    /// Notes how many words a collection, forced or not, has found: of `before` that were in use all that are not now.
    pub(crate) fn note_found(&mut self, before: usize) {
        self.account.found += before.saturating_sub(self.top) as u64;
    }

    /// Pays for a collection that the limit forced and that has just ended.
    pub(crate) fn pay_for_collection(&mut self) {
        let found = std::mem::take(&mut self.account.found);
        let owed = (self.words_live as u64).saturating_sub(found.saturating_mul(WORDS_PER_FOUND));
        self.account.is_overdrawn |= owed > self.account.left;
        self.account.left = self.account.left.saturating_sub(owed);
    }

    /// Adds what the fuel that was used allows.
    pub(crate) fn earn_collections(&mut self, fuel_used: u64) {
        let earned = fuel_used.saturating_mul(WORDS_PER_FUEL);
        self.account.left = self.account.left.saturating_add(earned);
    }
}
