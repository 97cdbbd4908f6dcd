//! Leaving a run whose turn a person has stopped.
//!
//! Owns whether the process leaves the run after such a turn, and whether it has to.
//! INVARIANT: the turn is undone and leaves no record, and no turn follows it: what has led to it
//! is no longer queued here, but follows again from the records when the run is resumed.
//! It does not stop turns; the machine looks at the flag.
//! Read next: `take_turn.rs`.

use super::Run;
use crate::driver::Drivers;
use crate::run::error::RunError;
use crate::turn::activation::{Activation, Fault};

use duet_journal::Store;

/// How the process leaves the run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Leaving {
    /// The process leaves the run; otherwise the turn fails.
    is_wanted: bool,
    has_begun: bool,
    /// The process lets go of the run when it has nothing to do, and commits its last turns then.
    pub(super) keeps_last_turns: bool,
}

impl Leaving {
    /// Whether no turn may follow.
    pub(crate) fn has_begun(self) -> bool {
        self.has_begun
    }
}

impl Run {
    /// Leaves the run when a person stops a turn, as if the process had ended before the turn.
    pub fn leave_when_stopped(&mut self) {
        self.leaving.is_wanted = true;
    }

    /// Undoes a turn that was stopped, if the process leaves the run then; returns whether it does.
    pub(super) fn leave_if_stopped(&mut self, activation: &mut Activation, attempt: &Result<(), Fault>) -> bool {
        let is_stopped = |fault: &Fault| fault.failure.is_interruption();
        if !self.leaving.is_wanted || !attempt.as_ref().is_err_and(is_stopped) {
            return false;
        }
        self.undo(activation);
        self.leaving.has_begun = true;
        true
    }

    /// Makes everything durable before the process leaves.
    pub(super) fn interrupt(&mut self, store: &mut dyn Store, drivers: &mut dyn Drivers) -> Result<(), RunError> {
        self.flush_to(store, drivers)
    }
}
