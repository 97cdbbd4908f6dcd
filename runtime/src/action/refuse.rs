//! `refuse`: something was attempted and policy did not allow it. Nothing else happened; the record keeps the attempt, its verdict the reason.

use super::{Act, Action, Claims};
use crate::codec_struct;
use crate::state::draft::Draft;
use crate::state::refusal::Refusal;

/// Notes attempts that were made together and not allowed.
#[derive(Clone, Debug, PartialEq)]
pub struct Refuse {
    /// What was attempted.
    pub attempts: Vec<Action>,
}
codec_struct!(Refuse "refuse" { attempts });

impl Act for Refuse {
    fn perform(&self, _: &mut Draft) -> Result<(), Refusal> {
        Ok(())
    }

    fn claims(&self) -> Claims {
        Claims::default()
    }

    fn parts(&self) -> &[Action] {
        &self.attempts
    }

    fn show(&self) -> String {
        listed(&self.attempts)
    }
}

/// Lists attempts.
pub(super) fn listed(attempts: &[Action]) -> String {
    attempts.iter().map(Action::to_string).collect::<Vec<_>>().join(" and ")
}
