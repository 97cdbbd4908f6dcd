//! `sync`: a fiber parks until another actor has handled everything that this one sent it before.

use super::{Act, Claims, Thing};
use crate::actor::FiberKind;
use crate::codec_struct;
use crate::draft::{Draft, Refusal};
use crate::event::Event;
use crate::identity::{ActorId, FacetId, FiberId};

/// Parks a fiber until an actor has caught up; takes the continuation.
#[derive(Clone, Debug, PartialEq)]
pub struct Sync {
    /// The fiber.
    pub fiber: FiberId,
    /// How it is divided into turns.
    pub kind: FiberKind,
    /// The facet it belongs to.
    pub facet: FacetId,
    /// Who is to catch up.
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
        Claims::default().using(Thing::Facet(self.facet))
    }

    fn show(&self) -> String {
        format!("{} with {}", self.fiber, self.with)
    }
}
