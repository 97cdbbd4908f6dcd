//! `admit`: what was put off is carried out, because policy allows it now.

use super::refuse::listed;
use super::{Act, Action, Claims};
use crate::codec_struct;
use crate::model::identity::RequestId;
use crate::state::draft::Draft;
use crate::state::refusal::Refusal;

/// Carries out what was put off.
#[derive(Clone, Debug, PartialEq)]
pub struct Admit {
    /// What it was known by.
    pub request: RequestId,
    /// What was put off.
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

    fn carried_out(&self) -> &[Action] {
        &self.attempts
    }

    fn show(&self) -> String {
        listed(&self.attempts)
    }
}
