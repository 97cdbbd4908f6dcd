//! Turns that succeed whole or are none: a changed text takes the place of another, an actor begins
//! anew.
//!
//! INVARIANT: a turn of these that fails leaves the run as it was, its queue included, and has no
//! record.
//! It does not run them; `take_turn.rs` does. Read next: `take_turn.rs`.

use super::Run;
use super::error::RunError;
use super::replaced::Replaced;
use super::take_turn::judged;
use crate::turn::activation::{Activation, Fault};

impl Run {
    /// Undoes a turn that puts a changed text in the place of another, or makes an actor begin
    /// anew, and does not succeed; then there is no record.
    pub(super) fn require_whole(
        &mut self,
        activation: &mut Activation,
        attempt: Result<(), Fault>,
    ) -> Result<(), RunError> {
        let judged = attempt.and_then(|()| Ok(judged(activation)?));
        let Err(fault) = judged else { return Ok(()) };
        let is_restart = activation.is_restart();
        self.undo(activation);
        let failure = Box::new(fault.failure);
        Err(if is_restart {
            RunError::Restart(failure)
        } else {
            RunError::Patch(failure)
        })
    }

    /// Sets the instance of an actor that begins anew aside, and the queue.
    pub(super) fn set_aside(&mut self, activation: &Activation) {
        let actor = activation.turn.actor;
        self.replaced = Some(Replaced {
            actor,
            slot: self.instances.remove(actor),
            queue: activation.draft.state.queue.clone(),
        });
    }

    /// Puts back what was set aside, because the turn is undone.
    pub(super) fn put_back(&mut self) {
        if let Some(replaced) = self.replaced.take() {
            // The instance of the beginning that failed goes.
            self.instances.remove(replaced.actor);
            if let Some(slot) = replaced.slot {
                self.instances.put(replaced.actor, slot);
            }
            self.state.queue = replaced.queue;
        }
    }
}
