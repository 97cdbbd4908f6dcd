//! The course of one seed: a run, its store and its world, to which operations are applied.
//!
//! Owns the comparison: after each operation the state of the living run must equal that of a run
//! restored from the journal, from its beginning and from its newest snapshot, by two independently
//! compiled copies of the program.
//! INVARIANT: between two operations every turn is durable, and its effects have reached the world.
//! Read next: `course/history.rs`, moves between turns and branches.

mod changing;
mod comparison;
mod history;
mod outside;

use std::collections::BTreeMap;
use std::fmt;

use duet_journal::store::memory::Loss;
use duet_journal::{Blob, BranchName, Record, RunId, Sequence, StoreError, Tip};
use duet_runtime::driver::Input;
use duet_runtime::model::limits::Limits;
use duet_runtime::model::manifest::Manifest;
use duet_runtime::record::{Genesis, Outcome as TurnOutcome};
use duet_runtime::run::error::RunError;
use duet_runtime::run::inflight::Recovery;
use duet_runtime::run::replay::Snapshots;
use duet_runtime::run::snapshot::SnapshotPolicy;
use duet_runtime::run::source::{BranchClaim, Source, decode_turn};
use duet_runtime::run::{Run, Start, Step};
use duet_runtime::scheme::Program;

use super::medium::Medium;
use super::operation::{Opening, Operation, granting};
use super::programs::{self, Shared};
use super::world::{World, WorldError};
use super::{Setting, Ways};
use crate::history::moves::Moves;

/// What went wrong.
#[derive(Debug)]
pub(crate) enum Difference {
    /// The living run is not what its journal says.
    State {
        /// From where the other run was made.
        from: Snapshots,
        /// Which part of it differs.
        part: String,
    },
    /// The journal does not lead to what is recorded in it.
    Replay {
        /// From where.
        from: Snapshots,
        /// How it failed.
        error: RunError,
    },
    /// The run could not go on.
    Run(RunError),
    /// The store has another head than it has acknowledged.
    Head {
        /// The head that it has acknowledged.
        acknowledged: Option<Tip>,
        /// The head that it has.
        found: Option<Tip>,
    },
    /// The world was made to act again, or could not act.
    World(WorldError),
    /// A body cannot be looked at.
    Unreadable(String),
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let source = |from: &Snapshots| match from {
            Snapshots::Use => "its newest snapshot",
            Snapshots::Ignore => "its beginning",
        };
        match self {
            Self::State { from, part } => write!(f, "the run differs from one made from {} in {part}", source(from)),
            Self::Replay { from, error } => {
                write!(f, "the run cannot be made from {}: {error} ({error:?})", source(from))
            }
            Self::Run(error) => write!(f, "the run cannot go on: {error} ({error:?})"),
            Self::Head { acknowledged, found } => {
                write!(f, "the store acknowledged {acknowledged:?} and has {found:?}")
            }
            Self::World(error) => error.fmt(f),
            Self::Unreadable(reason) => write!(f, "the state cannot be read: {reason}"),
        }
    }
}

impl From<RunError> for Difference {
    fn from(error: RunError) -> Self {
        Self::Run(error)
    }
}

impl From<StoreError> for Difference {
    fn from(error: StoreError) -> Self {
        Self::Run(RunError::Store(error))
    }
}

impl From<WorldError> for Difference {
    fn from(error: WorldError) -> Self {
        Self::World(error)
    }
}

/// How much a course has seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Operations.
    pub(crate) operations: u64,
    /// Turns that were taken and became durable.
    pub(crate) turns: u64,
    /// Turns of these that failed.
    pub(crate) failed_turns: u64,
    /// Processes that ended without warning.
    pub(crate) crashes: u64,
    /// Rewinds.
    pub(crate) rewinds: u64,
    /// Forks.
    pub(crate) forks: u64,
    /// Moves of a head that were taken back, or done again.
    pub(crate) undone: u64,
    /// Merges that changed something.
    pub(crate) merges: u64,
    /// Inputs that were delivered again on another branch.
    pub(crate) picked: u64,
    /// Branches on which the world said something else.
    pub(crate) amended: u64,
    /// Changed texts that took the place of another.
    pub(crate) patched: u64,
    /// Changed texts that were run again on the answers of a branch.
    pub(crate) again: u64,
    /// Requests of these that received a recorded answer.
    pub(crate) met: u64,
    /// Actors that began anew.
    pub(crate) begun: u64,
    /// Changed texts and beginnings that were refused.
    pub(crate) refused: u64,
    /// Calls that were not made again.
    pub(crate) recalled: u64,
    /// Moves of the head, forks and switches in a living process.
    pub(crate) reopened: u64,
    /// Expressions at past turns.
    pub(crate) asked: u64,
    /// Exports that were imported elsewhere and proved.
    pub(crate) sent: u64,
    /// Exports with a forged snapshot, each refused.
    pub(crate) forged: u64,
    /// Comparisons while something was in flight: batches, requests, parked fibers.
    pub(crate) in_flight: u64,
}

