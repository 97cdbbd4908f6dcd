//! `wake`: a fiber of the acting actor goes on that has parked until another one wakes it.

use super::{Act, Claims};
use crate::codec_struct;
use crate::model::identity::FiberId;
use crate::state::draft::Draft;
use crate::state::event::Event;
use crate::state::refusal::Refusal;

/// Lets a parked fiber continue.
#[derive(Clone, Debug, PartialEq)]
pub struct Wake {
    /// The fiber.
    pub fiber: FiberId,
}
codec_struct!(Wake "wake" { fiber });

impl Act for Wake {
    fn perform(&self, draft: &mut Draft) -> Result<(), Refusal> {
        draft.outbox.push(draft.actor, Event::Resume { fiber: self.fiber });
        Ok(())
    }

    fn claims(&self) -> Claims {
        Claims::default()
    }

    fn show(&self) -> String {
        self.fiber.to_string()
    }
}
