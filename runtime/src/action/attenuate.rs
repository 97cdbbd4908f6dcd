//! `attenuate`: the actor makes a capability from a right in its manifest or from another
//! capability, narrowed by caveats.

use super::{Act, Claims, Need, Needs, needing};
use crate::capability::{Authority, CHAIN_MAX, Capability, Caveat};
use crate::codec_struct;
use crate::model::identity::{CapabilityId, Resource};
use crate::model::manifest::Right;
use crate::state::draft::Draft;
use crate::state::refusal::Refusal;

/// Makes a capability.
#[derive(Clone, Debug, PartialEq)]
pub struct Attenuate {
    /// The id of the capability.
    pub capability: CapabilityId,
    /// Its right before its caveats.
    pub from: Authority,
    /// Its caveats, the newest last.
    pub caveats: Vec<Caveat>,
}
codec_struct!(Attenuate "attenuate" { capability, from, caveats });

impl Act for Attenuate {
    fn perform(&self, draft: &mut Draft) -> Result<(), Refusal> {
        if let Authority::Capability { capability } = self.from {
            let chain = draft
                .state
                .chain(capability)
                .map_err(|_| Refusal::Revoked(capability))?;
            if chain.len() >= CHAIN_MAX {
                return Err(Refusal::TooNarrow(capability));
            }
        }
        let made = Capability {
            owner: draft.acting().map(|_| draft.actor)?,
            from: self.from.clone(),
            caveats: self.caveats.clone(),
            is_revoked: false,
        };
        draft.state.add_capability(self.capability, made);
        Ok(())
    }

    fn claims(&self) -> Claims {
        let claims = Claims::default()
            .making(Resource::Capability(self.capability))
            .conveying(self.capability, self.from.clone());
        match &self.from {
            Authority::Capability { capability } => claims.going_through(*capability, self.from.clone()),
            Authority::Tool { .. } | Authority::Dataspace {} | Authority::Facet { .. } => claims,
        }
    }

    fn needs(&self) -> Needs<'_> {
        match &self.from {
            Authority::Tool { name } => needing(Need::of(name)),
            Authority::Dataspace {} => needing(Need::Some(Right::Assert)),
            Authority::Facet { actor, .. } => needing(Need::Reach(*actor)),
            Authority::Capability { .. } => Needs::new(),
        }
    }

    fn show(&self) -> String {
        let caveats = match self.caveats.len() {
            0 => String::new(),
            1 => ", with 1 caveat".to_owned(),
            count => format!(", with {count} caveats"),
        };
        format!("{} for {}{caveats}", self.capability, self.from)
    }
}
