//! `limit`: the actor limits the time of a proposal, as policy demands. When the time is over, the
//! runtime rejects the proposal; the limit ends with the proposal.

use super::invoke_tool::enter_untagged;
use super::{Act, Claims};
use crate::codec_struct;
use crate::driver::EffectKind;
use crate::model::identity::{FacetId, RequestId, Resource};
use crate::state::draft::Draft;
use crate::state::refusal::Refusal;
use crate::state::request::Question;

/// Limits the time in which a proposal can be approved.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// The id of the limit.
    pub request: RequestId,
    /// The facet that proposed.
    pub facet: FacetId,
    /// The proposal.
    pub of: RequestId,
    /// The limit in milliseconds.
    pub delay_ms: u64,
}
codec_struct!(Limit "limit" { request, facet, of, delay_ms });

impl Act for Limit {
    fn perform(&self, draft: &mut Draft) -> Result<(), Refusal> {
        enter_untagged(draft, self.request, self.facet, self.question())
    }

    fn claims(&self) -> Claims {
        let claims = Claims::default()
            .using(Resource::Facet(self.facet))
            .using(Resource::Request(self.of));
        claims.making(Resource::Request(self.request))
    }

    fn effect(&self) -> Option<(RequestId, EffectKind)> {
        let effect = self.question().effect();
        effect.map(|effect| (self.request, effect))
    }

    fn show(&self) -> String {
        format!("of {} ms for {} as {}", self.delay_ms, self.of, self.request)
    }
}

impl Limit {
    fn question(&self) -> Question {
        Question::Limit {
            delay_ms: self.delay_ms,
            of: self.of,
        }
    }
}
