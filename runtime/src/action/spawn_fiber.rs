//! `spawn-fiber`: the actor starts a thread of computation; it runs in the same turn, after its
//! spawner has parked.

use super::{Act, Claims};
use crate::codec_struct;
use crate::model::identity::{FacetId, FiberId, Resource};
use crate::state::draft::Draft;
use crate::state::refusal::Refusal;

/// Makes a fiber.
#[derive(Clone, Debug, PartialEq)]
pub struct SpawnFiber {
    /// The id of the fiber.
    pub fiber: FiberId,
    /// The facet it belongs to.
    pub facet: FacetId,
}
codec_struct!(SpawnFiber "spawn-fiber" { fiber, facet });

impl Act for SpawnFiber {
    fn perform(&self, draft: &mut Draft) -> Result<(), Refusal> {
        draft.facet(self.facet).map(|_| ())
    }

    fn claims(&self) -> Claims {
        Claims::default()
            .using(Resource::Facet(self.facet))
            .making(Resource::Fiber(self.fiber))
    }

    fn show(&self) -> String {
        format!("{} in {}", self.fiber, self.facet)
    }
}
