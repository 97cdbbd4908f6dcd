//! `spawn-fiber`: a line of computation begins; it runs in the same turn, after its spawner has parked.

use super::{Act, Claims, Thing};
use crate::codec_struct;
use crate::draft::{Draft, Refusal};
use crate::identity::{FacetId, FiberId};

/// Makes a fiber.
#[derive(Clone, Debug, PartialEq)]
pub struct SpawnFiber {
    /// What it is known by.
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
            .using(Thing::Facet(self.facet))
            .making(Thing::Fiber(self.fiber))
    }

    fn show(&self) -> String {
        format!("{} in {}", self.fiber, self.facet)
    }
}
