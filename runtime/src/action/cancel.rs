//! `cancel`: a guarded fiber ends before its work is done; its guard is not called.

use super::{Act, Claims};
use crate::codec_struct;
use crate::model::identity::{FiberId, Resource};
use crate::state::draft::Draft;
use crate::state::refusal::Refusal;

/// Ends a guarded fiber that is parked, with its waits.
#[derive(Clone, Debug, PartialEq)]
pub struct Cancel {
    /// The fiber.
    pub fiber: FiberId,
}
codec_struct!(Cancel "cancel" { fiber });

impl Act for Cancel {
    fn perform(&self, draft: &mut Draft) -> Result<(), Refusal> {
        let actor = draft.acting()?;
        if !actor.guards.contains_key(&self.fiber) || !actor.fibers.contains_key(&self.fiber) {
            return Err(Refusal::NoFiber(self.fiber));
        }
        draft.take_guard(self.fiber)?;
        draft.end_fiber(self.fiber)
    }

    fn claims(&self) -> Claims {
        Claims::default().ending(Resource::Fiber(self.fiber))
    }

    fn show(&self) -> String {
        self.fiber.to_string()
    }
}
