//! `relay`: the peer hears of a match, a message, or an answer, once the turn is durable.

use super::{Act, Claims};
use crate::codec_struct;
use crate::driver::EffectKind;
use crate::model::identity::{ActorId, RequestId};
use crate::model::peer::PeerNotice;
use crate::state::draft::Draft;
use crate::state::refusal::Refusal;

/// Tells a peer something.
#[derive(Clone, Debug, PartialEq)]
pub struct Relay {
    /// The id of the effect.
    pub request: RequestId,
    /// The actor that stands for the peer.
    pub peer: ActorId,
    /// The event.
    pub told: PeerNotice,
}
codec_struct!(Relay "relay" { request, peer, told });

impl Act for Relay {
    fn perform(&self, _draft: &mut Draft) -> Result<(), Refusal> {
        Ok(())
    }

    fn claims(&self) -> Claims {
        Claims::default()
    }

    fn effect(&self) -> Option<(RequestId, EffectKind)> {
        let (peer, told) = (self.peer, self.told.clone());
        Some((self.request, EffectKind::Peer { peer, told }))
    }

    fn show(&self) -> String {
        match &self.told {
            PeerNotice::Welcome { name, capability } => format!("{name} may act through {capability}"),
            PeerNotice::Refused { name, why } => format!("{name} may not come in: {why}"),
            PeerNotice::Assert { oid, value, handle, .. } => {
                format!("{value:?} as {handle} to object {oid} of the peer")
            }
            PeerNotice::Retract { handle, .. } => format!("{handle} has gone"),
            PeerNotice::Message { oid, value } => format!("{value:?} to object {oid} of the peer"),
            PeerNotice::Failed { turn, kind } => {
                format!("what the peer said made turn {} fail: {kind}", turn.number())
            }
            PeerNotice::Ended { why } => format!("the peer has to go: {why}"),
            PeerNotice::Synced { oid } => format!("object {oid} of the peer: everything before has been handled"),
        }
    }
}
