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
    /// Its name for people, if it has one: at most [`NAME_CHARACTERS_MAX`] characters.
    pub name: Option<String>,
}
codec_struct!(SpawnFiber "spawn-fiber" { fiber, facet, name });

/// The maximum length of a fiber's name, in characters.
pub const NAME_CHARACTERS_MAX: usize = 100;

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
        let name = self.name.as_ref().map_or_else(String::new, |name| format!(" {name:?}"));
        format!("{}{name} in {}", self.fiber, self.facet)
    }
}
