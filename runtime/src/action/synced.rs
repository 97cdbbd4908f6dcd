//! `synced`: an actor reports to a fiber of another one that it has caught up. No program asks for
//! it: it answers a `sync`, also for an actor that has ended.

use super::{Act, Claims};
use crate::codec_struct;
use crate::model::identity::{ActorId, FiberId};
use crate::state::draft::Draft;
use crate::state::event::Event;
use crate::state::refusal::Refusal;

/// Lets a fiber continue that waits for the acting actor to catch up.
#[derive(Clone, Debug, PartialEq)]
pub struct Synced {
    /// The actor of the fiber.
    pub to: ActorId,
    /// The fiber.
    pub fiber: FiberId,
}
codec_struct!(Synced "synced" { to, fiber });

impl Act for Synced {
    fn perform(&self, draft: &mut Draft) -> Result<(), Refusal> {
        draft.outbox.push(self.to, Event::Resume { fiber: self.fiber });
        Ok(())
    }

    fn claims(&self) -> Claims {
        Claims::default()
    }

    fn show(&self) -> String {
        format!("{} of {}", self.fiber, self.to)
    }
}
