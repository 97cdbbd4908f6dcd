//! `decide`: a program answers a proposal in the place of a person. The proposer is told as if the person had answered.

use preserves::IOValue;

use super::{Act, Claims};
use crate::codec_struct;
use crate::model::identity::ActorId;
use crate::model::identity::RequestId;
use crate::state::draft::Draft;
use crate::state::event::Event;
use crate::state::refusal::Refusal;

/// The capability to approve what others, or the program itself, propose.
pub const CAPABILITY: &str = "policy/approve";

/// Answers a proposal.
#[derive(Clone, Debug, PartialEq)]
pub struct Decide {
    /// Who proposed.
    pub to: ActorId,
    /// The question.
    pub request: RequestId,
    /// True, or the reason why not.
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
        Claims::default().needing(CAPABILITY)
    }

    fn show(&self) -> String {
        format!("{} of {} with {:?}", self.request, self.to, self.answer)
    }
}
