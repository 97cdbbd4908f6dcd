//! The host of clients: how connections reach the thread that runs turns, and hear from it.
//!
//! INVARIANT: a client that has been let in leaves exactly once: when its connection says so, or
//! when nobody hears any more what the run tells it.
//! It does not know packets; `relay.rs` does. Read next: `../world.rs`.

use std::collections::BTreeMap;
use std::sync::Arc;

use duet_runtime::driver::Input;
use duet_runtime::model::codec::Codec;
use duet_runtime::model::identity::ActorId;
use duet_runtime::model::peer::PeerNotice;
use duet_runtime::model::value::Fact;

pub use crate::client_request::Refusal;
use crate::client_request::{ClientRequest, NewsSender};
use crate::report::{Report, Reporter};

/// A run that takes clients.
#[derive(Clone)]
pub struct Host {
    reporter: Reporter,
    identity: Arc<()>,
}

impl Host {
    pub(crate) fn new(reporter: &Reporter) -> Self {
        Self {
            reporter: reporter.clone(),
            identity: Arc::new(()),
        }
    }

    /// Says whether both are clones of one host.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.identity, &other.identity)
    }

    /// Has the run record refusals: a message that programs may observe, `<gatekeeper/refused KIND
    /// WHY COUNT>`.
    pub fn note_refusal(&self, refusal: Refusal) {
        // A run that has stopped records nothing.
        let _stopped = self.request(ClientRequest::Refused { refusal });
    }

    /// Hands a request over; false if the run has stopped.
    pub(super) fn request(&self, request: ClientRequest) -> bool {
        self.reporter.send(Report::ClientRequest(request)).is_ok()
    }
}

/// The clients of a run, on the thread that runs turns.
#[derive(Default)]
pub(crate) struct Guests {
    /// Whether clients may come, so that the run waits for them.
    pub(crate) is_open: bool,
    joining: BTreeMap<String, NewsSender>,
    peers: BTreeMap<ActorId, NewsSender>,
}

impl Guests {
    /// Makes an input of a request; none of a refusal that no record could hold.
    pub(crate) fn admit(&mut self, request: ClientRequest) -> Option<Input> {
        Some(match request {
            ClientRequest::Join {
                name,
                manifest,
                caveats,
                news_sender,
                ..
            } => {
                self.joining.insert(name.clone(), news_sender);
                Input::Join {
                    name,
                    manifest,
                    caveats,
                }
            }
            ClientRequest::Said { peer, what, .. } => Input::Said { peer, what },
            ClientRequest::Leave { peer } => {
                self.peers.remove(&peer);
                Input::Leave { peer }
            }
            ClientRequest::Refused { refusal } => {
                let Refusal { kind, why, count } = refusal;
                let value = Fact::write(|out| {
                    out.record("gatekeeper/refused", |out| {
                        out.symbol(kind);
                        why.write(out);
                        count.write(out);
                    });
                });
                let value = value.ok()?;
                Input::Tell { value, stays: false }
            }
        })
    }

    /// Tells a client something; false if it has gone without leaving.
    pub(crate) fn tell(&mut self, peer: ActorId, told: PeerNotice) -> bool {
        let news_sender = match &told {
            PeerNotice::Welcome { name, .. } => self.joining.remove(name).inspect(|news_sender| {
                self.peers.insert(peer, news_sender.clone());
            }),
            PeerNotice::Refused { name, .. } => self.joining.remove(name),
            PeerNotice::Ended { .. } => self.peers.remove(&peer),
            PeerNotice::Assert { .. }
            | PeerNotice::Retract { .. }
            | PeerNotice::Message { .. }
            | PeerNotice::Synced { .. }
            | PeerNotice::Failed { .. } => self.peers.get(&peer).cloned(),
        };
        // An effect for a client of an earlier process reaches nobody.
        let Some(news_sender) = news_sender else { return true };
        if !news_sender.tell(peer, told) {
            return self.peers.remove(&peer).is_none();
        }
        true
    }

    /// Tells everybody that the run stops.
    pub(crate) fn dismiss(&mut self) {
        for (peer, news_sender) in std::mem::take(&mut self.peers) {
            let why = "the run has stopped".to_owned();
            // Whoever has gone does not want to know.
            let _is_there = news_sender.tell(peer, PeerNotice::Ended { why });
        }
    }
}
