//! `give`: an object of a peer receives a value, until the giver takes it back or ends.

use super::{Act, Claims, Need, Needs, needing};
use crate::codec_struct;
use crate::model::identity::{ActorId, FacetId, Handle, Resource};
use crate::model::manifest::Right;
use crate::model::value::Fact;
use crate::state::draft::Draft;
use crate::state::event::Event;
use crate::state::refusal::Refusal;

/// Asserts a value at an object of a peer, and nowhere else.
#[derive(Clone, Debug, PartialEq)]
pub struct Give {
    /// The actor that stands for the peer.
    pub to: ActorId,
    /// The facet that stands for its object.
    pub facet: FacetId,
    /// The handle of the assertion.
    pub handle: Handle,
    /// The value.
    pub value: Fact,
}
codec_struct!(Give "give" { to, facet, handle, value });

impl Act for Give {
    fn perform(&self, draft: &mut Draft) -> Result<(), Refusal> {
        let event = Event::Given {
            facet: self.facet,
            handle: self.handle,
            value: self.value.clone(),
        };
        draft.outbox.push(self.to, event);
        Ok(())
    }

    fn claims(&self) -> Claims {
        Claims::default().making(Resource::Handle(self.handle))
    }

    fn needs(&self) -> Needs<'_> {
        needing(Need::Value(Right::Message, &self.value))
    }

    fn show(&self) -> String {
        format!("{:?} as {} to {} of {}", self.value, self.handle, self.facet, self.to)
    }
}
