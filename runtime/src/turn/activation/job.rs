//! The steps of a turn in progress, and why one must be undone.
//!
//! INVARIANT: a fiber knows the event that made it run, so that a failure can be traced to an event
//! of the turn.
//! It runs nothing; `../activation.rs` does.
//! Read next: `../activation.rs`.

use crate::model::failure::Failure;
use crate::model::identity::{FacetId, FiberId};
use crate::state::actor::FiberKind;
use crate::state::event::Event;
use crate::turn::task::Task;

/// Why a turn must be undone.
pub(crate) struct Fault {
    /// The failure for the record.
    pub(crate) failure: Failure,
    /// The position of the event that led to it; `None` if the turn failed as a whole.
    pub(crate) event: Option<u64>,
}

impl From<Failure> for Fault {
    fn from(failure: Failure) -> Self {
        Self { failure, event: None }
    }
}

/// A fiber that runs.
#[derive(Clone, Copy)]
pub(super) struct Current {
    pub(super) fiber: FiberId,
    pub(super) facet: FacetId,
    pub(super) kind: FiberKind,
    /// The position of the event that made it run.
    pub(super) event: u64,
}

/// A step of a turn.
pub(super) enum Job {
    Deliver {
        position: u64,
        event: Event,
    },
    Run {
        fiber: Current,
        task: Task,
    },
    /// Stops a facet, one step at a time.
    Stop(FacetId),
    Exit {
        code: u64,
    },
}