impl Counts {
    /// Adds what another course has seen.
    pub(crate) fn add(&mut self, other: Self) {
        self.operations += other.operations;
        self.turns += other.turns;
        self.failed_turns += other.failed_turns;
        self.crashes += other.crashes;
        self.rewinds += other.rewinds;
        self.forks += other.forks;
        self.undone += other.undone;
        self.merges += other.merges;
        self.picked += other.picked;
        self.amended += other.amended;
        self.patched += other.patched;
        self.again += other.again;
        self.met += other.met;
        self.begun += other.begun;
        self.refused += other.refused;
        self.recalled += other.recalled;
        self.reopened += other.reopened;
        self.asked += other.asked;
        self.sent += other.sent;
        self.forged += other.forged;
        self.in_flight += other.in_flight;
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            operations,
            turns,
            failed_turns,
            crashes,
            rewinds,
            forks,
            undone,
            merges,
            picked,
            amended,
            patched,
            again,
            met,
            begun,
            refused,
            recalled,
            reopened,
            asked,
            sent,
            forged,
            in_flight,
        } = self;
        write!(
            f,
            "{operations} operations ({in_flight} with something in flight), {turns} turns ({failed_turns} failed), "
        )?;
        write!(
            f,
            "{crashes} crashes, {rewinds} rewinds, {undone} undone or redone, {forks} forks, {amended} amended, "
        )?;
        write!(
            f,
            "{patched} texts patched, {again} run again with {met} answers, {begun} actors begun anew, "
        )?;
        write!(f, "{refused} of these refused, ")?;
        write!(
            f,
            "{merges} merges, {picked} inputs picked, {recalled} calls recalled, {reopened} moves in memory, "
        )?;
        write!(
            f,
            "{asked} expressions asked, {sent} exports proved, {forged} forgeries refused"
        )
    }
}

/// The programs whose runs are compared.
pub(crate) struct Cast {
    /// Runs live.
    pub(crate) live: Shared,
    /// Is run again from the journal.
    pub(crate) replayed: Shared,
    /// Their description.
    pub(crate) program: Program,
    /// How they execute.
    pub(crate) ways: Ways,
}

impl Cast {
    /// Compiles the program anew, to be run again in another way than live.
    ///
    /// # Errors
    /// [`Difference::Unreadable`].
    fn again(&self) -> Result<Shared, Difference> {
        programs::again(&self.program, self.ways.replayed).map_err(Difference::Unreadable)
    }
}

/// A run to which operations happen.
pub(crate) struct Course {
    cast: Cast,
    name: RunId,
    recovery: Recovery,
    store: Medium,
    run: Run,
    branch: BranchName,
    branches: Vec<BranchName>,
    moves: BTreeMap<BranchName, Moves>,
    world: World,
    acknowledged: Option<Tip>,
    pub(crate) counts: Counts,
}

/// A handler that goes on for long fails, and so does a program that keeps much.
pub(super) const LIMITS: Limits = Limits {
    slice_fuel: 6_000,
    turn_fuel: 60_000,
    predicate_fuel: 2_000,
    heap_bytes_max: 1 << 21,
    run_bytes_max: 1 << 30,
};

/// The capabilities of the program: all that it asks for but one.
pub(super) const GRANTED: [&str; 8] = [
    "console",
    "person",
    "clock/*",
    "workspace/*",
    "counter/*",
    "spawn",
    "policy/*",
    "goal/propose",
];

/// Turns that a program needs to get ready.
const TURNS_TO_BEGIN: u64 = 16;

type Outcome<T = ()> = Result<T, Difference>;

