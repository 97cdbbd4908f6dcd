//! What connections want of a run, and what a run tells them.
//!
//! INVARIANT: a request that holds a place of a client gives it back when it is dropped.
//! It does not carry requests; `serve/host.rs` does. Read next: `serve/host.rs`.

use duet_runtime::model::identity::ActorId;
use duet_runtime::model::manifest::Manifest;
use duet_runtime::model::peer::{PeerEvent, PeerNotice};
use preserves::IOValue;
use tokio::sync::OwnedSemaphorePermit;
use tokio::sync::mpsc::UnboundedSender;

/// What a run tells a connection.
pub(crate) struct News {
    /// The connection's number for the way in.
    pub(crate) way: u64,
    /// The client's actor.
    pub(crate) peer: ActorId,
    pub(crate) told: PeerNotice,
}

/// The connection's end of a way into a run.
#[derive(Clone)]
pub(crate) struct NewsSender {
    /// The connection's number for it.
    pub(crate) way: u64,
    pub(crate) news: UnboundedSender<News>,
}

impl NewsSender {
    /// Tells the connection something; returns whether it is still there.
    pub(crate) fn tell(&self, peer: ActorId, told: PeerNotice) -> bool {
        let way = self.way;
        self.news.send(News { way, peer, told }).is_ok()
    }
}

/// What a connection wants of a run.
pub(crate) enum ClientRequest {
    /// To come in.
    Join {
        name: String,
        manifest: Manifest,
        caveats: Vec<IOValue>,
        news_sender: NewsSender,
        _permit: OwnedSemaphorePermit,
    },
    /// To say something. Dropping the permit, the run lets the connection send more.
    Said {
        peer: ActorId,
        what: Vec<PeerEvent>,
        _permit: OwnedSemaphorePermit,
    },
    /// To leave.
    Leave { peer: ActorId },
    /// Nothing: its reference was refused; the run hears of it.
    Refused { refusal: Refusal },
}

/// References that were refused at the gatekeeper.
pub struct Refusal {
    /// The kind of refusal: `malformed`, `forged`, `revoked`, `expired`, `denied`, or `unknown` for
    /// a run that is not hosted.
    pub kind: &'static str,
    /// Why the newest of them was refused.
    pub why: String,
    /// Their number.
    pub count: u64,
}
