//! `send`: a value is told, once, to the watches of a facet that is named. A recipient that is gone is ignored, with the reason on record.

use super::{Act, Claims};
use crate::codec_struct;
use crate::model::identity::{ActorId, FacetId};
use crate::model::value::Fact;
use crate::state::draft::Draft;
use crate::state::event::Event;
use crate::state::refusal::Ignored;
use crate::state::refusal::Refusal;

/// Tells a value, once, to the watches of one facet of one actor.
#[derive(Clone, Debug, PartialEq)]
pub struct Send {
    /// The actor.
    pub to: ActorId,
    /// Its facet.
    pub facet: FacetId,
    /// The value.
    pub value: Fact,
    /// Why nothing is sent, if nothing is.
    pub ignored: Option<Ignored>,
}
codec_struct!(Send "send" { to, facet, value, ignored });

impl Act for Send {
    fn perform(&self, draft: &mut Draft) -> Result<(), Refusal> {
        if self.ignored.is_none() {
            draft.outbox.push(
                self.to,
                Event::Direct {
                    facet: self.facet,
                    payload: self.value.clone(),
                },
            );
        }
        Ok(())
    }

    fn claims(&self) -> Claims {
        Claims::default()
    }

    fn show(&self) -> String {
        let ignored = self
            .ignored
            .map(|reason| format!(", ignored: {reason:?}"))
            .unwrap_or_default();
        format!("{:?} to {} of {}{ignored}", self.value, self.facet, self.to)
    }
}
