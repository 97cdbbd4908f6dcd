//! `propose`: the actor asks the person to approve attempts, because policy demands it. The fact
//! `<approval-request id prompt>` shows the question; meanwhile the program can wait for a called
//! tool.

use duet_journal::BlobHash;
use preserves::IOValue;

use super::invoke_tool::enter;
use super::{Act, Action, Claims, Needs, listed, needs_of, to_value};
use crate::codec_struct;
use crate::driver::EffectKind;
use crate::model::codec::{Codec, record};
use crate::model::identity::{FacetId, Handle, RequestId, Resource};
use crate::model::value::Fact;
use crate::policy::keyed;
use crate::state::draft::Draft;
use crate::state::refusal::Refusal;
use crate::state::request::Question;

/// Asks the person to approve attempts.
#[derive(Clone, Debug, PartialEq)]
pub struct Propose {
    /// The id of the question.
    pub request: RequestId,
    /// The facet that attempts; if it stops, the runtime withdraws the question.
    pub facet: FacetId,
    /// The handle of the fact that shows the question.
    pub handle: Handle,
    /// The attempts, which belong together.
    pub attempts: Vec<Action>,
    /// The question to show.
    pub prompt: IOValue,
    /// The hash of the policy for which an approval holds.
    pub policy: BlobHash,
}
codec_struct!(Propose "propose" { request, facet, handle, attempts, prompt, policy });

/// Enters the calls among attempts that wait as `request`.
pub(super) fn enter_calls(draft: &mut Draft, request: RequestId, attempts: &[Action]) -> Result<(), Refusal> {
    let judged_as = (attempts.len() == 1).then_some(request);
    for call in attempts.iter().filter_map(Action::call) {
        let question = Question::Deferred {
            name: call.tool.clone(),
            payload: call.payload.clone(),
            judged_as,
        };
        enter(draft, call.request, call.facet, question, call.tag.clone())?;
    }
    Ok(())
}

impl Act for Propose {
    fn perform(&self, draft: &mut Draft) -> Result<(), Refusal> {
        enter_calls(draft, self.request, &self.attempts)?;
        let name = draft.names.name("request", self.request.0);
        let question = Question::Approve {
            prompt: self.prompt.clone(),
            approves: names(&self.attempts),
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

    fn needs(&self) -> Needs<'_> {
        needs_of(&self.attempts)
    }

    fn parts(&self) -> &[Action] {
        &self.attempts
    }

    fn effect(&self) -> Option<(RequestId, EffectKind)> {
        Some((
            self.request,
            EffectKind::Ask {
                prompt: self.prompt.clone(),
                approves: names(&self.attempts),
            },
        ))
    }

    fn show(&self) -> String {
        format!("{} to the person, {}", listed(&self.attempts), self.request)
    }
}

/// The names by which a person approves attempts: those of tools, and the keys of entries.
fn names(attempts: &[Action]) -> Vec<String> {
    attempts.iter().map(name).collect()
}

fn name(action: &Action) -> String {
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "other actions have the name of their kind"
    )]
    match action {
        Action::InvokeTool(call) => call.tool.clone(),
        Action::Assert(assert) => keyed::of(&assert.value).map_or_else(|| "assert".to_owned(), |entry| entry.key),
        Action::Pass(pass) => pass.action.first().map_or_else(|| "pass".to_owned(), name),
        other => other.name().to_owned(),
    }
}

/// Returns the hash that names the attempts.
pub(crate) fn hash(attempts: &[Action]) -> BlobHash {
    let mut bytes = Vec::new();
    for attempt in attempts {
        // The journal records the attempts of a proposal, so each fits into a record.
        let packed = duet_journal::PackedValue::write(|out| attempt.write(out));
        bytes.extend_from_slice(packed.as_ref().map_or(&[], duet_journal::PackedValue::as_bytes));
    }
    BlobHash::of(&bytes)
}
