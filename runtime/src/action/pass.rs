//! `pass`: the actor asserts, or sends to a facet, through a capability whose caveats the value has
//! passed. The record shows the value after the caveats.

use super::{Act, Action, Claims};
use crate::capability::Authority;
use crate::codec_struct;
use crate::model::identity::CapabilityId;
use crate::state::draft::Draft;
use crate::state::refusal::Refusal;

/// Asserts or sends through a capability.
#[derive(Clone, Debug, PartialEq)]
pub struct Pass {
    /// The capability.
    pub via: CapabilityId,
    /// The action through it, exactly one.
    pub action: Vec<Action>,
}
codec_struct!(Pass "pass" { via, action });

impl Pass {
    /// Returns the authority that the capability must have; `None` if no capability permits the
    /// action.
    fn authority(&self) -> Option<Authority> {
        match &self.action[..] {
            [Action::Assert(_)] => Some(Authority::Dataspace {}),
            [Action::Send(send)] => Some(Authority::Facet {
                actor: send.to,
                facet: send.facet,
            }),
            _ => None,
        }
    }
}

impl Act for Pass {
    fn perform(&self, draft: &mut Draft) -> Result<(), Refusal> {
        let authority = self.authority().ok_or(Refusal::Unfit(self.via))?;
        draft.state.require(self.via, &authority)?;
        self.action.iter().try_for_each(|action| action.perform(draft))
    }

    fn claims(&self) -> Claims {
        let claims = self.action.first().map(Action::claims).unwrap_or_default();
        match self.authority() {
            Some(authority) => claims.going_through(self.via, authority),
            // The gate denies this claim, because no manifest names a capability value.
            None => claims.needing(format!("{}", self.via)),
        }
    }

    fn carried_out(&self) -> &[Action] {
        &self.action
    }

    fn show(&self) -> String {
        let action: Vec<String> = self.action.iter().map(Action::to_string).collect();
        format!("through {}: {}", self.via, action.join(" and "))
    }
}