impl Course {
    /// Starts a run.
    ///
    /// # Errors
    /// [`Difference`].
    pub(crate) fn begin(cast: Cast, setting: Setting) -> Outcome<Self> {
        let mut store = Medium::new(setting.medium)?;
        let name = RunId::new("simulation").map_err(|error| Difference::Unreadable(error.to_string()))?;
        let branch = branch("main")?;
        let start = beginning(&name, &branch, &cast.program);
        let run = Run::start(start, cast.live.clone(), SnapshotPolicy::NEVER, &mut *store)?;
        let mut course = Self {
            cast,
            name,
            recovery: Recovery::default(),
            store,
            run,
            branches: vec![branch.clone()],
            moves: BTreeMap::new(),
            branch,
            world: World::new(setting.world),
            acknowledged: None,
            counts: Counts::default(),
        };
        course.step(TURNS_TO_BEGIN)?;
        course.settle()?;
        Ok(course)
    }

    /// Does one thing, and compares.
    ///
    /// # Errors
    /// [`Difference`].
    pub(crate) fn perform(&mut self, operation: &Operation) -> Outcome {
        self.counts.operations += 1;
        self.act(operation)?;
        self.settle()?;
        self.compare()
    }

    fn act(&mut self, operation: &Operation) -> Outcome {
        match operation {
            Operation::Say { text, turns } => self.say(text, *turns),
            Operation::Step { turns } => self.step(*turns),
            Operation::Answer { which, what } => {
                if let Some(input) = self.world.answer(*which, *what)? {
                    self.run.deliver(input);
                }
                self.step(2)
            }
            Operation::AnswerAgain { request } => {
                self.run.deliver(World::answer_again(*request));
                self.step(1)
            }
            Operation::Tick { seconds } => {
                self.world.wait(*seconds);
                Ok(())
            }
            Operation::Abandon => {
                self.run.deliver(Input::Abandon);
                self.step(1)
            }
            Operation::Grant { which } => {
                self.run.deliver(Input::Grant {
                    grant: granting(*which),
                });
                self.step(1)
            }
            Operation::Patch(change) => self.patch(*change),
            Operation::Again {
                variant,
                turns,
                snapshot_turns,
            } => self.run_again(*variant, *turns, *snapshot_turns),
            Operation::Begin { which } => self.begin_anew(*which),
            Operation::Restart(opening) => {
                self.settle()?;
                self.open(*opening)
            }
            Operation::Crash { turns, loss, opening } => {
                self.step(*turns)?;
                self.crash(*loss, *opening)
            }
            Operation::Rewind { to, opening } => self.travel(*to, None, *opening),
            Operation::Fork { from, opening } => {
                let name = self.new_branch()?;
                self.travel(*from, Some(name), *opening)
            }
            Operation::Switch { which, opening } => {
                self.settle()?;
                self.stand_on(self.chosen(*which))?;
                self.go_on(*opening)
            }
            Operation::Retrace { to, inputs, opening } => self.retrace(*to, *inputs, *opening),
            Operation::Undo { opening } => self.undo(*opening),
            Operation::Redo { opening } => self.redo(*opening),
            Operation::Merge { which, opening } => self.merge(*which, *opening),
            Operation::Pick {
                which,
                from,
                inputs,
                opening,
            } => self.pick(*which, (*from, *inputs), *opening),
            Operation::Amend { at, what, opening } => self.amend(*at, *what, *opening),
            Operation::Ask { at, text } => self.ask(*at, text),
            Operation::Send { which } => self.send(*which),
        }
    }

    /// Evaluates a text, and takes some turns more.
    fn say(&mut self, text: &str, turns: u64) -> Outcome {
        self.run.deliver(Input::Evaluate {
            text: text.to_owned(),
            sources: Vec::new(),
        });
        self.step(turns + 1)
    }

    /// Takes turns while there are any to take.
    fn step(&mut self, turns: u64) -> Outcome {
        for _ in 0..turns {
            if self.run.step()? != Step::Turn {
                break;
            }
        }
        Ok(())
    }

