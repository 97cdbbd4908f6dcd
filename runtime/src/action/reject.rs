//! `reject`: the actor drops a proposal. Waits for the tools that it called receive the reason.

use preserves::IOValue;

use super::{Act, Claims};
use crate::codec_struct;
use crate::model::codec::{Codec, record};
use crate::model::identity::{RequestId, Resource};
use crate::state::draft::Draft;
use crate::state::refusal::Refusal;

impl Reject {
    /// Represents the reason as the answer of a tool.
    pub fn fault(&self) -> IOValue {
        let details = vec![IOValue::symbol(self.code.clone())];
        record(
            "tool-failed",
            vec![IOValue::symbol("policy-denied"), self.reason.encode(), details.encode()],
        )
    }
}

/// Drops a proposal.
#[derive(Clone, Debug, PartialEq)]
pub struct Reject {
    /// The request with the answer.
    pub request: RequestId,
    /// The tool calls, whose answer is the reason.
    pub calls: Vec<RequestId>,
    /// The code of the reason.
    pub code: String,
    /// The reason, for people.
    pub reason: String,
}
codec_struct!(Reject "reject" { request, calls, code, reason });

impl Act for Reject {
    fn perform(&self, draft: &mut Draft) -> Result<(), Refusal> {
        draft.forget_limit(self.request);
        draft.forget_request(self.request);
        for call in &self.calls {
            let known = draft.state.requests.get_mut(call).ok_or(Refusal::NoRequest(*call))?;
            known.answer = Some(Err(self.fault()));
        }
        Ok(())
    }

    fn claims(&self) -> Claims {
        let claims = Claims::default().ending(Resource::Request(self.request));
        self.calls
            .iter()
            .fold(claims, |claims, call| claims.using(Resource::Request(*call)))
    }

    fn show(&self) -> String {
        format!("{}, {}: {}", self.request, self.code, self.reason)
    }
}
