//! `refuse`: the actor attempted something that policy does not allow. Nothing else happens; the
//! record keeps the attempts, and the verdict keeps the reason.

use super::{Act, Action, Claims};
use crate::codec_struct;
use crate::state::draft::Draft;
use crate::state::refusal::Refusal;

/// Records attempts that belong together and are not allowed.
#[derive(Clone, Debug, PartialEq)]
pub struct Refuse {
    /// The attempts.
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
