//! The tasks of a fiber, and the ways in which running it ends.
//!
//! Owns the vocabulary between a turn and the instance that runs its fibers.
//! INVARIANT: these types hold values and ids only, so they mean the same in every instance.
//! It does not run anything; `program.rs` declares who does.
//! Read next: `program.rs`.

use preserves::IOValue;

use crate::dataspace::notice::Captures;
use crate::dataspace::pattern::Pattern;
use crate::driver::Attached;
use crate::model::failure::Failure;
use crate::model::identity::{ActorId, Callable, FacetId, FiberId, Handle, RequestId};
use crate::model::manifest::Manifest;
/// A task for a fiber.
#[derive(Clone, Debug, PartialEq)]
pub enum Task {
    /// Run the actor's program from its beginning.
    Boot,
    /// Call a procedure.
    Call {
        /// The procedure, which the runtime keeps.
        procedure: Callable,
        /// Its argument, if it takes one.
        argument: Option<Argument>,
    },
    /// Call a procedure of no arguments, once; the instance releases it.
    CallOnce {
        /// The procedure.
        procedure: Callable,
    },
    /// Evaluate a text and show its values.
    Evaluate {
        /// The text.
        text: String,
        /// Sources that it may need and the run does not have.
        sources: Vec<Attached>,
    },
    /// Evaluate new definitions, and what else the person wants evaluated of a changed text.
    Patch {
        /// The number of the group of forms.
        step: usize,
    },
    /// Continue a parked computation; the instance releases the continuation.
    Resume {
        /// The rest of the computation.
        continuation: Callable,
        /// What the call that parked the fiber returns or raises.
        with: Resumption,
    },
}

/// The argument of a handler, predicate or hook.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// A match appeared.
    Added(Captures, Handle),
    /// A match disappeared.
    Removed(Captures, Handle),
    /// A message matched.
    Message(Captures),
    /// The value to be judged by a predicate.
    Value(IOValue),
    /// A guarded fiber has failed.
    Failed(Failure),
    /// An actor has ended, with this exit code and, if it failed, this failure.
    Ended(u64, Option<Failure>),
}

/// How a parked fiber continues.
#[derive(Clone, Debug, PartialEq)]
pub enum Resumption {
    /// It receives an unspecified value.
    Unspecified,
    /// A wait is over.
    Matched {
        /// The condition that holds, counted from 0.
        condition: u64,
        /// The value that satisfied it.
        value: IOValue,
    },
    /// It raises the condition that this value describes.
    Raise(IOValue),
}

/// The end of a fiber's run.
#[derive(Clone, Debug, PartialEq)]
pub enum End {
    /// The fiber returned.
    Finished {
        /// Whether its value counts as true.
        is_true: bool,
    },
    /// The fiber waits and continues later.
    Parked {
        /// The rest of its computation.
        continuation: Callable,
        /// The event that continues it.
        until: Until,
    },
    /// The fiber raised an object that nobody caught.
    Failed(Failure),
    /// The fiber ended its actor.
    Exit {
        /// The exit code.
        code: u64,
    },
}

/// The event that continues a parked fiber.
#[derive(Clone, Debug, PartialEq)]
pub enum Until {
    /// One of the conditions holds.
    Condition {
        /// The conditions.
        wanted: Vec<WaitCondition>,
        /// Whether only later facts and messages count.
        is_edge: bool,
    },
    /// All events that are already queued have been handled.
    Yielded,
    /// Another fiber of the actor wakes it.
    Woken {
        /// What that fiber will have done, for people.
        text: String,
        /// The parked fiber whose end also continues this one.
        ends: Option<FiberId>,
    },
    /// The output of the fiber has been handed over; only if
    /// [`Activation::commits_on_write`](crate::turn::activation::Activation::commits_on_write).
    Flushed,
    /// There is fuel again.
    Fuel,
    /// An actor has handled everything that this one sent it.
    Synced(ActorId),
    /// A facet has stopped, in the same turn.
    Stopped(FacetId),
}

/// A condition of a wait.
#[derive(Clone, Debug, PartialEq)]
pub enum WaitCondition {
    /// A fact or message that matches; the wait's value is the pattern's first capture.
    Matching(Pattern),
    /// The same, if the procedure accepts that value.
    Accepted(Pattern, Callable),
    /// The answer to a request.
    Answer(RequestId),
}

/// An actor to be made.
pub struct NewActor {
    /// The role that it plays.
    pub role: String,
    /// Its program.
    pub program: IOValue,
    /// The capabilities that it is granted.
    pub manifest: Manifest,
    /// The maximum size of its heap in bytes, at most that of its spawner.
    pub heap_bytes_max: Option<u64>,
    /// The maximum number of its assertions, at most that of its spawner.
    pub facts_max: Option<u64>,
    /// The facet that ends it by stopping.
    pub link: Option<FacetId>,
    /// The hook that runs in the current facet, with the actor's outcome, when it has ended.
    pub on_end: Option<Callable>,
}
