//! The seam between the runtime and what an actor runs.
//!
//! Owns the vocabulary in which a fiber is run and says how it ended, and the traits [`Runner`] and [`Programs`].
//! INVARIANT: a body is deterministic: the same tasks with the same answers from the turn lead to the same calls on the turn and the same ends,
//! and after [`Programs::abort_turn`] it is as it was at [`Programs::begin_turn`].
//! It does not know Scheme; `instance.rs` does.
//! Read next: `activation.rs`.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

use duet_journal::{Blob, BlobHash};
use preserves::IOValue;

use crate::activation::Activation;
use crate::dataspace::Captures;
use crate::dataspace::pattern::Pattern;
use crate::driver::RequestId;
use crate::event::Attached;
use crate::identity::{ActorId, Callable, FacetId, Handle};
use crate::record::{Failure, Limits};

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

/// One actor's body in the hands of its programs, for the length of a turn.
pub trait Runner {
    /// Runs a fiber until it parks or ends, within [`Activation::fuel`].
    fn run(&mut self, task: Task, turn: &mut Activation) -> End;

    /// Forgets a procedure or continuation that the runtime does not need any more.
    fn release(&mut self, callable: Callable);
}

/// A body between two turns, as data.
#[derive(Clone, Debug, PartialEq)]
pub struct Image {
    /// What names and orders the chunks.
    pub root: IOValue,
    /// The names of chunks that the root does not lead to.
    pub chunk_names: Vec<BlobHash>,
    /// The chunks; of a body that was frozen before, only those that it did not have then.
    pub chunks: Vec<Blob>,
    /// How many of their bytes need not be made up for by records: they take the place of earlier ones, or are a body's first.
    pub excused_bytes: u64,
}

/// A body's image where it is stored.
#[derive(Clone, Copy)]
pub struct Stored<'a> {
    /// What names and orders the chunks.
    pub root: &'a IOValue,
    /// The names of the chunks that the root does not lead to.
    pub chunk_names: &'a [BlobHash],
    /// Reads a chunk, whose bytes are those that the name stands for.
    pub fetch: &'a dyn Fn(&BlobHash) -> Option<Vec<u8>>,
}

/// Makes bodies for actors and runs them; shared by the actors of a run.
pub trait Programs {
    /// All that an actor's program keeps between turns.
    type Body: Send;

    /// Makes the body that will run `program` when it is given [`Task::Boot`].
    ///
    /// # Errors
    /// [`Failure`] if there is no such program or it cannot be compiled.
    fn load(&mut self, program: &IOValue, limits: &Limits) -> Result<Self::Body, Failure>;

    /// Notes the present state of a body.
    fn begin_turn(&mut self, body: &mut Self::Body);

    /// Keeps what has happened to a body since [`begin_turn`](Self::begin_turn).
    fn commit_turn(&mut self, body: &mut Self::Body);

    /// Undoes what has happened to a body since [`begin_turn`](Self::begin_turn).
    fn abort_turn(&mut self, body: &mut Self::Body);

    /// Marks the state of a body between two turns with a number greater than those before, so that it can go back there. Marks with numbers
    /// below `oldest` are not needed any more; others may be given up.
    fn mark(&mut self, body: &mut Self::Body, number: u64, oldest: u64);

    /// Takes a body back to its earliest mark that is not below `number`; without one it is as it was, because it has not run since. Says whether
    /// it could: not if that mark was given up. What it was frozen into counts no longer as stored: it may be of a branch that was given up.
    fn go_back(&mut self, body: &mut Self::Body, number: u64) -> bool;

    /// Gives up the marks of a body with numbers below `oldest`; a body for which marks cost nothing may keep them.
    fn forget_marks(&mut self, _body: &mut Self::Body, _oldest: u64) {}

    /// Reads what the next turn of a body that rests is going to read, so that the memory has it at hand by then; does nothing else.
    fn look_at(&self, _body: &Self::Body) {}

    /// Reads what [`forget_marks`](Self::forget_marks) is going to read, likewise.
    fn look_at_marks(&self, _body: &Self::Body) {}

    /// Makes a body that may not run for a while as small as it can be between two turns; it goes on as if it had not rested.
    fn rest(&mut self, _body: &mut Self::Body) {}

    /// Runs a fiber; see [`Runner::run`].
    fn run(&mut self, body: &mut Self::Body, task: Task, turn: &mut Activation) -> End;

