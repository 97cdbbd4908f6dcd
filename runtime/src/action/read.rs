//! `read`: the program asks for bytes from standard input, which arrive as a recorded input.

use super::invoke_tool::enter_untagged;
use super::{Act, Claims, Need, Needs, needing, write};
use crate::codec_struct;
use crate::driver::EffectKind;
use crate::model::counted::counted;
use crate::model::identity::{FacetId, RequestId, Resource};
use crate::state::draft::Draft;
use crate::state::refusal::Refusal;
use crate::state::request::Question;

/// Asks for bytes from standard input.
#[derive(Clone, Debug, PartialEq)]
pub struct Read {
    /// The id of the request.
    pub request: RequestId,
    /// The facet that reads.
    pub facet: FacetId,
    /// The maximum number of bytes.
    pub length_bytes_max: u64,
}
codec_struct!(Read "read" { request, facet, length_bytes_max });

impl Act for Read {
    fn perform(&self, draft: &mut Draft) -> Result<(), Refusal> {
        enter_untagged(draft, self.request, self.facet, self.question())
    }

    fn claims(&self) -> Claims {
        Claims::default()
            .using(Resource::Facet(self.facet))
            .making(Resource::Request(self.request))
    }

    fn needs(&self) -> Needs<'_> {
        needing(Need::of(write::CAPABILITY))
    }

    fn effect(&self) -> Option<(RequestId, EffectKind)> {
        let effect = self.question().effect();
        effect.map(|effect| (self.request, effect))
    }

    fn show(&self) -> String {
        format!("at most {} as {}", counted(self.length_bytes_max, "byte"), self.request)
    }
}

impl Read {
    fn question(&self) -> Question {
        Question::Read {
            length_bytes_max: self.length_bytes_max,
        }
    }
}
