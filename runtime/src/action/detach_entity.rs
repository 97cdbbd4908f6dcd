//! `detach-entity`: the actor frees a role of an entity inside it. The entity's facet stops next,
//! by actions of its own.

use super::{Act, Claims};
use crate::codec_struct;
use crate::model::identity::{FacetId, Resource};
use crate::state::draft::Draft;
use crate::state::refusal::Refusal;

/// Forgets which facet plays a role.
#[derive(Clone, Debug, PartialEq)]
pub struct DetachEntity {
    /// The role.
    pub role: String,
    /// The entity's facet.
    pub facet: FacetId,
}
codec_struct!(DetachEntity "detach-entity" { role, facet });

impl Act for DetachEntity {
    fn perform(&self, draft: &mut Draft) -> Result<(), Refusal> {
        let attached = draft.acting_mut()?.attached.remove(&self.role.as_str().into());
        if attached == Some(self.facet) {
            Ok(())
        } else {
            Err(Refusal::NotAttached(self.role.clone()))
        }
    }

    fn claims(&self) -> Claims {
        Claims::default().using(Resource::Facet(self.facet))
    }

    fn show(&self) -> String {
        format!("{} from {}", self.role, self.facet)
    }
}
