//! `yield`: a fiber lets everything go first that is on its way, and its turn commits.

use super::{Act, Claims};
use crate::model::identity::Resource;
use crate::model::identity::{FacetId, FiberId};
use crate::state::actor::FiberKind;
use crate::state::draft::Draft;
use crate::state::event::Event;
use crate::state::refusal::Refusal;
use crate::{codec_enum, codec_struct};

/// Why a fiber yields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// The program said so.
    Asked {},
    /// It has written, and what it wrote shall appear.
    Flush {},
    /// Its slice of fuel is used up.
    Slice {},
}
codec_enum!(Pause "a reason to pause" { Asked "asked" {} Flush "flush" {} Slice "slice" {} });

/// Parks a fiber until everything that is on its way has been handled; takes the continuation.
#[derive(Clone, Debug, PartialEq)]
pub struct Yield {
    /// The fiber.
    pub fiber: FiberId,
    /// How it is divided into turns.
    pub kind: FiberKind,
    /// The facet it belongs to.
    pub facet: FacetId,
    /// Why.
    pub pause: Pause,
}
codec_struct!(Yield "yield" { fiber, kind, facet, pause });

impl Act for Yield {
    fn perform(&self, draft: &mut Draft) -> Result<(), Refusal> {
        draft.park(self.fiber, self.facet, self.kind)?;
        draft.outbox.push(draft.actor, Event::Resume { fiber: self.fiber });
        Ok(())
    }

    fn claims(&self) -> Claims {
        Claims::default().using(Resource::Facet(self.facet))
    }

    fn show(&self) -> String {
        format!("{}, {:?}", self.fiber, self.pause)
    }
}
