//! `yield`: a fiber parks behind everything that is in the queue, and its turn commits.

use std::fmt;

use super::{Act, Claims};
use crate::model::identity::{FacetId, FiberId, Resource};
use crate::state::actor::{FiberKind, Sleep};
use crate::state::draft::Draft;
use crate::state::event::Event;
use crate::state::refusal::Refusal;
use crate::{codec_enum, codec_struct};

/// Why a fiber yields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pause {
    /// The program asked for it.
    Asked {},
    /// The fiber has written, and its output must appear.
    Flush {},
    /// The fiber has used its slice of fuel.
    Slice {},
    /// The fiber waits until another one wakes it.
    Sleep {
        /// What that other fiber will have done, for people.
        until: String,
    },
    /// The fiber waits until another one wakes it, or until a parked one has ended.
    Follow {
        /// What that other fiber will have done, for people.
        until: String,
        /// The parked fiber.
        ends: FiberId,
    },
}
codec_enum!(Pause "a reason to pause" {
    Asked "asked" {} Flush "flush" {} Slice "slice" {} Sleep "sleep" { until } Follow "follow" { until, ends }
});

impl fmt::Display for Pause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Asked {} => f.write_str("until the queue is empty"),
            Self::Flush {} => f.write_str("until its output is shown"),
            Self::Slice {} => f.write_str("at the end of its slice of fuel"),
            Self::Sleep { until } => write!(f, "until {until}"),
            Self::Follow { until, ends } => write!(f, "until {until} or {ends} has ended"),
        }
    }
}

/// Parks a fiber until the actors have handled everything in the queue, or until another fiber
/// wakes it; takes the continuation.
#[derive(Clone, Debug, PartialEq)]
pub struct Yield {
    /// The fiber.
    pub fiber: FiberId,
    /// How the fiber's work is divided into turns.
    pub kind: FiberKind,
    /// The facet it belongs to.
    pub facet: FacetId,
    /// The reason.
    pub pause: Pause,
}
codec_struct!(Yield "yield" { fiber, kind, facet, pause });

impl Act for Yield {
    fn perform(&self, draft: &mut Draft) -> Result<(), Refusal> {
        draft.park(self.fiber, self.facet, self.kind)?;
        let (until, ends) = match &self.pause {
            Pause::Sleep { until } => (until, None),
            Pause::Follow { until, ends } => (until, Some(*ends)),
            Pause::Asked {} | Pause::Flush {} | Pause::Slice {} => {
                draft.outbox.push(draft.actor, Event::Resume { fiber: self.fiber });
                return Ok(());
            }
        };
        let actor = draft.acting_mut()?;
        if let Some(fiber) = actor.fibers.get_mut(&self.fiber) {
            let until = until.as_str().into();
            fiber.sleep = Some(Box::new(Sleep { until, follows: ends }));
        }
        if let Some(followed) = ends {
            actor.followers.insert((followed, self.fiber));
        }
        Ok(())
    }

    fn claims(&self) -> Claims {
        Claims::default().using(Resource::Facet(self.facet))
    }

    fn show(&self) -> String {
        format!("{} {}", self.fiber, self.pause)
    }
}
