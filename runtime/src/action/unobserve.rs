//! `unobserve`: a watch ends. Its handler still receives the removal of each current match, and
//! then nothing more.

use super::{Act, Claims};
use crate::codec_struct;
use crate::model::identity::{ObserverId, Resource};
use crate::state::draft::Draft;
use crate::state::event::Event;
use crate::state::refusal::Refusal;

/// Ends a watch.
#[derive(Clone, Debug, PartialEq)]
pub struct Unobserve {
    /// The watch.
    pub observer: ObserverId,
}
codec_struct!(Unobserve "unobserve" { observer });

impl Act for Unobserve {
    fn perform(&self, draft: &mut Draft) -> Result<(), Refusal> {
        let id = self.observer;
        let actor = draft.acting_mut()?;
        let observer = actor
            .observers
            .get_mut(&id)
            .filter(|observer| !observer.is_closing)
            .ok_or(Refusal::NoObserver(id))?;
        observer.is_closing = true;
        let handle = observer.handle;
        draft.state.release(handle, &mut draft.outbox);
        draft.outbox.push(draft.actor, Event::Closed { observer: id });
        Ok(())
    }

    fn claims(&self) -> Claims {
        Claims::default().ending(Resource::Observer(self.observer))
    }

    fn show(&self) -> String {
        self.observer.to_string()
    }
}
