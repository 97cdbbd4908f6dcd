//! `ask-user`: a question is put to the person and shown as a fact, `<user-input-request id prompt tag>`, until the first answer.

use preserves::IOValue;

use super::invoke_tool::enter;
use super::{Act, Claims, Thing};
use crate::codec::{Codec, record};
use crate::codec_struct;
use crate::draft::{Draft, Refusal};
use crate::driver::{EffectKind, RequestId};
use crate::identity::{FacetId, Handle};
use crate::state::Question;
use crate::value::Fact;

/// The capability to ask.
pub const CAPABILITY: &str = "person";

/// Puts a question to the person.
#[derive(Clone, Debug, PartialEq)]
pub struct AskUser {
    /// What the question is known by.
    pub request: RequestId,
    /// The facet that asks; if it stops, the question is withdrawn.
    pub facet: FacetId,
    /// The handle of the fact that shows the question.
    pub handle: Handle,
    /// What to show.
    pub prompt: IOValue,
    /// What the program calls the question.
    pub tag: String,
}
codec_struct!(AskUser "ask-user" { request, facet, handle, prompt, tag });

impl Act for AskUser {
    fn perform(&self, draft: &mut Draft) -> Result<(), Refusal> {
        let question = Question::Ask {
            prompt: self.prompt.clone(),
        };
        enter(draft, self.request, self.facet, question, self.tag.clone())?;
        let name = draft.names.name("request", self.request.0);
        let shown = record(
            "user-input-request",
            vec![name.encode(), self.prompt.clone(), self.tag.encode()],
        );
        draft.hold(self.facet, self.handle, Fact::new(shown)?)?;
        if let Some(request) = draft.state.requests.get_mut(&self.request) {
            request.handle = Some(self.handle);
        }
        Ok(())
    }

    fn claims(&self) -> Claims {
        Claims::default()
            .using(Thing::Facet(self.facet))
            .making(Thing::Request(self.request))
            .making(Thing::Handle(self.handle))
            .needing(CAPABILITY)
    }

    fn effect(&self) -> Option<(RequestId, EffectKind)> {
        Some((
            self.request,
            EffectKind::Ask {
                prompt: self.prompt.clone(),
            },
        ))
    }

    fn show(&self) -> String {
        format!("{:?} as {}, tag {:?}", self.prompt, self.request, self.tag)
    }
}