    /// Makes everything durable and does what was asked; a disk that fails ends the process.
    fn settle(&mut self) -> Outcome {
        let (taken, failed) = self.run.unflushed().map_or((0, 0), |append| count(append.records));
        match self.run.flush(&mut *self.store) {
            Ok(effects) => {
                self.counts.turns += taken;
                self.counts.failed_turns += failed;
                self.acknowledged = self.run.head();
                self.require_head()?;
                self.counts.recalled += self.run.take_recalled().len() as u64;
                self.world.perform(effects, &self.recovery)?;
                Ok(())
            }
            Err(RunError::Store(StoreError::Io { .. })) => self.crash(Loss::Nothing, WHOLE),
            Err(error) => Err(error.into()),
        }
    }

    /// Stops the machine, starts it again and opens the run.
    fn crash(&mut self, loss: Loss, opening: Opening) -> Outcome {
        self.counts.crashes += 1;
        let unacknowledged = self.run.head();
        self.store.crash(loss)?;
        let found = self.stored_head()?;
        // A commit that was cut off may have reached the disk whole.
        if found != self.acknowledged && found != unacknowledged {
            return self.require_head();
        }
        self.acknowledged = found;
        self.open(opening)
    }

    /// Opens the run on its branch in another process.
    fn open(&mut self, opening: Opening) -> Outcome {
        self.world.forget();
        self.store.restart(opening.fails_after)?;
        let turns = if opening.snapshot_turns == 0 {
            u64::MAX
        } else {
            opening.snapshot_turns
        };
        let policy = SnapshotPolicy {
            turns,
            rest_share: opening.snapshot_turns % 2,
            ..SnapshotPolicy::NEVER
        };
        let place = BranchClaim::new(&self.name, &self.branch, OWNER);
        self.run = Run::open(&mut *self.store, place, self.cast.live.clone(), policy, &self.recovery)?;
        self.run.checkpoint_after(1);
        self.settle()
    }

    /// Opens the run on its branch after its head has moved: in the process that executed it until
    /// now, from its checkpoints, or in another.
    fn go_on(&mut self, opening: Opening) -> Outcome {
        if opening.fails_after.is_some() || opening.snapshot_turns % 2 == 1 {
            return self.open(opening);
        }
        self.world.forget();
        let source = Source {
            store: &*self.store,
            run: &self.name,
            branch: &self.branch,
        };
        let place_holder = source.restore(Some(Sequence::FIRST), self.cast.live.clone(), Snapshots::Ignore)?;
        let run = std::mem::replace(&mut self.run, place_holder);
        match run.reopen(&mut *self.store, &self.branch, OWNER, &self.recovery) {
            Ok(run) => self.run = run,
            Err(RunError::Store(StoreError::Io { .. })) => return self.crash(Loss::Nothing, WHOLE),
            Err(error) => return Err(error.into()),
        }
        self.counts.reopened += 1;
        self.settle()
    }

    fn stored_head(&self) -> Outcome<Option<Tip>> {
        let head = self.store.head(&self.name, &self.branch)?;
        Ok(head.map(|head| head.tip()))
    }

    fn require_head(&self) -> Outcome {
        let found = self.stored_head()?;
        if found == self.acknowledged {
            return Ok(());
        }
        Err(Difference::Head {
            acknowledged: self.acknowledged,
            found,
        })
    }
}

/// What a run of a program begins with.
fn beginning(run: &RunId, branch: &BranchName, program: &Program) -> Start {
    let genesis = Genesis {
        program: program.value.clone(),
        manifest: Manifest::of(&GRANTED),
        limits: LIMITS,
        pinned: program.pinned.iter().map(Blob::hash).collect(),
        tools: Vec::new(),
        policy: Vec::new(),
    };
    Start {
        run: run.clone(),
        branch: branch.clone(),
        owner: OWNER.to_owned(),
        genesis,
        pinned: program.pinned.clone(),
    }
}

/// Counts turns, and those of them that failed.
fn count(records: &[Record]) -> (u64, u64) {
    let turns = records.iter().filter_map(|record| decode_turn(record).ok());
    turns.fold((0, 0), |(all, failed), turn| {
        (all + 1, failed + u64::from(turn.outcome != TurnOutcome::Committed {}))
    })
}

/// Opens without further ado.
const WHOLE: Opening = Opening {
    snapshot_turns: 0,
    fails_after: None,
};

/// Who opens simulated runs.
const OWNER: &str = "simulation";

fn branch(name: &str) -> Outcome<BranchName> {
    BranchName::new(name).map_err(|error| Difference::Unreadable(error.to_string()))
}
