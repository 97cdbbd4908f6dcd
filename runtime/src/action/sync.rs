//! `sync`: a fiber parks until another actor has handled everything that this one sent it before.

use super::{Act, Claims};
use crate::codec_struct;
use crate::model::identity::{ActorId, FacetId, FiberId, Resource};
use crate::state::actor::FiberKind;
use crate::state::draft::Draft;
use crate::state::event::Event;
use crate::state::refusal::Refusal;

/// Parks a fiber until an actor has caught up; takes the continuation.
#[derive(Clone, Debug, PartialEq)]
pub struct Sync {
    /// The fiber.
    pub fiber: FiberId,
    /// How the fiber's work is divided into turns.
    pub kind: FiberKind,
    /// The facet it belongs to.
    pub facet: FacetId,
    /// The actor that must catch up.
    pub with: ActorId,
}
codec_struct!(Sync "sync" { fiber, kind, facet, with });

impl Act for Sync {
    fn perform(&self, draft: &mut Draft) -> Result<(), Refusal> {
        draft.park(self.fiber, self.facet, self.kind)?;
        let (from, fiber) = (draft.actor, self.fiber);
        draft.outbox.push(self.with, Event::Sync { from, fiber });
        Ok(())
    }

    fn claims(&self) -> Claims {
        Claims::default().using(Resource::Facet(self.facet))
    }

    fn show(&self) -> String {
        format!("{} with {}", self.fiber, self.with)
    }
}