    /// Forgets a callable; see [`Runner::release`].
    fn release(&mut self, body: &mut Self::Body, callable: Callable);

    /// Represents a body between two turns.
    ///
    /// # Errors
    /// [`FreezeError`]; the body is unchanged.
    fn freeze(&mut self, body: &mut Self::Body) -> Result<Image, FreezeError>;

    /// Makes a body of its image.
    ///
    /// # Errors
    /// [`ThawError`] if the image is damaged or its code is not there.
    fn thaw(&mut self, program: &IOValue, limits: &Limits, image: Stored<'_>) -> Result<Self::Body, ThawError>;
}

/// Programs in the hands of several runs, which use them one after the other; loading them anew for each would show nothing more.
impl<P: Programs> Programs for Rc<RefCell<P>> {
    type Body = P::Body;

    fn load(&mut self, program: &IOValue, limits: &Limits) -> Result<Self::Body, Failure> {
        self.borrow_mut().load(program, limits)
    }

    fn begin_turn(&mut self, body: &mut Self::Body) {
        self.borrow_mut().begin_turn(body);
    }

    fn commit_turn(&mut self, body: &mut Self::Body) {
        self.borrow_mut().commit_turn(body);
    }

    fn abort_turn(&mut self, body: &mut Self::Body) {
        self.borrow_mut().abort_turn(body);
    }

    fn mark(&mut self, body: &mut Self::Body, number: u64, oldest: u64) {
        self.borrow_mut().mark(body, number, oldest);
    }

    fn go_back(&mut self, body: &mut Self::Body, number: u64) -> bool {
        self.borrow_mut().go_back(body, number)
    }

    fn forget_marks(&mut self, body: &mut Self::Body, oldest: u64) {
        self.borrow_mut().forget_marks(body, oldest);
    }

    fn look_at(&self, body: &Self::Body) {
        self.borrow().look_at(body);
    }

    fn look_at_marks(&self, body: &Self::Body) {
        self.borrow().look_at_marks(body);
    }

    fn rest(&mut self, body: &mut Self::Body) {
        self.borrow_mut().rest(body);
    }

    fn run(&mut self, body: &mut Self::Body, task: Task, turn: &mut Activation) -> End {
        self.borrow_mut().run(body, task, turn)
    }

    fn release(&mut self, body: &mut Self::Body, callable: Callable) {
        self.borrow_mut().release(body, callable);
    }

    fn freeze(&mut self, body: &mut Self::Body) -> Result<Image, FreezeError> {
        self.borrow_mut().freeze(body)
    }

    fn thaw(&mut self, program: &IOValue, limits: &Limits, image: Stored<'_>) -> Result<Self::Body, ThawError> {
        self.borrow_mut().thaw(program, limits, image)
    }
}

/// A body with the programs that run it.
pub(crate) struct Bound<'a, P: Programs> {
    /// The programs.
    pub(crate) programs: &'a mut P,
    /// The body.
    pub(crate) body: &'a mut P::Body,
}

impl<P: Programs> Runner for Bound<'_, P> {
    fn run(&mut self, task: Task, turn: &mut Activation) -> End {
        self.programs.run(self.body, task, turn)
    }

    fn release(&mut self, callable: Callable) {
        self.programs.release(self.body, callable);
    }
}

/// The runner of an actor that has not been loaded, which has no procedures.
pub(crate) struct Bodiless;

impl Runner for Bodiless {
    fn run(&mut self, _task: Task, _turn: &mut Activation) -> End {
        End::Finished { is_true: false }
    }

    fn release(&mut self, _callable: Callable) {}
}

/// Says why a body cannot be represented.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FreezeError {
    /// What stands in the way.
    pub reason: String,
}

impl fmt::Display for FreezeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the actor's heap cannot be stored: {}", self.reason)
    }
}

impl std::error::Error for FreezeError {}

/// Says why an image is not one of a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThawError {
    /// What is wrong.
    pub reason: String,
    /// Whether only the code that the image counts on is missing: that of a compiler which made something else of the same text.
    pub is_code_missing: bool,
}

impl ThawError {
    /// Says that the image is damaged.
    pub fn damaged(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            is_code_missing: false,
        }
    }
}

impl fmt::Display for ThawError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the stored heap cannot be read: {}", self.reason)
    }
}

impl std::error::Error for ThawError {}
