//! Scheme programs as runs on a simulated disk and a world in memory: started, stopped by faults,
//! opened again.
//!
//! Owns the wiring of programs, libraries, store and world, as the command line wires them for
//! people.
//! INVARIANT: a process shares nothing with the one before it but the disk and the world.
//! Read next: `tree.rs`, then `../crash.rs`.

use std::cell::RefCell;
use std::rc::Rc;

use duet_journal::store::memory::{FaultPlan, MemoryStore, SimulatedDisk};
use duet_journal::{Blob, BranchName, Record, RunId, Sequence, Store, StoreError};
use duet_kernel::expander::LibraryName;
use duet_modules::resolver::Resolver;
use duet_modules::source::directory::Directory;
use duet_modules::source::embedded::Embedded;
use duet_runtime::model::limits::Limits;
use duet_runtime::model::manifest::Manifest;
use duet_runtime::record::Genesis;
use duet_runtime::run::error::RunError;
use duet_runtime::run::inflight::Recovery;
use duet_runtime::run::snapshot::SnapshotPolicy;
use duet_runtime::run::source::{BranchClaim, Source};
use duet_runtime::run::{DriveOutcome, Run, Start};
use duet_runtime::scheme::{self, Program, SchemePrograms};

use super::witness::{Plant, Witness, records};
use super::world::World;

/// The number of turns between snapshots.
pub(crate) fn every(turns: u64) -> SnapshotPolicy {
    SnapshotPolicy {
        turns,
        ..SnapshotPolicy::NEVER
    }
}

/// A compiled program that several processes run one after the other; compiling it anew for each
/// would show nothing more.
pub(crate) type Shared = Rc<RefCell<SchemePrograms>>;

/// A program, what it may do, and where its run is kept.
pub(crate) struct Scenario {
    /// The compiled program.
    pub(crate) programs: Shared,
    /// The program's description in the run's first record, with the texts that it pins.
    pub(crate) program: Program,
    /// The grants of the program.
    pub(crate) capabilities: &'static [&'static str],
    /// The run.
    pub(crate) run: RunId,
    /// Its first branch.
    pub(crate) main: BranchName,
    /// The fault that is built into its stores.
    pub(crate) plant: Plant,
}

/// A name of a branch.
pub(crate) fn branch(name: &str) -> BranchName {
    BranchName::new(name).unwrap()
}

/// A position in the journal.
pub(crate) fn at(number: u64) -> Sequence {
    Sequence::new(number).unwrap()
}

fn library(words: &str) -> LibraryName {
    LibraryName {
        parts: words.split(' ').map(Into::into).collect(),
    }
}

