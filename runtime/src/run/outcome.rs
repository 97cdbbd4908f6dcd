//! How a run ends, or why it stands still.
//!
//! INVARIANT: the outcome is a function of the run's state.
//! It does not find the outcome; `resting.rs` does. Read next: `resting.rs`.

use crate::model::identity::RequestId;

/// Why [`Run::drive`](crate::run::Run::drive) returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DriveOutcome {
    /// The run is over: the main program ended it, or nothing can happen any more.
    Ended {
        /// The exit code; 1 instead of 0 if a failure is left that no actor took.
        code: u64,
    },
    /// Only a person's answer can continue the run.
    Asking {
        /// The open questions.
        questions: Vec<RequestId>,
    },
    /// Fibers wait for facts or messages that only somebody outside can give.
    Waiting {
        /// The number of all fibers.
        fibers: usize,
    },
    /// Fibers wait for something that can no longer happen.
    Stuck {
        /// The number of these fibers.
        fibers: usize,
    },
    /// The person interrupted the run; it can be resumed.
    Interrupted,
}

/// The result of [`Run::advance`](crate::run::Run::advance).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advance {
    /// The run took a turn, which may not be durable yet.
    Turn,
    /// There is nothing to do until an input arrives; everything is durable.
    Idle,
    /// The main program has ended the run.
    Ended {
        /// Its exit code.
        code: u64,
    },
    /// The person interrupts the run.
    Interrupted,
}
