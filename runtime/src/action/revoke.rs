//! `revoke`: a capability, and all that were made from it, give nothing any more.

use super::{Act, Claims};
use crate::codec_struct;
use crate::model::identity::{CapabilityId, Resource};
use crate::state::draft::Draft;
use crate::state::refusal::Refusal;

/// Revokes a capability.
#[derive(Clone, Debug, PartialEq)]
pub struct Revoke {
    /// The capability.
    pub capability: CapabilityId,
}
codec_struct!(Revoke "revoke" { capability });

impl Act for Revoke {
    fn perform(&self, draft: &mut Draft) -> Result<(), Refusal> {
        let actor = draft.actor;
        let known = draft.state.capabilities.get_mut(&self.capability);
        let own = known.filter(|known| known.owner == actor);
        own.ok_or(Refusal::NotOwner(self.capability))?.is_revoked = true;
        Ok(())
    }

    fn claims(&self) -> Claims {
        Claims::default().using(Resource::Capability(self.capability))
    }

    fn show(&self) -> String {
        self.capability.to_string()
    }
}
