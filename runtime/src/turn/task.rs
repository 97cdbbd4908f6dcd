//! What a fiber is to do, and how running it ends.
//!
//! Owns the vocabulary between a turn and the instance that runs its fibers.
//! INVARIANT: these types hold values and ids only, so they mean the same in every instance.
//! It does not run anything; `program.rs` says who does.
//! Read next: `program.rs`.

use preserves::IOValue;

use crate::dataspace::notice::Captures;
use crate::dataspace::pattern::Pattern;
use crate::driver::Attached;
use crate::model::failure::Failure;
use crate::model::identity::ActorId;
use crate::model::identity::Callable;
use crate::model::identity::FacetId;
use crate::model::identity::Handle;
use crate::model::identity::RequestId;
use crate::model::manifest::Manifest;
/// What a fiber is to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Task {
    /// Run the actor's program from its beginning.
    Boot,
    /// Call a procedure.
    Call {
        /// The procedure; stays the runtime's.
        procedure: Callable,
        /// Its argument, if it takes one.
        argument: Option<Argument>,
    },
    /// Call a procedure of no arguments, once: the body takes it back.
    CallOnce {
        /// The procedure.
        procedure: Callable,
    },
    /// Evaluate a text and show what it comes to.
    Evaluate {
        /// The text.
        text: String,
        /// What it may need and the run does not have.
        sources: Vec<Attached>,
    },
    /// Go on where it parked; the body takes the continuation back.
    Resume {
        /// The rest of the computation.
        continuation: Callable,
        /// What the call that parked it returns or raises.
        with: Resumption,
    },
}

/// What a handler or predicate is called with.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// A match appeared.
    Added(Captures, Handle),
    /// A match disappeared.
    Removed(Captures, Handle),
    /// A message matched.
    Message(Captures),
    /// The value that a predicate is to judge.
    Value(IOValue),
    /// An actor has ended: its exit code, and how it failed, if it did.
    Ended(u64, Option<Failure>),
}

/// How a parked fiber goes on.
#[derive(Clone, Debug, PartialEq)]
pub enum Resumption {
    /// Nothing in particular is returned.
    Unspecified,
    /// A wait is over.
    Matched {
        /// Which of its conditions holds, counted from 0.
        condition: u64,
        /// What made it hold.
        value: IOValue,
    },
    /// A condition is raised, given as a value that describes it.
    Raise(IOValue),
}

/// How running a fiber ended.
#[derive(Clone, Debug, PartialEq)]
pub enum End {
    /// It has returned.
    Finished {
        /// Whether what it returned counts as true.
        is_true: bool,
    },
    /// It goes on later.
    Parked {
        /// The rest of its computation.
        continuation: Callable,
        /// When.
        until: Until,
    },
    /// It raised something that nobody caught.
    Failed(Failure),
    /// It ended its actor.
    Exit {
        /// The exit code.
        code: u64,
    },
}

/// When a parked fiber goes on.
#[derive(Clone, Debug, PartialEq)]
pub enum Until {
    /// When one of the conditions holds.
    Condition {
        /// The conditions.
        wanted: Vec<Wanted>,
        /// Whether only what comes later counts.
        is_edge: bool,
    },
    /// When everything on its way has been handled.
    Yielded,
    /// When what it wrote has been handed over; only if [`Activation::commits_on_write`].
    Flushed,
    /// When there is fuel again.
    Fuel,
    /// When an actor has handled what this one sent it.
    Synced(ActorId),
    /// When a facet has stopped, in the same turn.
    Stopped(FacetId),
}

/// A condition of a wait.
#[derive(Clone, Debug, PartialEq)]
pub enum Wanted {
    /// A fact or message that matches; the wait's value is the pattern's first capture.
    Matching(Pattern),
    /// The same, if the procedure accepts that value.
    Accepted(Pattern, Callable),
    /// The answer to a request.
    Answer(RequestId),
}

/// An actor to be made.
pub struct Newborn {
    /// What it runs.
    pub program: IOValue,
    /// What it may do.
    pub manifest: Manifest,
    /// The facet with which it ends.
    pub link: Option<FacetId>,
    /// What is called in the current facet, with what became of it, when it has ended.
    pub on_end: Option<Callable>,
}
