//! `propose`: something was attempted, and policy wants a person to approve it first. The question is put to the person and shown as a fact,
//! `<approval-request id prompt>`; a tool that was called can be waited for meanwhile.

use duet_journal::BlobHash;
use preserves::IOValue;

use super::invoke_tool::enter;
use super::refuse::listed;
use super::{Act, Action, Claims, to_value};
use crate::codec_struct;
use crate::driver::EffectKind;
use crate::model::codec::{Codec, record};
use crate::model::identity::RequestId;
use crate::model::identity::Resource;
use crate::model::identity::{FacetId, Handle};
use crate::model::value::Fact;
use crate::state::draft::Draft;
use crate::state::refusal::Refusal;
use crate::state::request::Question;

/// Puts attempts to the person.
#[derive(Clone, Debug, PartialEq)]
pub struct Propose {
    /// What the question is known by.
    pub request: RequestId,
    /// The facet that attempts; if it stops, the question is withdrawn.
    pub facet: FacetId,
    /// The handle of the fact that shows the question.
    pub handle: Handle,
    /// What is attempted, together.
    pub attempts: Vec<Action>,
    /// What to show.
    pub prompt: IOValue,
    /// The policy for which an approval holds.
    pub policy: BlobHash,
}
codec_struct!(Propose "propose" { request, facet, handle, attempts, prompt, policy });

impl Act for Propose {
    fn perform(&self, draft: &mut Draft) -> Result<(), Refusal> {
        for call in self.attempts.iter().filter_map(Action::call) {
            let question = Question::Deferred {
                name: call.tool.clone(),
                payload: call.payload.clone(),
            };
            enter(draft, call.request, call.facet, question, call.tag.clone())?;
        }
        let name = draft.names.name("request", self.request.0);
        let question = Question::Approve {
            prompt: self.prompt.clone(),
            attempts: to_value(&self.attempts)?,
            proposal: hash(&self.attempts),
            policy: self.policy,
        };
        enter(draft, self.request, self.facet, question, name.clone())?;
        let shown = record("approval-request", vec![name.encode(), self.prompt.clone()]);
        draft.hold(self.facet, self.handle, Fact::new(shown)?)?;
        if let Some(request) = draft.state.requests.get_mut(&self.request) {
            request.handle = Some(self.handle);
        }
        Ok(())
    }

    fn claims(&self) -> Claims {
        let claims = Claims::default()
            .using(Resource::Facet(self.facet))
            .making(Resource::Request(self.request))
            .making(Resource::Handle(self.handle));
        claims.attempting(&self.attempts)
    }

    fn parts(&self) -> &[Action] {
        &self.attempts
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
        format!("{} to the person, {}", listed(&self.attempts), self.request)
    }
}

/// Names attempts by their content.
pub(crate) fn hash(attempts: &[Action]) -> BlobHash {
    let mut bytes = Vec::new();
    for attempt in attempts {
        // What is in an action was recorded with it, so it fits into a record.
        let packed = duet_journal::PackedValue::write(|out| attempt.write(out));
        bytes.extend_from_slice(packed.as_ref().map_or(&[], duet_journal::PackedValue::as_bytes));
    }
    BlobHash::of(&bytes)
}
