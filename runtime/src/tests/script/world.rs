//! A whole run in a store in memory, with drivers that answer from a table.
//!
//! INVARIANT: every scenario that runs until nothing more happens is also replayed, from the
//! beginning and from its newest snapshot, with the same records and the same state.
//! It defines no scenarios; the tests of each module do.
//! Read next: `../../run/take_turn/tests.rs`.

use std::collections::VecDeque;

use duet_journal::store::memory::MemoryStore;
use duet_journal::{Blob, BranchName, RunId, Sequence, Store};
use preserves::IOValue;

use super::{Scripts, parse};
use crate::driver::{Drivers, Effect, EffectKind, Input, ToolFailure};
use crate::model::codec::Codec;
use crate::model::limits::Limits;
use crate::model::manifest::Manifest;
use crate::record::{Genesis, Outcome, TurnRecord};
use crate::run::replay::Snapshots;
use crate::run::snapshot::SnapshotPolicy;
use crate::run::source::{Source, decode_turn};
use crate::run::{DriveOutcome, Run, Start};
use crate::scheme::Program;
use crate::turn::program::Programs;

/// Drivers that keep their effects and answer tools, questions and reads from lists.
#[derive(Default)]
pub(crate) struct Table {
    /// The visible results: log lines, writes after `>`, questions after `?`, tool calls after `*`.
    pub(crate) seen: Vec<String>,
    /// All effects, in order.
    pub(crate) effects: Vec<Effect>,
    /// Answers in the order of the requests; further requests get no answer.
    pub(crate) answers: VecDeque<Result<IOValue, ToolFailure>>,
    inputs: VecDeque<Input>,
}

impl Drivers for Table {
    fn perform(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            self.effects.push(effect.clone());
            self.see(&effect);
        }
    }

    fn next_input(&mut self) -> Option<Input> {
        self.inputs.pop_front()
    }

    fn poll_input(&mut self) -> Option<Input> {
        None
    }
}

impl Table {
    fn see(&mut self, effect: &Effect) {
        let request = effect.request;
        let (shown, is_answered) = match &effect.kind {
            EffectKind::Log { text, .. } => (text.clone(), false),
            // The failed turn itself is in the record, which the tests read.
            EffectKind::Failure { .. } => return,
            EffectKind::Write { bytes, .. } => (format!(">{}", String::from_utf8_lossy(bytes)), false),
            EffectKind::Tool { name, payload } => (format!("*{name} {payload:?}"), true),
            EffectKind::Ask { prompt, .. } => (format!("?{prompt:?}"), true),
            EffectKind::Read { length_bytes_max } => (format!("<{length_bytes_max}"), true),
            EffectKind::Withdraw => ("withdrawn".to_owned(), false),
            EffectKind::Proceed { note, .. } => (format!("+{note:?}"), false),
            EffectKind::Progress { label, done, total } => (format!("{label} {done}/{total}"), false),
            EffectKind::Peer { peer, told } => (format!("{peer} {told:?}"), false),
            EffectKind::Timer { delay_ms } => {
                self.inputs.push_back(Input::Elapsed { request });
                (format!("{delay_ms} ms"), false)
            }
            EffectKind::Alarm { at_ms, .. } => {
                self.inputs.push_back(Input::Elapsed { request });
                (format!("at {at_ms} ms"), false)
            }
        };
        self.seen.push(shown);
        if !is_answered {
            return;
        }
        let Some(outcome) = self.answers.pop_front() else {
            return;
        };
        self.inputs.push_back(match &effect.kind {
            EffectKind::Ask { .. } => Input::Answer {
                request,
                value: outcome.expect("a person answers"),
            },
            EffectKind::Read { .. } => Input::Chunk {
                request,
                bytes: format!("{:?}", outcome.expect("bytes")).into_bytes(),
            },
            EffectKind::Tool { .. }
            | EffectKind::Write { .. }
            | EffectKind::Timer { .. }
            | EffectKind::Alarm { .. }
            | EffectKind::Withdraw
            | EffectKind::Proceed { .. }
            | EffectKind::Log { .. }
            | EffectKind::Failure { .. }
            | EffectKind::Progress { .. }
            | EffectKind::Peer { .. } => Input::ToolResult { request, outcome },
        });
    }
}

/// A run with its store and drivers.
pub(crate) struct World<P: Programs> {
    pub(crate) store: MemoryStore,
    pub(crate) run: Run,
    pub(crate) drivers: Table,
    /// Makes the programs again, as in another process.
    pub(crate) again: Box<dyn Fn(&MemoryStore) -> P>,
}

pub(crate) fn run_id() -> RunId {
    RunId::new("test").expect("a name")
}

pub(crate) fn branch(name: &str) -> BranchName {
    BranchName::new(name).expect("a name")
}

/// Limits under which a script takes a few hundred steps in a turn.
pub(crate) const LIMITS: Limits = Limits {
    slice_fuel: 100,
    turn_fuel: 300,
    predicate_fuel: 20,
    heap_bytes_max: 1 << 24,
    run_bytes_max: 1 << 30,
};

