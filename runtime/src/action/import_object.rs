//! `import-object`: an object of a peer gets a facet and a capability, so that values in the run
//! can refer to it and others can send to it.

use super::{Act, Claims};
use crate::capability::{Authority, Capability};
use crate::codec_struct;
use crate::model::identity::{CapabilityId, FacetId, Resource};
use crate::state::actor::Facet;
use crate::state::draft::Draft;
use crate::state::peers::Imported;
use crate::state::refusal::Refusal;

/// Makes an object of the acting actor's peer reachable.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportObject {
    /// The peer's number for the object.
    pub oid: u64,
    /// The id of the facet that stands for it.
    pub facet: FacetId,
    /// The parent of that facet.
    pub parent: FacetId,
    /// The id of the capability to send to it.
    pub capability: CapabilityId,
}
codec_struct!(ImportObject "import-object" { oid, facet, parent, capability });

impl Act for ImportObject {
    fn perform(&self, draft: &mut Draft) -> Result<(), Refusal> {
        let (actor, facet) = (draft.actor, self.facet);
        draft.facet_mut(self.parent)?.children.insert(facet);
        let made = Facet {
            parent: Some(self.parent),
            ..Facet::default()
        };
        draft.acting_mut()?.facets.insert(facet, made);
        let capability = Capability {
            owner: actor,
            from: Authority::Facet { actor, facet },
            caveats: Vec::new(),
            is_revoked: false,
        };
        draft.state.add_capability(self.capability, capability);
        let imported = Imported {
            facet,
            capability: self.capability,
            count: 0,
        };
        draft.state.peers.import((actor, self.oid), imported);
        Ok(())
    }

    fn claims(&self) -> Claims {
        Claims::default()
            .using(Resource::Facet(self.parent))
            .making(Resource::Facet(self.facet))
            .making(Resource::Capability(self.capability))
    }

    fn show(&self) -> String {
        format!(
            "object {} of the peer as {}, by {}",
            self.oid, self.facet, self.capability
        )
    }
}
