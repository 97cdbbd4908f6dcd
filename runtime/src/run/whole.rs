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
    /// anew, and does not succeed; then there is no record. `has_instance` says whether its actor
    /// had an instance before.
    pub(super) fn require_whole(
        &mut self,
        activation: &mut Activation,
        attempt: Result<(), Fault>,
        has_instance: bool,
    ) -> Result<(), RunError> {
        let judged = attempt.and_then(|()| Ok(judged(activation)?));
        let Err(fault) = judged else { return Ok(()) };
        let is_restart = activation.is_restart();
        self.undo_whole(activation, has_instance);
        let failure = Box::new(fault.failure);
        Err(if is_restart {
            RunError::Restart(failure)
        } else {
            RunError::Patch(failure)
        })
    }

    /// Undoes a turn that has no record: a run that is made from the records has no instance of its
    /// actor, unless the actor `has_instance` before.
    pub(super) fn undo_whole(&mut self, activation: &mut Activation, has_instance: bool) {
        let actor = activation.turn.actor;
        self.undo(activation);
        if !has_instance {
            self.instances.remove(actor);
        }
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