impl World<Scripts> {
    /// Starts the procedure `main` of a script, granted `capabilities`.
    pub(crate) fn script(script: &str, capabilities: &[&str], policy: SnapshotPolicy) -> Self {
        let program = Program {
            value: "main".to_owned().encode(),
            pinned: Vec::new(),
        };
        let script = parse(script);
        Self::new(program, capabilities, policy, move |_| Scripts(script.clone()))
    }
}

impl<P: Programs> World<P> {
    /// Starts a program.
    pub(crate) fn new(
        program: Program,
        capabilities: &[&str],
        policy: SnapshotPolicy,
        again: impl Fn(&MemoryStore) -> P + 'static,
    ) -> Self {
        Self::limited(LIMITS, (program, capabilities), policy, again)
    }

    /// Starts a program within limits.
    pub(crate) fn limited(
        limits: Limits,
        (program, capabilities): (Program, &[&str]),
        policy: SnapshotPolicy,
        again: impl Fn(&MemoryStore) -> P + 'static,
    ) -> Self {
        let mut store = MemoryStore::default();
        let genesis = Genesis {
            program: program.value,
            manifest: Manifest::of(capabilities),
            limits,
            pinned: program.pinned.iter().map(Blob::hash).collect(),
            tools: Vec::new(),
            policy: Vec::new(),
        };
        let (run, branch, owner) = (run_id(), branch("main"), "test".to_owned());
        let start = Start {
            run,
            branch,
            owner,
            genesis,
            pinned: program.pinned,
        };
        let programs = again(&store);
        let run = Run::start(start, programs, policy, &mut store).expect("the store is empty");
        Self {
            store,
            run,
            drivers: Table::default(),
            again: Box::new(again),
        }
    }

    pub(crate) fn programs(&self) -> P {
        (self.again)(&self.store)
    }

    /// Executes until nothing more happens.
    pub(crate) fn drive(&mut self) -> DriveOutcome {
        self.run
            .drive(&mut self.store, &mut self.drivers)
            .expect("the store does not fail")
    }

    /// Reads all turns of a branch.
    pub(crate) fn turns(&self, name: &str) -> Vec<TurnRecord> {
        let (first, end) = (Sequence::new(1).expect("small"), Sequence::new(1 << 20).expect("small"));
        let records = self
            .store
            .read(&run_id(), &branch(name), first..end)
            .expect("the branch exists");
        records
            .iter()
            .map(|record| decode_turn(record).expect("a turn"))
            .collect()
    }

    /// Replays the main branch from the beginning and from its newest snapshot and compares the
    /// states.
    pub(crate) fn check_replay(&self) {
        let (run, branch) = (run_id(), branch("main"));
        let source = Source {
            store: &self.store,
            run: &run,
            branch: &branch,
        };
        for snapshots in [Snapshots::Ignore, Snapshots::Use] {
            let replayed = source
                .restore(None, self.programs(), snapshots)
                .expect("replay equals live");
            assert_eq!(
                replayed.state().encode(),
                self.run.state().encode(),
                "the state is the same"
            );
        }
    }

    /// Executes and replays the run; its visible results must be `expected`, one per line.
    #[track_caller]
    pub(crate) fn check(&mut self, expected: &str) {
        let outcome = self.drive();
        self.check_replay();
        let failure = self.failure().map(|failure| format!("failed: {failure}"));
        let mut seen: Vec<String> = self.drivers.seen.iter().cloned().chain(failure).collect();
        if outcome != (DriveOutcome::Ended { code: 0 }) {
            seen.push(format!("{outcome:?}"));
        }
        let expected: Vec<&str> = expected
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .collect();
        assert_eq!(seen, expected);
    }

    /// Returns the failure of the last turn that failed.
    pub(crate) fn failure(&self) -> Option<String> {
        self.turns("main")
            .into_iter()
            .rev()
            .find_map(|turn| match turn.outcome {
                Outcome::Failed { failure } => Some(failure.to_string()),
                Outcome::Committed {} => None,
            })
    }
}

/// Runs a script that is granted everything, with these answers; its visible results must be
/// `expected`, one per line.
#[track_caller]
pub(crate) fn check_answered(script: &str, answers: &[Result<&str, &str>], expected: &str) {
    let often = SnapshotPolicy {
        turns: 3,
        ..SnapshotPolicy::NEVER
    };
    let mut world = World::script(script, &["*"], often);
    world.drivers.answers = read_answers(answers);
    world.check(expected);
}

pub(crate) fn read_answers(answers: &[Result<&str, &str>]) -> VecDeque<Result<IOValue, ToolFailure>> {
    let answer = |answer: &Result<&str, &str>| match answer {
        Ok(text) => Ok(text.parse().expect("well formed")),
        Err(kind) => Err(ToolFailure {
            kind: (*kind).to_owned(),
            message: "it did not work".to_owned(),
            details: Vec::new(),
        }),
    };
    answers.iter().map(answer).collect()
}

/// Runs a script without requests.
#[track_caller]
pub(crate) fn check(script: &str, expected: &str) {
    check_answered(script, &[], expected);
}
