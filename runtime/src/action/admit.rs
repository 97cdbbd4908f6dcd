//! `admit`: the actor performs postponed attempts once policy allows them.

use super::{Act, Action, Claims, Needs, listed, needs_of};
use crate::codec_struct;
use crate::model::identity::RequestId;
use crate::state::draft::Draft;
use crate::state::refusal::Refusal;

/// Performs postponed attempts.
#[derive(Clone, Debug, PartialEq)]
pub struct Admit {
    /// The id of the postponed request.
    pub request: RequestId,
    /// The attempts.
    pub attempts: Vec<Action>,
}
codec_struct!(Admit "admit" { request, attempts });

impl Act for Admit {
    fn perform(&self, draft: &mut Draft) -> Result<(), Refusal> {
        super::approve::carry_out(draft, self.request, &self.attempts)
    }

    fn claims(&self) -> Claims {
        super::approve::claims(self.request, &self.attempts)
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
