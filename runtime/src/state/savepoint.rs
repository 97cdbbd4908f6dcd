//! Savepoints of the state, by which it goes back over many turns.
//!
//! INVARIANT: a state that went back to a mark is what it was then, but for numbers that mean nothing outside of it.
//! It does not know when to mark; `past.rs` does.
//! Read next: `tracked/marks.rs`, `past.rs`.

use super::RunState;
use crate::collections::tracked::Tracking;
use crate::model::identity::Counters;
use crate::policy::entry::Entries;
use crate::state::event::Queue;

/// What was when the state was marked, of that which keeps no notes of its own.
#[derive(Clone, Debug)]
pub(crate) struct StateSavepoint {
    counters: Counters,
    queue: Queue,
    exit: Option<u64>,
    entries: Entries,
}

impl RunState {
    /// Everything that keeps notes of its own.
    fn tracked(&mut self) -> [&mut dyn Tracking; 7] {
        [
            &mut self.dataspace,
            &mut self.held,
            &mut self.actors,
            &mut self.requests,
            &mut self.capabilities,
            &mut self.capabilities_of,
            &mut self.calls,
        ]
    }

    /// Savepoints the state, between turns, under a number greater than those before, and returns what else it takes to [go back](Self::restore_savepoint). A clone
    /// has no marks.
    pub(crate) fn make_savepoint(&mut self, number: u64) -> StateSavepoint {
        self.tracked()
            .into_iter()
            .for_each(|tracked| tracked.make_savepoint(number));
        StateSavepoint {
            counters: self.counters.clone(),
            queue: self.queue.clone(),
            exit: self.exit,
            entries: self.entries.clone(),
        }
    }

    /// Goes back, between turns, to a mark, which stays; says whether that could be done: not if too much has changed since. Then the state is of no
    /// use.
    pub(crate) fn restore_savepoint(&mut self, number: u64, marked: &StateSavepoint) -> bool {
        let is_back = self
            .tracked()
            .into_iter()
            .all(|tracked| tracked.restore_savepoint(number));
        self.tracked()
            .into_iter()
            .for_each(|tracked| tracked.make_savepoint(number));
        (self.counters, self.queue) = (marked.counters.clone(), marked.queue.clone());
        (self.exit, self.entries) = (marked.exit, marked.entries.clone());
        is_back
    }

    /// Gives up the marks with numbers below `oldest`.
    pub(crate) fn drop_savepoints(&mut self, oldest: u64) {
        self.tracked()
            .into_iter()
            .for_each(|tracked| tracked.drop_savepoints(oldest));
    }
}
