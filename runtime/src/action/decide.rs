//! `decide`: a program answers a proposal in place of a person. The proposer receives the answer as
//! if the person had given it.

use preserves::IOValue;

use super::{Act, Claims, Need, Needs, needing};
use crate::codec_struct;
use crate::model::identity::{ActorId, RequestId};
use crate::state::draft::Draft;
use crate::state::event::Event;
use crate::state::refusal::Refusal;

/// The capability to approve proposals, others' or the program's own.
pub const CAPABILITY: &str = "policy/approve";

/// Answers a proposal.
#[derive(Clone, Debug, PartialEq)]
pub struct Decide {
    /// The actor that proposed.
    pub to: ActorId,
    /// The question.
    pub request: RequestId,
    /// True, or the reason for the rejection.
    pub answer: IOValue,
}
codec_struct!(Decide "decide" { to, request, answer });

impl Act for Decide {
    fn perform(&self, draft: &mut Draft) -> Result<(), Refusal> {
        let outcome = Ok(self.answer.clone());
        draft.outbox.push(
            self.to,
            Event::Answered {
                request: self.request,
                outcome,
            },
        );
        draft.outbox.withdrawn.push(self.request);
        Ok(())
    }

    fn claims(&self) -> Claims {
        Claims::default()
    }

    fn needs(&self) -> Needs<'_> {
        needing(Need::of(CAPABILITY))
    }

    fn show(&self) -> String {
        format!("{} of {} with {:?}", self.request, self.to, self.answer)
    }
}
