//! `approve`: the actor performs an approved proposal. This uses up the approval.

use super::{Act, Action, Claims, Needs, listed, needs_of};
use crate::codec_struct;
use crate::model::identity::{RequestId, Resource};
use crate::state::draft::Draft;
use crate::state::refusal::Refusal;
use crate::state::request::Question;

/// Performs an approved proposal.
#[derive(Clone, Debug, PartialEq)]
pub struct Approve {
    /// The request with the answer.
    pub request: RequestId,
    /// The proposed actions.
    pub attempts: Vec<Action>,
}
codec_struct!(Approve "approve" { request, attempts });

/// Performs the attempts that waited as `request`.
pub(super) fn carry_out(draft: &mut Draft, request: RequestId, attempts: &[Action]) -> Result<(), Refusal> {
    draft.forget_request(request);
    for attempt in attempts {
        let Some(call) = attempt.call() else {
            attempt.perform(draft)?;
            continue;
        };
        // A call that was withdrawn meanwhile is not made.
        let Some(known) = draft.state.requests.get_mut(&call.request) else {
            continue;
        };
        known.question = Question::Tool {
            name: call.tool.clone(),
            payload: call.payload.clone(),
        };
        draft.state.count_call(draft.actor);
    }
    Ok(())
}

/// Claims the end of the waiting request and the start of the tool calls that waited with it.
pub(super) fn claims(request: RequestId, attempts: &[Action]) -> Claims {
    let called = attempts.iter().filter_map(Action::call);
    let claims = Claims::default().ending(Resource::Request(request));
    called.fold(claims, |claims, call| claims.using(Resource::Request(call.request)))
}

impl Act for Approve {
    fn perform(&self, draft: &mut Draft) -> Result<(), Refusal> {
        draft.forget_limit(self.request);
        carry_out(draft, self.request, &self.attempts)
    }

    fn claims(&self) -> Claims {
        claims(self.request, &self.attempts)
    }

    fn needs(&self) -> Needs<'_> {
        needs_of(&self.attempts)
    }

    fn carried_out(&self) -> &[Action] {
        &self.attempts
    }

    fn show(&self) -> String {
        listed(&self.attempts)
    }
}
