//! `pass`: the actor asserts, or sends or gives to a facet, through a capability whose caveats the
//! value has passed. The record shows the value after the caveats.

use std::borrow::Cow;

use super::{Act, Action, Claims, Need, Needs, needing};
use crate::capability::Authority;
use crate::codec_struct;
use crate::model::identity::{ActorId, CapabilityId};
use crate::model::manifest::Right;
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
            [Action::Give(give)] => Some(Authority::Facet {
                actor: give.to,
                facet: give.facet,
            }),
            _ => None,
        }
    }
}

impl Pass {
    /// Returns the right that whoever made the capability must have, if the capability is not for a
    /// facet of its maker.
    pub(crate) fn right_of(&self, maker: ActorId) -> Option<Need<'_>> {
        match &self.action[..] {
            [Action::Assert(assert)] => Some(Need::Value(Right::Assert, &assert.value)),
            [Action::Give(give)] if give.to != maker => Some(Need::Value(Right::Message, &give.value)),
            [Action::Send(send)] if send.to != maker => Some(Need::Value(Right::Message, &send.value)),
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
            None => claims,
        }
    }

    fn needs(&self) -> Needs<'_> {
        match self.authority() {
            Some(_) => Needs::new(),
            // The gate denies this, because no manifest names a capability value.
            None => needing(Need::Capability(Cow::Owned(self.via.to_string()))),
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
