//! `ask-user`: the actor asks the person a question.
//!
//! The fact `<user-input-request id prompt tag>` shows the question until the first answer.

use preserves::IOValue;

use super::invoke_tool::enter;
use super::{Act, Claims, Need, Needs, needing};
use crate::codec_struct;
use crate::driver::EffectKind;
use crate::model::codec::{Codec, record};
use crate::model::identity::{FacetId, Handle, RequestId, Resource};
use crate::model::value::Fact;
use crate::state::draft::Draft;
use crate::state::refusal::Refusal;
use crate::state::request::Question;

/// The capability to ask the person.
pub const CAPABILITY: &str = "person";

/// Asks the person a question.
#[derive(Clone, Debug, PartialEq)]
pub struct AskUser {
    /// The id of the question.
    pub request: RequestId,
    /// The facet that asks; if it stops, the runtime withdraws the question.
    pub facet: FacetId,
    /// The handle of the fact that shows the question.
    pub handle: Handle,
    /// The question to show.
    pub prompt: IOValue,
    /// The program's name for the question.
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
            .using(Resource::Facet(self.facet))
            .making(Resource::Request(self.request))
            .making(Resource::Handle(self.handle))
    }

    fn needs(&self) -> Needs<'_> {
        needing(Need::of(CAPABILITY))
    }

    fn effect(&self) -> Option<(RequestId, EffectKind)> {
        Some((
            self.request,
            EffectKind::Ask {
                prompt: self.prompt.clone(),
                approves: Vec::new(),
            },
        ))
    }

    fn show(&self) -> String {
        format!("{:?} as {}, tag {:?}", self.prompt, self.request, self.tag)
    }
}
