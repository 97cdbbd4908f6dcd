//! `reject`: what was proposed will not be. Whoever waits for a tool that was called is told why.

use preserves::IOValue;

use super::{Act, Claims, Thing};
use crate::codec::{Codec, record};
use crate::codec_struct;
use crate::draft::{Draft, Refusal};
use crate::driver::RequestId;

impl Reject {
    /// Describes the reason to whoever waits for a tool.
    pub fn fault(&self) -> IOValue {
        let details = vec![IOValue::symbol(self.code.clone())];
        record(
            "tool-failed",
            vec![IOValue::symbol("policy-denied"), self.reason.encode(), details.encode()],
        )
    }
}

/// Gives a proposal up.
#[derive(Clone, Debug, PartialEq)]
pub struct Reject {
    /// The question that was answered.
    pub request: RequestId,
    /// The tools that were called, which are answered by the reason.
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
        let claims = Claims::default().ending(Thing::Request(self.request));
        self.calls
            .iter()
            .fold(claims, |claims, call| claims.using(Thing::Request(*call)))
    }

    fn show(&self) -> String {
        format!("{}, {}: {}", self.request, self.code, self.reason)
    }
}
