//! Turns that succeed whole or are none: a changed text takes the place of another, an actor begins
//! anew.
//!
//! INVARIANT: a turn of these that fails leaves the run as it was, its queue included, and has no
//! record.
//! It does not run them; `take_turn.rs` does. Read next: `take_turn.rs`.

use super::Run;
use super::error::RunError;
use super::instances::ActorSlot;
use super::take_turn::judged;
use crate::model::identity::ActorId;
use crate::record::TurnRecord;
use crate::state::event::{Event, Queue};
use crate::turn::activation::{Activation, Fault};
use crate::turn::erased::AnyInstance;

/// What a turn in which an actor begins anew replaces, until it succeeds.
pub(crate) struct Replaced {
    pub(super) actor: ActorId,
    /// None if the actor had not begun.
    pub(super) slot: Option<ActorSlot<AnyInstance>>,
    /// The queue from before the turn, which has the messages on their way to the actor.
    queue: Queue,
}

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

/// Says whether a turn puts a changed text in the place of the one that the run executes.
pub(super) fn is_patch(turn: &TurnRecord) -> bool {
    turn.events.iter().any(|event| matches!(event, Event::Patched { .. }))
}
