//! `spawn-guarded`: the actor starts a fiber whose failures end only the fiber; it runs in the same
//! turn, after its spawner has parked.

use super::{Act, Claims};
use crate::codec_struct;
use crate::model::identity::{FacetId, FiberId, Resource};
use crate::state::actor::Guard;
use crate::state::draft::Draft;
use crate::state::refusal::Refusal;

/// Makes a fiber; takes the procedure that receives its failure.
#[derive(Clone, Debug, PartialEq)]
pub struct SpawnGuarded {
    /// The id of the fiber.
    pub fiber: FiberId,
    /// The facet it belongs to, in which the procedure is called.
    pub facet: FacetId,
    /// The fuel for its whole life, if it is limited.
    pub fuel_max: Option<u64>,
}
codec_struct!(SpawnGuarded "spawn-guarded" { fiber, facet, fuel_max });

impl Act for SpawnGuarded {
    fn perform(&self, draft: &mut Draft) -> Result<(), Refusal> {
        draft.facet(self.facet)?;
        let guard = Guard {
            facet: self.facet,
            procedure: draft.take_callable()?,
            fuel_left: self.fuel_max,
        };
        draft.acting_mut()?.guards.insert(self.fiber, guard);
        Ok(())
    }

    fn claims(&self) -> Claims {
        Claims::default()
            .using(Resource::Facet(self.facet))
            .making(Resource::Fiber(self.fiber))
    }

    fn show(&self) -> String {
        let fuel = self
            .fuel_max
            .map_or_else(String::new, |fuel| format!(", with {fuel} units of fuel"));
        format!("{} in {}{fuel}", self.fiber, self.facet)
    }
}
