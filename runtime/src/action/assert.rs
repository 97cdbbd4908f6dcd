//! `assert`: a facet asserts a value until it retracts it or stops.

use super::{Act, Claims, Need, Needs, needing};
use crate::codec_struct;
use crate::model::identity::{FacetId, Handle, Resource};
use crate::model::manifest::Right;
use crate::model::value::Fact;
use crate::state::draft::Draft;
use crate::state::refusal::Refusal;

/// Asserts a value for a facet.
#[derive(Clone, Debug, PartialEq)]
pub struct Assert {
    /// The facet.
    pub facet: FacetId,
    /// The handle of the assertion.
    pub handle: Handle,
    /// The value.
    pub value: Fact,
}
codec_struct!(Assert "assert" { facet, handle, value });

impl Act for Assert {
    fn perform(&self, draft: &mut Draft) -> Result<(), Refusal> {
        draft.hold(self.facet, self.handle, self.value.clone())
    }

    fn claims(&self) -> Claims {
        Claims::default()
            .using(Resource::Facet(self.facet))
            .making(Resource::Handle(self.handle))
    }

    fn needs(&self) -> Needs<'_> {
        needing(Need::Value(Right::Assert, &self.value))
    }

    fn show(&self) -> String {
        format!("{:?} as {} of {}", self.value, self.handle, self.facet)
    }
}
