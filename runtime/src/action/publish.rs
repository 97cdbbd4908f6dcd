//! `publish`: a peer has a name of its own for an assertion, by which it retracts it. The objects
//! of the peer that the assertion mentions stay reachable as long as it is present.

use super::{Act, Claims};
use crate::codec_struct;
use crate::model::identity::{ActorId, Handle, ObserverId};
use crate::state::draft::Draft;
use crate::state::peers::Published;
use crate::state::refusal::Refusal;

/// Notes the name of an assertion of the acting actor's peer.
#[derive(Clone, Debug, PartialEq)]
pub struct Publish {
    /// The peer's name for it.
    pub name: u64,
    /// The handle of the assertion.
    pub handle: Handle,
    /// The observer, if the assertion is that it observes.
    pub observer: Option<ObserverId>,
    /// The peer at whose object it is, if it is not in the dataspace.
    pub given_to: Option<ActorId>,
    /// The objects of the peer that it mentions, each once.
    pub oids: Vec<u64>,
}
codec_struct!(Publish "publish" { name, handle, observer, given_to, oids });

impl Act for Publish {
    fn perform(&self, draft: &mut Draft) -> Result<(), Refusal> {
        let actor = draft.actor;
        let peers = &mut draft.state.peers;
        for oid in &self.oids {
            if let Some(imported) = peers.imported.get_mut(&(actor, *oid)) {
                imported.count += 1;
            }
        }
        let published = Published {
            handle: self.handle,
            observer: self.observer,
            given_to: self.given_to,
            oids: self.oids.clone(),
        };
        peers.published.insert((actor, self.name), published);
        Ok(())
    }

    fn claims(&self) -> Claims {
        Claims::default()
    }

    fn show(&self) -> String {
        format!("{} is {} of the peer", self.handle, self.name)
    }
}
