//! `subscribe`: an object of a peer observes what a pattern matches.

use super::{Act, Claims, Need, Needs, needing, observe};
use crate::codec_struct;
use crate::dataspace::pattern::PackedPattern;
use crate::model::identity::{FacetId, Handle, ObserverId, Resource};
use crate::state::actor::{Observer, Target};
use crate::state::draft::Draft;
use crate::state::refusal::Refusal;

/// Begins to observe for an object of the acting actor's peer.
#[derive(Clone, Debug, PartialEq)]
pub struct Subscribe {
    /// The facet.
    pub facet: FacetId,
    /// The id of the observer.
    pub observer: ObserverId,
    /// The handle of the `Observe` fact.
    pub handle: Handle,
    /// The pattern.
    pub pattern: PackedPattern,
    /// The peer's number for the object.
    pub oid: u64,
}
codec_struct!(Subscribe "subscribe" { facet, observer, handle, pattern, oid });

impl Act for Subscribe {
    fn perform(&self, draft: &mut Draft) -> Result<(), Refusal> {
        let observer = Observer {
            facet: self.facet,
            handle: self.handle,
            target: Target::Peer { oid: self.oid },
            is_closing: false,
        };
        observe::begin(draft, self.observer, observer, &self.pattern).map(drop)
    }

    fn claims(&self) -> Claims {
        Claims::default()
            .using(Resource::Facet(self.facet))
            .making(Resource::Handle(self.handle))
            .making(Resource::Observer(self.observer))
    }

    fn needs(&self) -> Needs<'_> {
        needing(Need::Observe(&self.pattern))
    }

    fn show(&self) -> String {
        format!(
            "{} as {} for object {} of the peer",
            self.pattern, self.observer, self.oid
        )
    }
}
