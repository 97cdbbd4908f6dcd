//! `spawn-facet`: the actor adds a facet to its tree; it lives until it or its parent stops.

use super::{Act, Claims};
use crate::codec_struct;
use crate::model::identity::{FacetId, FiberId, Resource};
use crate::state::actor::Facet;
use crate::state::draft::Draft;
use crate::state::refusal::Refusal;

/// Makes a facet.
#[derive(Clone, Debug, PartialEq)]
pub struct SpawnFacet {
    /// The id of the facet.
    pub facet: FacetId,
    /// The parent facet.
    pub parent: FacetId,
    /// The fiber that uses it, if it stops when that fiber is ended before its work is done.
    pub user: Option<FiberId>,
}
codec_struct!(SpawnFacet "spawn-facet" { facet, parent, user });

impl Act for SpawnFacet {
    fn perform(&self, draft: &mut Draft) -> Result<(), Refusal> {
        draft.facet_mut(self.parent)?.children.insert(self.facet);
        let facet = Facet {
            parent: Some(self.parent),
            user: self.user,
            ..Facet::default()
        };
        draft.acting_mut()?.facets.insert(self.facet, facet);
        Ok(())
    }

    fn claims(&self) -> Claims {
        Claims::default()
            .using(Resource::Facet(self.parent))
            .making(Resource::Facet(self.facet))
    }

    fn show(&self) -> String {
        format!("{} in {}", self.facet, self.parent)
    }
}
