//! `attach-entity`: an entity starts inside the acting actor, in a facet of its own, which the
//! actor finds by the role.

use super::{Act, Claims, Need, Needs, SpawnFacet, needing, spawn_actor};
use crate::codec_struct;
use crate::model::identity::{FacetId, Resource};
use crate::state::draft::Draft;
use crate::state::refusal::Refusal;

/// Makes the facet of an attached entity.
#[derive(Clone, Debug, PartialEq)]
pub struct AttachEntity {
    /// The role, which no other attached entity of the actor plays.
    pub role: String,
    /// The entity's facet.
    pub facet: FacetId,
    /// The parent facet.
    pub parent: FacetId,
}
codec_struct!(AttachEntity "attach-entity" { role, facet, parent });

impl Act for AttachEntity {
    fn perform(&self, draft: &mut Draft) -> Result<(), Refusal> {
        if draft.acting()?.attached.contains_key(self.role.as_str()) {
            return Err(Refusal::Attached(self.role.clone()));
        }
        let (facet, parent) = (self.facet, self.parent);
        let user = None;
        SpawnFacet { facet, parent, user }.perform(draft)?;
        draft.acting_mut()?.attached.insert(self.role.as_str().into(), facet);
        Ok(())
    }

    fn claims(&self) -> Claims {
        Claims::default()
            .using(Resource::Facet(self.parent))
            .making(Resource::Facet(self.facet))
    }

    fn needs(&self) -> Needs<'_> {
        needing(Need::of(spawn_actor::CAPABILITY))
    }

    fn show(&self) -> String {
        format!("{} as {} in {}", self.role, self.facet, self.parent)
    }
}
