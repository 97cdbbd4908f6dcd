//! Changes of a simulated run's program while it runs, and actors that begin anew.
//!
//! INVARIANT: what the run refuses leaves it as it was; `../course.rs` compares after each
//! operation.
//! It does not edit texts; `../edits.rs` does.

use duet_runtime::driver::Input;
use duet_runtime::run::error::RunError;

use super::super::edits::Change;
use super::super::programs;
use super::{Course, Difference, Outcome};

impl Course {
    /// Puts a changed text in the place of the program's.
    pub(super) fn patch(&mut self, change: Change) -> Outcome {
        self.settle()?;
        let mut text = programs::changed(&self.cast.program, change.variant).map_err(Difference::Unreadable)?;
        text.run = change.run();
        text.values = change.values();
        self.counts.patched += u64::from(self.succeeds(Input::Patch { text })?);
        Ok(())
    }

    /// Makes an actor begin anew.
    pub(super) fn begin_anew(&mut self, which: u64) -> Outcome {
        self.settle()?;
        let actors: Vec<_> = self.run.state().actors.keys().copied().collect();
        let which = usize::try_from(which).unwrap_or(0) % actors.len().max(1);
        let Some(actor) = actors.get(which).copied() else {
            return Ok(());
        };
        self.counts.begun += u64::from(self.succeeds(Input::Restart { actor })?);
        Ok(())
    }

    /// Lets an input happen that happens whole or not at all; whether it did.
    fn succeeds(&mut self, input: Input) -> Outcome<bool> {
        self.run.deliver_first(input);
        match self.run.step() {
            Ok(_) => Ok(true),
            Err(RunError::Patch(_) | RunError::Restart(_)) => {
                self.counts.refused += 1;
                Ok(false)
            }
            Err(error) => Err(error.into()),
        }
    }
}
