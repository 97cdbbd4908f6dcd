//! Several owners of several runs over one journal file: processes that work, are killed, lose
//! their runs to others and go on without knowing it.
//!
//! Each simulated process has a store of its own, open on the same file, so the locks and caches of
//! the real store are at work.
//! INVARIANT: the journal has exactly the turns that were acknowledged to an owner: none is lost,
//! none is there twice, and none is there that no owner knows of. An owner that was fenced off
//! hands out no effect.
//! It has no faults of the disk; `course.rs` has. Read next: `course.rs`.

use std::fs;
use std::path::{Path, PathBuf};

use duet_journal::store::sqlite::SqliteStore;
use duet_journal::verify::verify;
use duet_journal::{Blob, BranchName, RunId, Store, StoreError, Tip};
use duet_runtime::driver::Input;
use duet_runtime::record::Genesis;
use duet_runtime::run::error::RunError;
use duet_runtime::run::inflight::Recovery;
use duet_runtime::run::snapshot::SnapshotPolicy;
use duet_runtime::run::source::BranchClaim;
use duet_runtime::run::{Run, Start, Step};

use super::chance::Chance;
use super::course::{Cast, GRANTED, LIMITS};
use super::operation::draw_text;
use super::world::{World, WorldKind};

/// How much the processes have seen.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Owned {
    /// Turns that became durable.
    pub(crate) turns: u64,
    /// Processes that opened a run.
    pub(crate) opened: u64,
    /// Processes that were killed.
    pub(crate) killed: u64,
    /// Owners that noticed that they had been fenced off.
    pub(crate) fenced: u64,
}

impl Owned {
    /// Adds what others have seen.
    pub(crate) fn add(&mut self, other: Self) {
        self.turns += other.turns;
        self.opened += other.opened;
        self.killed += other.killed;
        self.fenced += other.fenced;
    }
}

/// A run as the journal must have it.
struct ExpectedRun {
    name: RunId,
    world: World,
    acknowledged: Option<Tip>,
}

/// A process at work on a run.
struct Process {
    store: SqliteStore,
    run: Run,
    /// The place of its run among those expected.
    expected_at: usize,
    /// Whether another process has claimed the run since.
    is_fenced: bool,
}

struct Processes {
    cast: Cast,
    journal: PathBuf,
    expected: Vec<ExpectedRun>,
    processes: Vec<Process>,
    seen: Owned,
}

/// The maximum numbers of runs and of processes at a time.
const RUNS_MAX: usize = 4;
const PROCESSES_MAX: usize = 6;

/// Lets processes work at one journal in an empty folder.
///
/// # Errors
/// The fault, for people.
pub(crate) fn work_together(cast: Cast, folder: &Path, seed: u64, operations: usize) -> Result<Owned, String> {
    let mut chance = Chance::new(seed);
    let mut processes = Processes {
        cast,
        journal: folder.join("journal"),
        expected: Vec::new(),
        processes: Vec::new(),
        seen: Owned::default(),
    };
    for number in 1..=operations {
        let done = processes.act(&mut chance).and_then(|()| processes.check());
        done.map_err(|what| format!("seed {seed}, after operation {number}: {what}"))?;
    }
    processes
        .verify()
        .map_err(|what| format!("seed {seed}, at the end: {what}"))?;
    Ok(processes.seen)
}

/// Makes an empty folder for a seed, does `work` in it, and removes it.
///
/// # Errors
/// Those of `work`; if the folder cannot be made.
pub(crate) fn in_folder<T>(seed: u64, work: impl FnOnce(&Path) -> Result<T, String>) -> Result<T, String> {
    #[expect(
        clippy::disallowed_methods,
        reason = "the folder is nobody else's and enters no record"
    )]
    let process = std::process::id();
    let folder = std::env::temp_dir().join(format!("duet-owners-{process}-{seed}"));
    fs::create_dir(&folder).map_err(|error| error.to_string())?;
    let done = work(&folder);
    let removed = fs::remove_dir_all(&folder).map_err(|error| error.to_string());
    done.and_then(|done| removed.map(|()| done))
}

impl Processes {
    fn act(&mut self, chance: &mut Chance) -> Result<(), String> {
        let which = chance.index(self.processes.len().max(1));
        match chance.below(100) {
            _ if self.processes.is_empty() => self.open(chance),
            0..12 if self.processes.len() < PROCESSES_MAX => self.open(chance),
            12..18 => {
                // It has told nobody of the turns that it took last.
                drop(self.processes.swap_remove(which));
                self.seen.killed += 1;
                Ok(())
            }
            18..50 => self.say(which, draw_text(chance), chance.below(8)),
            50..65 => self.answer(which, (chance.below(16), chance.below(16))),
            _ => self.settle(which),
        }
    }

    /// Starts a process that begins a run, or takes one over.
    fn open(&mut self, chance: &mut Chance) -> Result<(), String> {
        let shown = |error: RunError| error.to_string();
        let mut store = SqliteStore::open(&self.journal, OWNER).map_err(|error| error.to_string())?;
        let branch = BranchName::new("main").map_err(|error| error.to_string())?;
        self.seen.opened += 1;
        let begun: Vec<usize> = (0..self.expected.len())
            .filter(|number| self.expected[*number].acknowledged.is_some())
            .collect();
        if self.expected.len() < RUNS_MAX && (begun.is_empty() || chance.is_so(30)) {
            let name = RunId::new(format!("r{}", self.expected.len())).map_err(|error| error.to_string())?;
            let start = self.start(name.clone(), branch);
            let run = Run::start(start, self.cast.live.clone(), policy(chance), &mut store).map_err(shown)?;
            self.expected.push(ExpectedRun {
                name,
                world: World::new(WorldKind::Simulated),
                acknowledged: None,
            });
            let number = self.expected.len() - 1;
            return self.start_process(store, run, number);
        }
        if begun.is_empty() {
            return Ok(());
        }
        let number = *chance.one_of(&begun);
        let place = BranchClaim::new(&self.expected[number].name, &branch, OWNER);
        let recovery = Recovery::default();
        let run = Run::open(&mut store, place, self.cast.live.clone(), policy(chance), &recovery).map_err(shown)?;
        self.expected[number].world.forget();
        let others = self.processes.iter_mut().filter(|other| other.expected_at == number);
        others.for_each(|other| other.is_fenced = true);
        self.start_process(store, run, number)
    }

