//! `welcome`: the turn makes an actor that stands for a peer, with a capability for the dataspace.
//! The actor runs no program: its turns hand events on, in both directions.

use super::{Act, Claims, Need, Needs, needing};
use crate::capability::{Authority, Capability, Caveat};
use crate::codec_struct;
use crate::driver::EffectKind;
use crate::model::codec::{Codec, record};
use crate::model::identity::{ActorId, CapabilityId, FacetId, RequestId, Resource};
use crate::model::manifest::Manifest;
use crate::model::peer::PeerNotice;
use crate::model::value::Fact;
use crate::state::actor::Actor;
use crate::state::draft::Draft;
use crate::state::refusal::Refusal;

/// Lets a peer in.
#[derive(Clone, Debug, PartialEq)]
pub struct Welcome {
    /// The id of the effect that tells the peer.
    pub request: RequestId,
    /// The id of the actor.
    pub actor: ActorId,
    /// Its root facet.
    pub root: FacetId,
    /// The name under which the peer comes.
    pub name: String,
    /// Its rights: at most those of the acting actor.
    pub manifest: Manifest,
    /// The id of the capability for the dataspace, which belongs to the new actor.
    pub capability: CapabilityId,
    /// The caveats of the capability, the newest last.
    pub caveats: Vec<Caveat>,
}
codec_struct!(Welcome "welcome" { request, actor, root, name, manifest, capability, caveats });

impl Act for Welcome {
    fn perform(&self, draft: &mut Draft) -> Result<(), Refusal> {
        let program = Fact::new(record("peer", vec![self.name.encode()]))?;
        let mut actor = Actor::new(Some(program), self.manifest.clone(), None, self.root);
        actor.role = Some(self.name.as_str().into());
        draft.state.actors.insert(self.actor, actor);
        let capability = Capability {
            owner: self.actor,
            from: Authority::Dataspace {},
            caveats: self.caveats.clone(),
            is_revoked: false,
        };
        draft.state.add_capability(self.capability, capability);
        Ok(())
    }

    fn claims(&self) -> Claims {
        Claims::default()
            .making(Resource::Actor(self.actor))
            .making(Resource::Facet(self.root))
            .making(Resource::Capability(self.capability))
    }

    fn needs(&self) -> Needs<'_> {
        needing(Need::Manifest(&self.manifest))
    }

    fn effect(&self) -> Option<(RequestId, EffectKind)> {
        let told = PeerNotice::Welcome {
            name: self.name.clone(),
            capability: self.capability,
        };
        Some((self.request, EffectKind::Peer { peer: self.actor, told }))
    }

    fn show(&self) -> String {
        let rights: Vec<String> = self.manifest.grants_shown().collect();
        let caveats = match self.caveats.len() {
            0 => String::new(),
            1 => ", with 1 caveat".to_owned(),
            count => format!(", with {count} caveats"),
        };
        format!("{} as {}, who has {}{caveats}", self.name, self.actor, rights.join(" "))
    }
}
