//! `revoke`: a capability, and all that were made of it, give nothing any more.

use super::{Act, Claims, Thing};
use crate::codec_struct;
use crate::draft::{Draft, Refusal};
use crate::identity::CapabilityId;

/// Takes a capability back.
#[derive(Clone, Debug, PartialEq)]
pub struct Revoke {
    /// Which one.
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
        Claims::default().using(Thing::Capability(self.capability))
    }

    fn show(&self) -> String {
        self.capability.to_string()
    }
}