impl Scenario {
    /// Compiles a program that finds libraries in `examples/review` and the standard library.
    pub(crate) fn new(name: &str, text: &str, capabilities: &'static [&'static str]) -> Self {
        Self::that_evaluates(&[], name, text, capabilities)
    }

    /// Compiles a program that can evaluate what imports these libraries.
    pub(crate) fn that_evaluates(
        libraries: &[&str],
        name: &str,
        text: &str,
        capabilities: &'static [&'static str],
    ) -> Self {
        let evaluable = libraries.iter().map(|words| library(words)).collect();
        let mut resolver = Resolver::new(vec![
            Box::new(Directory::new("examples/review")),
            Box::new(Embedded::new("stdlib", duet_stdlib::FILES)),
        ]);
        let default_imports = ["duet base", "duet dataspace"].map(library).to_vec();
        let source = scheme::Source {
            name,
            text,
            default_imports,
            evaluable,
            is_counted: false,
            stop: None,
            arguments: Default::default(),
        };
        let compiled = SchemePrograms::compile(&source, &mut resolver);
        let (mut programs, program, _) = compiled.unwrap_or_else(|(error, _)| panic!("{name}: {error:?}"));
        programs.set_native(super::native::mode());
        programs.set_stress(super::native::is_stressed());
        Self {
            programs: Rc::new(RefCell::new(programs)),
            program,
            capabilities,
            run: RunId::new("test").unwrap(),
            main: branch("main"),
            plant: Plant::Nothing,
        }
    }

    /// Gives the program the description of another one, so that it can replay the runs of that
    /// one.
    pub(crate) fn stand_in_for(&self, other: &Self) {
        self.programs.borrow_mut().stand_in_for(other.program.value.clone());
    }

    fn genesis(&self) -> Genesis {
        Genesis {
            program: self.program.value.clone(),
            manifest: Manifest::of(self.capabilities),
            limits: Limits::default(),
            pinned: self.program.pinned.iter().map(Blob::hash).collect(),
            tools: Vec::new(),
            policy: Vec::new(),
        }
    }

    /// Starts the run, or opens it if the store has anything of it.
    pub(crate) fn start_or_open(&self, store: &mut dyn Store, policy: SnapshotPolicy) -> Result<Run, RunError> {
        if !records(store, &self.run, &self.main).is_empty() {
            return self.open(store, &self.main, policy);
        }
        let start = Start {
            run: self.run.clone(),
            branch: self.main.clone(),
            owner: "test".to_owned(),
            genesis: self.genesis(),
            pinned: self.program.pinned.clone(),
        };
        Run::start(start, self.programs.clone(), policy, store)
    }

    /// Opens a branch at its head.
    pub(crate) fn open(
        &self,
        store: &mut dyn Store,
        branch: &BranchName,
        policy: SnapshotPolicy,
    ) -> Result<Run, RunError> {
        let programs = self.programs.clone();
        Run::open(
            store,
            BranchClaim::new(&self.run, branch, "test"),
            programs,
            policy,
            &Recovery::default(),
        )
    }

    /// Where the records of a branch are.
    pub(crate) fn source<'a>(&'a self, store: &'a dyn Store, branch: &'a BranchName) -> Source<'a> {
        Source {
            store,
            run: &self.run,
            branch,
        }
    }

    /// One process: opens the disk, starts or resumes the run, and drives it until it is idle or
    /// the disk fails.
    pub(crate) fn live(&self, disk: SimulatedDisk, policy: SnapshotPolicy, world: &mut World) -> Life {
        self.live_on(disk, &self.main, policy, world)
    }

    /// The same on another branch.
    pub(crate) fn live_on(
        &self,
        disk: SimulatedDisk,
        branch: &BranchName,
        policy: SnapshotPolicy,
        world: &mut World,
    ) -> Life {
        let opened = disk.clone();
        let Ok(store) = MemoryStore::open(disk) else {
            return Life {
                rest: None,
                acknowledged: Vec::new(),
                disk: begun(opened),
            };
        };
        let mut witness = Witness::new(store, &self.run, branch, self.plant);
        world.meet(witness.ledger());
        let rest = self.drive(&mut witness, branch, policy, world);
        let acknowledged = witness.ledger().records();
        Life {
            rest,
            acknowledged,
            disk: witness.into_disk(),
        }
    }

    fn drive(
        &self,
        witness: &mut Witness,
        branch: &BranchName,
        policy: SnapshotPolicy,
        world: &mut World,
    ) -> Option<DriveOutcome> {
        let run = if *branch == self.main {
            self.start_or_open(witness, policy)
        } else {
            self.open(witness, branch, policy)
        };
        let rest = run.and_then(|mut run| run.drive(witness, world));
        match rest {
            Ok(rest) => {
                world.finish();
                Some(rest)
            }
            Err(RunError::Store(StoreError::Io { .. })) => None,
            Err(error) => panic!("that is not the disk: {error:?}"),
        }
    }
}

/// The remains of a process.
pub(crate) struct Life {
    /// The reason why the run is idle; nothing if the disk failed.
    pub(crate) rest: Option<DriveOutcome>,
    /// The records that the process knows to be durable.
    pub(crate) acknowledged: Vec<Record>,
    /// The disk.
    pub(crate) disk: SimulatedDisk,
}

impl Life {
    /// Starts the machine again, with a disk that does not fail any more.
    pub(crate) fn restart(self) -> SimulatedDisk {
        self.disk.restart(FaultPlan::default())
    }
}

/// The disk of a process that failed before the log began, after the same operations once more.
fn begun(mut disk: SimulatedDisk) -> SimulatedDisk {
    let header = MemoryStore::default().into_disk();
    let begun = disk
        .cut(0)
        .and_then(|()| disk.write(0, header.bytes()))
        .and_then(|()| disk.sync());
    assert!(begun.is_err(), "the log could be begun");
    disk
}

/// The review example, with the grants of its manifest.
pub(crate) fn review() -> Scenario {
    review_of(&review_text())
}

/// The text of its program.
pub(crate) fn review_text() -> String {
    std::fs::read_to_string("examples/review/review.scm").unwrap()
}

/// The review example with another text of its program.
pub(crate) fn review_of(text: &str) -> Scenario {
    let capabilities = &[
        "console",
        "person",
        "workspace/list",
        "workspace/read",
        "workspace/write",
    ];
    Scenario::new("examples/review/review.scm", text, capabilities)
}
