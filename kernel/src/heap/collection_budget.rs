//! The cost of collections that the memory limit forces.
//!
//! Owns the budget of a turn, in words copied. A nearly full heap runs a major collection whenever
//! its last free words are used up, and fuel does not count that time. So each forced collection is
//! charged for the words it copies, less an allowance for the words it frees; the budget starts
//! anew with each turn and grows with the fuel used. The machine stops a program that overdraws it,
//! because it does little but collect.
//! INVARIANT: only forced collections are charged, so a program whose heap has free space is never
//! stopped.
//! It does not make replays agree: the time of collections depends on garbage, and so on the time
//! of the last snapshot. A replay does not count, and takes the place of the stop from the record.
//! Read next: `machine/execute.rs`.

use super::Heap;

/// Copies of the whole memory that a turn may make, whatever it computes.
const COPIES: u64 = 16;
/// Words that each unit of fuel adds to the budget; copying them takes a few times as long as the
/// work of a unit of fuel.
const WORDS_PER_FUEL: u64 = 64;
/// Words that may be copied for each word freed. A program whose heap stays more than a thirtieth
/// free is never stopped.
const WORDS_PER_FREED: u64 = 32;

/// The budget of a heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CollectionBudget {
    /// Words that may still be copied.
    left: u64,
    /// Words freed since the last charge.
    found: u64,
    is_overdrawn: bool,
    is_counted: bool,
}

impl CollectionBudget {
    /// The budget of a heap of at most `words_max` words.
    pub(super) fn new(words_max: usize) -> CollectionBudget {
        CollectionBudget {
            left: (words_max as u64).saturating_mul(COPIES),
            found: 0,
            is_overdrawn: false,
            is_counted: true,
        }
    }

    /// Starts the budget of a turn.
    pub(super) fn fill(&mut self, words_max: usize) {
        *self = CollectionBudget {
            is_counted: self.is_counted,
            ..CollectionBudget::new(words_max)
        };
    }
}

impl Heap {
    /// Sets whether forced collections count, as they do at first.
    pub fn count_forced_collections(&mut self, is_counted: bool) {
        self.collection_budget.is_counted = is_counted;
    }

    /// Whether forced collections have overdrawn the turn's budget.
    pub fn is_overdrawn(&self) -> bool {
        self.collection_budget.is_overdrawn && self.collection_budget.is_counted
    }

    /// Notes the words that a collection, forced or not, has freed of the `before` words in use.
    pub(crate) fn note_freed(&mut self, before: usize) {
        self.collection_budget.found += before.saturating_sub(self.top) as u64;
    }

    /// Charges a forced collection that has just ended.
    pub(crate) fn charge_collection(&mut self) {
        let found = std::mem::take(&mut self.collection_budget.found);
        let owed = (self.words_live as u64).saturating_sub(found.saturating_mul(WORDS_PER_FREED));
        self.collection_budget.is_overdrawn |= owed > self.collection_budget.left;
        self.collection_budget.left = self.collection_budget.left.saturating_sub(owed);
    }

    /// Adds the allowance for the fuel used.
    pub(crate) fn credit_fuel(&mut self, fuel_used: u64) {
        let earned = fuel_used.saturating_mul(WORDS_PER_FUEL);
        self.collection_budget.left = self.collection_budget.left.saturating_add(earned);
    }
}
