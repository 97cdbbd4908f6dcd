//! Marks of the state, by which it goes back over many turns.
//!
//! INVARIANT: a state that went back to a mark is what it was then, but for numbers that mean nothing outside of it.
//! It does not know when to mark; `past.rs` does.
//! Read next: `tracked/marks.rs`, `past.rs`.

use super::RunState;
use crate::event::Queue;
use crate::identity::Counters;
use crate::policy::entry::Entries;
use crate::tracked::Tracking;

/// What was when the state was marked, of that which keeps no notes of its own.
#[derive(Clone, Debug)]
pub(crate) struct Marked {
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

    /// Marks the state, between turns, under a number greater than those before, and returns what else it takes to [go back](Self::go_back). A clone
    /// has no marks.
    pub(crate) fn mark(&mut self, number: u64) -> Marked {
        self.tracked().into_iter().for_each(|tracked| tracked.mark(number));
        Marked {
            counters: self.counters.clone(),
            queue: self.queue.clone(),
            exit: self.exit,
            entries: self.entries.clone(),
        }
    }

    /// Goes back, between turns, to a mark, which stays; says whether that could be done: not if too much has changed since. Then the state is of no
    /// use.
    pub(crate) fn go_back(&mut self, number: u64, marked: &Marked) -> bool {
        let is_back = self.tracked().into_iter().all(|tracked| tracked.go_back(number));
        self.tracked().into_iter().for_each(|tracked| tracked.mark(number));
        (self.counters, self.queue) = (marked.counters.clone(), marked.queue.clone());
        (self.exit, self.entries) = (marked.exit, marked.entries.clone());
        is_back
    }

    /// Gives up the marks with numbers below `oldest`.
    pub(crate) fn forget_marks(&mut self, oldest: u64) {
        self.tracked()
            .into_iter()
            .for_each(|tracked| tracked.forget_marks(oldest));
    }
}
