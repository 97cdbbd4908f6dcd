//! `unpublish`: a peer's name for an assertion is free again. An object of the peer that no
//! assertion mentions any more loses its facet and its capability.

use super::{Act, Claims};
use crate::codec_struct;
use crate::state::draft::Draft;
use crate::state::event::Event;
use crate::state::refusal::Refusal;

/// Forgets the name of an assertion of the acting actor's peer.
#[derive(Clone, Debug, PartialEq)]
pub struct Unpublish {
    /// The peer's name for it.
    pub name: u64,
}
codec_struct!(Unpublish "unpublish" { name });

impl Act for Unpublish {
    fn perform(&self, draft: &mut Draft) -> Result<(), Refusal> {
        let actor = draft.actor;
        let Some(published) = draft.state.peers.published.remove(&(actor, self.name)) else {
            return Ok(());
        };
        if let Some(to) = published.given_to {
            let handle = published.handle;
            draft.outbox.push(to, Event::Taken { handle });
        }
        for oid in published.oids {
            let Some(last) = draft.state.peers.release((actor, oid)) else {
                continue;
            };
            draft.state.forget_capability(last.capability);
            let parent = draft
                .acting_mut()?
                .facets
                .remove(&last.facet)
                .and_then(|facet| facet.parent);
            if let Some(parent) = parent {
                draft.facet_mut(parent)?.children.remove(&last.facet);
            }
        }
        Ok(())
    }

    fn claims(&self) -> Claims {
        Claims::default()
    }

    fn show(&self) -> String {
        format!("{} of the peer", self.name)
    }
}
