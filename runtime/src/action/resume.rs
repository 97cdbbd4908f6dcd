//! `resume`: a wait ends because one of its conditions holds. The action ends its
//! observers and removes a consumed answer; its fiber runs.

use super::{Act, Claims};
use crate::codec_struct;
use crate::model::identity::{Resource, WaitId};
use crate::state::actor::Condition;
use crate::state::draft::Draft;
use crate::state::refusal::Refusal;

/// Ends a wait, because one of its conditions holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Resume {
    /// The wait.
    pub wait: WaitId,
    /// The index of the condition that holds, from 0.
    pub condition: u64,
}
codec_struct!(Resume "resume" { wait, condition });

impl Act for Resume {
    fn perform(&self, draft: &mut Draft) -> Result<(), Refusal> {
        let wait = draft.end_wait(self.wait)?;
        for (position, condition) in (0..).zip(wait.conditions.iter()) {
            if let Condition::Answer { request } = condition {
                // This also withdraws a question or timer that lost the race; a tool's result
                // stays, because another wait may still need it.
                let known = draft.state.requests.get(request);
                let is_done_with = known.is_some_and(|known| known.question.is_withdrawable());
                let is_awaited = draft.acting()?.waits_for(*request).next().is_some();
                if !is_awaited && (position == self.condition || is_done_with) {
                    draft.forget_request(*request);
                }
            }
        }
        Ok(())
    }

    fn claims(&self) -> Claims {
        Claims::default().ending(Resource::Wait(self.wait))
    }

    fn show(&self) -> String {
        format!("{}, condition {} holds", self.wait, self.condition)
    }
}