    fn start(&self, run: RunId, branch: BranchName) -> Start {
        let program = &self.cast.program;
        Start {
            run,
            branch,
            owner: OWNER.to_owned(),
            genesis: Genesis {
                program: program.value.clone(),
                manifest: duet_runtime::model::manifest::Manifest::of(&GRANTED),
                limits: LIMITS,
                pinned: program.pinned.iter().map(Blob::hash).collect(),
                tools: Vec::new(),
                policy: Vec::new(),
            },
            pinned: program.pinned.clone(),
        }
    }

    fn start_process(&mut self, store: SqliteStore, run: Run, expected_at: usize) -> Result<(), String> {
        self.processes.push(Process {
            store,
            run,
            expected_at,
            is_fenced: false,
        });
        Ok(())
    }

    fn say(&mut self, which: usize, text: String, turns: u64) -> Result<(), String> {
        let process = &mut self.processes[which];
        let sources = Vec::new();
        process.run.deliver(Input::Evaluate { text, sources });
        step(&mut process.run, turns + 1)
    }

    fn answer(&mut self, which: usize, (request, what): (u64, u64)) -> Result<(), String> {
        let process = &mut self.processes[which];
        // The world speaks to the process that asked last.
        if !process.is_fenced {
            let answer = self.expected[process.expected_at].world.answer(request, what);
            if let Some(input) = answer.map_err(|error| error.to_string())? {
                process.run.deliver(input);
            }
        }
        step(&mut process.run, 2)
    }

    /// Makes what a process did durable; one that was fenced off must not succeed.
    fn settle(&mut self, which: usize) -> Result<(), String> {
        let process = &mut self.processes[which];
        let expected = &mut self.expected[process.expected_at];
        let taken = process.run.unflushed().map_or(0, |append| append.records.len() as u64);
        match process.run.flush(&mut process.store) {
            Ok(effects) if process.is_fenced => {
                if taken > 0 || !effects.is_empty() {
                    return Err(format!(
                        "a process that had lost {} committed {taken} turns and performed {} effects",
                        expected.name,
                        effects.len()
                    ));
                }
            }
            Ok(effects) => {
                expected.acknowledged = process.run.head();
                self.seen.turns += taken;
                let performed = expected.world.perform(effects, &Recovery::default());
                performed.map_err(|error| error.to_string())?;
            }
            Err(RunError::Store(StoreError::EpochFenced { .. })) if process.is_fenced => {
                self.seen.fenced += 1;
                drop(self.processes.swap_remove(which));
            }
            Err(error) => return Err(format!("{} cannot go on: {error} ({error:?})", expected.name)),
        }
        Ok(())
    }

    /// Requires that the journal has what was acknowledged, and nothing more.
    fn check(&self) -> Result<(), String> {
        if !self.journal.exists() {
            return Ok(());
        }
        let store = SqliteStore::open_to_read(&self.journal).map_err(|error| error.to_string())?;
        let branch = BranchName::new("main").map_err(|error| error.to_string())?;
        for expected in &self.expected {
            let found = match store.head(&expected.name, &branch) {
                Err(StoreError::NoSuchRun { .. }) => None,
                found => found.map_err(|error| error.to_string())?,
            };
            let found = found.map(|head| head.tip());
            if found != expected.acknowledged {
                let (name, acknowledged) = (&expected.name, expected.acknowledged);
                return Err(format!(
                    "{name}: acknowledged {acknowledged:?}, and the journal has {found:?}"
                ));
            }
        }
        match store.lost().map_err(|error| error.to_string())?.first() {
            None => Ok(()),
            Some(lost) => Err(format!("the tail says that turns are lost: {lost:?}")),
        }
    }

    /// Requires that every chain is whole, from its first record to its head.
    fn verify(&self) -> Result<(), String> {
        if !self.journal.exists() {
            return Ok(());
        }
        let store = SqliteStore::open_to_read(&self.journal).map_err(|error| error.to_string())?;
        let branch = BranchName::new("main").map_err(|error| error.to_string())?;
        for run in store.runs().map_err(|error| error.to_string())? {
            let report = verify(&store, &run, &branch).map_err(|error| error.to_string())?;
            if !report.is_sound() {
                return Err(format!("{run} is not sound: {report:?}"));
            }
        }
        Ok(())
    }
}

fn step(run: &mut Run, turns: u64) -> Result<(), String> {
    for _ in 0..turns {
        if run.step().map_err(|error| error.to_string())? != Step::Turn {
            break;
        }
    }
    Ok(())
}

fn policy(chance: &mut Chance) -> SnapshotPolicy {
    SnapshotPolicy {
        turns: *chance.one_of(&[u64::MAX, 2, 5]),
        rest_share: *chance.one_of(&[0, 1]),
        ..SnapshotPolicy::NEVER
    }
}

/// The name under which these processes claim runs; nobody can tell whether it lives.
const OWNER: &str = "simulation";
