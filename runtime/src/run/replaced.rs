//! What a turn in which an actor begins anew replaces.
//!
//! INVARIANT: it is kept until the turn has succeeded or is undone.
//! It does not undo the turn; `whole.rs` does.

use super::instances::ActorSlot;
use crate::model::identity::ActorId;
use crate::state::event::Queue;
use crate::turn::erased::AnyInstance;

/// The actor that begins anew, as it was before the turn.
pub(crate) struct Replaced {
    pub(super) actor: ActorId,
    /// Its instance; none if it had not begun.
    pub(super) slot: Option<ActorSlot<AnyInstance>>,
    /// The queue, which has the messages on their way to the actor.
    pub(super) queue: Queue,
}
