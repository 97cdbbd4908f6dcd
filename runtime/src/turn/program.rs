//! The seam between the runtime and what an actor runs.
//!
//! Owns the vocabulary in which a fiber is run and says how it ended, and the traits [`Runner`] and [`Programs`].
//! INVARIANT: a body is deterministic: the same tasks with the same answers from the turn lead to the same calls on the turn and the same ends,
//! and after [`Programs::abort_turn`] it is as it was at [`Programs::begin_turn`].
//! It does not know Scheme; `instance.rs` does.
//! Read next: `activation.rs`.

use std::cell::RefCell;
use std::rc::Rc;

use preserves::IOValue;

use crate::model::failure::Failure;
use crate::model::identity::Callable;
use crate::model::limits::Limits;
use crate::turn::activation::Activation;
use crate::turn::image::FreezeError;
use crate::turn::image::Image;
use crate::turn::image::Stored;
use crate::turn::image::ThawError;
use crate::turn::task::End;
use crate::turn::task::Task;

/// One actor's body in the hands of its programs, for the length of a turn.
pub trait Runner {
    /// Runs a fiber until it parks or ends, within [`Activation::fuel`].
    fn run(&mut self, task: Task, turn: &mut Activation) -> End;

    /// Forgets a procedure or continuation that the runtime does not need any more.
    fn release(&mut self, callable: Callable);
}

/// Makes bodies for actors and runs them; shared by the actors of a run.
pub trait Programs {
    /// All that an actor's program keeps between turns.
    type Instance: Send;

    /// Makes the body that will run `program` when it is given [`Task::Boot`].
    ///
    /// # Errors
    /// [`Failure`] if there is no such program or it cannot be compiled.
    fn load(&mut self, program: &IOValue, limits: &Limits) -> Result<Self::Instance, Failure>;

    /// Notes the present state of a body.
    fn begin_turn(&mut self, body: &mut Self::Instance);

    /// Keeps what has happened to a body since [`begin_turn`](Self::begin_turn).
    fn commit_turn(&mut self, body: &mut Self::Instance);

    /// Undoes what has happened to a body since [`begin_turn`](Self::begin_turn).
    fn abort_turn(&mut self, body: &mut Self::Instance);

    /// Savepoints the state of a body between two turns with a number greater than those before, so that it can go back there. Savepoints with numbers
    /// below `oldest` are not needed any more; others may be given up.
    fn make_savepoint(&mut self, body: &mut Self::Instance, number: u64, oldest: u64);

    /// Takes a body back to its earliest mark that is not below `number`; without one it is as it was, because it has not run since. Says whether
    /// it could: not if that mark was given up. What it was frozen into counts no longer as stored: it may be of a branch that was given up.
    fn restore_savepoint(&mut self, body: &mut Self::Instance, number: u64) -> bool;

    /// Gives up the marks of a body with numbers below `oldest`; a body for which marks cost nothing may keep them.
    fn drop_savepoints(&mut self, _body: &mut Self::Instance, _oldest: u64) {}

    /// Makes a body that may not run for a while as small as it can be between two turns; it goes on as if it had not rested.
    fn compact(&mut self, _body: &mut Self::Instance) {}

    /// Runs a fiber; see [`Runner::run`].
    fn run(&mut self, body: &mut Self::Instance, task: Task, turn: &mut Activation) -> End;

    /// Forgets a callable; see [`Runner::release`].
    fn release(&mut self, body: &mut Self::Instance, callable: Callable);

    /// Represents a body between two turns.
    ///
    /// # Errors
    /// [`FreezeError`]; the body is unchanged.
    fn freeze(&mut self, body: &mut Self::Instance) -> Result<Image, FreezeError>;

    /// Makes a body of its image.
    ///
    /// # Errors
    /// [`ThawError`] if the image is damaged or its code is not there.
    fn thaw(&mut self, program: &IOValue, limits: &Limits, image: Stored<'_>) -> Result<Self::Instance, ThawError>;
}

/// Programs in the hands of several runs, which use them one after the other; loading them anew for each would show nothing more.
impl<P: Programs> Programs for Rc<RefCell<P>> {
    type Instance = P::Instance;

    fn load(&mut self, program: &IOValue, limits: &Limits) -> Result<Self::Instance, Failure> {
        self.borrow_mut().load(program, limits)
    }

    fn begin_turn(&mut self, body: &mut Self::Instance) {
        self.borrow_mut().begin_turn(body);
    }

    fn commit_turn(&mut self, body: &mut Self::Instance) {
        self.borrow_mut().commit_turn(body);
    }

    fn abort_turn(&mut self, body: &mut Self::Instance) {
        self.borrow_mut().abort_turn(body);
    }

    fn make_savepoint(&mut self, body: &mut Self::Instance, number: u64, oldest: u64) {
        self.borrow_mut().make_savepoint(body, number, oldest);
    }

    fn restore_savepoint(&mut self, body: &mut Self::Instance, number: u64) -> bool {
        self.borrow_mut().restore_savepoint(body, number)
    }

    fn drop_savepoints(&mut self, body: &mut Self::Instance, oldest: u64) {
        self.borrow_mut().drop_savepoints(body, oldest);
    }

    fn compact(&mut self, body: &mut Self::Instance) {
        self.borrow_mut().compact(body);
    }

    fn run(&mut self, body: &mut Self::Instance, task: Task, turn: &mut Activation) -> End {
        self.borrow_mut().run(body, task, turn)
    }

    fn release(&mut self, body: &mut Self::Instance, callable: Callable) {
        self.borrow_mut().release(body, callable);
    }

    fn freeze(&mut self, body: &mut Self::Instance) -> Result<Image, FreezeError> {
        self.borrow_mut().freeze(body)
    }

    fn thaw(&mut self, program: &IOValue, limits: &Limits, image: Stored<'_>) -> Result<Self::Instance, ThawError> {
        self.borrow_mut().thaw(program, limits, image)
    }
}

/// A body with the programs that run it.
pub(crate) struct Bound<'a, P: Programs> {
    /// The programs.
    pub(crate) programs: &'a mut P,
    /// The body.
    pub(crate) body: &'a mut P::Instance,
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
pub(crate) struct NoInstance;

impl Runner for NoInstance {
    fn run(&mut self, _task: Task, _turn: &mut Activation) -> End {
        End::Finished { is_true: false }
    }

    fn release(&mut self, _callable: Callable) {}
}
