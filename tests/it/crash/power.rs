//! The power is cut at every operation of the disk, in every way, and the run goes on.
//!
//! INVARIANT: a prefix of the turns survives, with every acknowledged one; and the world does not
//! show, at the end of the run, that the power was cut.
//! `DUET_CRASH_FULL=1` cuts in many more ways and also cuts the second process anywhere.
//! Read next: `replay.rs`.

use std::collections::{BTreeMap, BTreeSet};

use duet_journal::Record;
use duet_journal::store::memory::{DiskFault, FaultPlan, Loss, MemoryStore, SimulatedDisk};
use duet_runtime::run::DriveOutcome;
use duet_runtime::run::snapshot::SnapshotPolicy;
use preserves::IOValue;

use crate::support::scenario::{Life, Scenario, every, review};
use crate::support::witness::records;
use crate::support::workspace::files;
use crate::support::world::{Files, Pace, World};

/// Which operations are tried, and how the disk fails at each.
pub(super) struct Extent {
    faults: Vec<DiskFault>,
    /// The disk also fails in the second process, at one in this number of operations.
    second_step: usize,
}

impl Extent {
    /// The form that runs with every change, or the long one.
    pub(super) fn from_environment() -> Self {
        #[expect(clippy::disallowed_methods, reason = "a test has no command line of its own")]
        let is_full = std::env::var_os("DUET_CRASH_FULL").is_some();
        let (torn_step, seeds, second_step) = if is_full { (16, 64, 1) } else { (600, 4, 7) };
        let torn = (1..4096).step_by(torn_step).map(|kept_bytes| Loss::Torn { kept_bytes });
        let reordered = (0..seeds).map(|seed| Loss::Reordered { seed });
        let losses = [Loss::Nothing, Loss::Unsynced].into_iter().chain(torn).chain(reordered);
        let faults = losses.map(DiskFault::Crash).chain([DiskFault::Error]).collect();
        Self { faults, second_step }
    }

    /// How the disk fails.
    pub(super) fn faults(&self) -> &[DiskFault] {
        &self.faults
    }
}

/// The run without a cut.
pub(super) struct Course<'a> {
    scenario: &'a Scenario,
    policy: SnapshotPolicy,
    /// The world before the run.
    before: World,
    /// The world after it.
    after: World,
    records: Vec<Record>,
    operations: u64,
}

impl<'a> Course<'a> {
    pub(super) fn new(scenario: &'a Scenario, policy: SnapshotPolicy, before: World) -> Self {
        let mut after = before.clone();
        let life = scenario.live(SimulatedDisk::default(), policy, &mut after);
        assert_eq!(life.rest, Some(DriveOutcome::Ended { code: 0 }));
        Self {
            scenario,
            policy,
            before,
            after,
            records: life.acknowledged,
            operations: life.disk.operations(),
        }
    }

    /// One process on a disk with a fault ahead; it must meet that fault.
    fn cut(&self, bytes: &[u8], plan: FaultPlan, world: &mut World) -> Survivor {
        let life = self
            .scenario
            .live(SimulatedDisk::new(bytes.to_vec(), plan), self.policy, world);
        assert_eq!(life.rest, None, "the disk fails");
        self.survive(life)
    }

    /// Restarts the machine and requires the acknowledged records, at the beginning of the branch.
    fn survive(&self, life: Life) -> Survivor {
        let acknowledged = life.acknowledged.clone();
        let store = MemoryStore::open(life.restart()).unwrap();
        let found = records(&store, &self.scenario.run, &self.scenario.main);
        assert!(found.starts_with(&acknowledged), "acknowledged turns are lost");
        Survivor {
            bytes: store.into_disk().bytes().to_vec(),
            records: found,
        }
    }

    /// Lets the next process finish the run; returns the records and the number of its disk
    /// operations.
    fn finish(&self, survivor: &Survivor, world: &mut World) -> (Vec<Record>, u64) {
        let disk = SimulatedDisk::new(survivor.bytes.clone(), FaultPlan::default());
        let life = self.scenario.live(disk, self.policy, world);
        assert_eq!(life.rest, Some(DriveOutcome::Ended { code: 0 }));
        assert!(
            life.acknowledged.starts_with(&survivor.records),
            "the run went on from somewhere else"
        );
        (life.acknowledged, life.disk.operations())
    }
}

/// The remains of a process that was cut.
pub(super) struct Survivor {
    bytes: Vec<u8>,
    records: Vec<Record>,
}

/// Cuts a run everywhere. `judge` receives the world and the records that the run leaves, and the
/// run without a cut. Returns the number of cuts.
pub(super) fn cut_everywhere(course: &Course<'_>, extent: &Extent, judge: impl Fn(&World, &[Record])) -> usize {
    let mut cuts = 0;
    for operation in 0..course.operations {
        for fault in &extent.faults {
            let mut world = course.before.clone();
            let survivor = course.cut(&[], FaultPlan::at(operation, *fault), &mut world);
            assert!(
                course.records.starts_with(&survivor.records),
                "{fault:?} at {operation}: turns nobody took"
            );
            let mut again = world.clone();
            let (records, operations) = course.finish(&survivor, &mut again);
            judge(&again, &records);
            cuts += 1;
            if CUT_AGAIN.contains(fault) {
                cuts += cut_again(course, extent, (&survivor, &world, operations), &judge);
            }
        }
    }
    cuts
}

/// The faults that decide most plainly whether a turn survives; they are tried in every pairing.
const CUT_AGAIN: [DiskFault; 2] = [DiskFault::Crash(Loss::Unsynced), DiskFault::Crash(Loss::Nothing)];

/// Cuts the second process too, so that recovery itself is interrupted.
fn cut_again(
    course: &Course<'_>,
    extent: &Extent,
    (survivor, world, operations): (&Survivor, &World, u64),
    judge: impl Fn(&World, &[Record]),
) -> usize {
    let operations = (0..operations).step_by(extent.second_step);
    let cuts = operations.flat_map(|operation| CUT_AGAIN.map(|fault| (operation, fault)));
    cuts.map(|(operation, fault)| {
        let mut world = world.clone();
        let second = course.cut(&survivor.bytes, FaultPlan::at(operation, fault), &mut world);
        assert!(
            second.records.starts_with(&survivor.records),
            "the second crash lost what survived the first"
        );
        let (records, _) = course.finish(&second, &mut world);
        judge(&world, &records);
    })
    .count()
}

/// The calls of a tool by their keys; a key stands for one call with one payload.
fn by_key(calls: Vec<(String, IOValue)>) -> BTreeMap<String, IOValue> {
    let mut payloads = BTreeMap::new();
    for (key, payload) in calls {
        let known = payloads.entry(key).or_insert_with(|| payload.clone());
        assert_eq!(*known, payload, "one key for two calls");
    }
    payloads
}

const REVIEW_TOOLS: [&str; 3] = ["workspace/list", "workspace/read", "workspace/write"];

/// The calls, in no order that counts: each call once, however often the run repeated it.
fn called(world: &World, tool: &str) -> Vec<String> {
    let mut payloads: Vec<String> = by_key(world.calls(tool))
        .values()
        .map(|payload| format!("{payload:?}"))
        .collect();
    payloads.sort();
    payloads
}

/// The review leaves the same files and makes the same requests.
pub(super) fn check_review(course: &Course<'_>, world: &World, records: &[Record]) {
    assert_eq!(world.files, course.after.files);
    for tool in REVIEW_TOOLS {
        assert_eq!(called(world, tool), called(&course.after, tool), "{tool}");
    }
    // The next process may receive early answers in another order, and a second write reports that
    // nothing has changed; apart from that, the journal does not show the cut.
    let is_repeated = world.calls("workspace/write").len() > 1;
    if world.pace() == Pace::Lazy && !is_repeated {
        assert!(records == course.records, "resuming left a trace in the journal");
    }
    let said = &course.after.console;
    assert!(
        world.console == *said || world.console.is_empty(),
        "said at most once: {:?}",
        world.console
    );
}

fn cut_the_review(pace: Pace, policy: SnapshotPolicy) {
    let scenario = review();
    let course = Course::new(&scenario, policy, World::new(files(), Some("yes"), pace));
    let cuts = cut_everywhere(&course, &Extent::from_environment(), |world, records| {
        check_review(&course, world, records);
    });
    // Turns of inputs that come together share a commit.
    let least = if pace == Pace::Eager { 10 } else { 20 };
    assert!(
        course.operations > least,
        "only {} operations are cut",
        course.operations
    );
    assert!(cuts as u64 >= 15 * course.operations, "only {cuts} cuts");
}

#[test]
fn a_review_cut_anywhere_ends_with_the_same_report() {
    cut_the_review(Pace::Lazy, SnapshotPolicy::NEVER);
}

#[test]
fn a_review_that_is_answered_early_and_cut_anywhere_ends_with_the_same_report() {
    cut_the_review(Pace::Eager, SnapshotPolicy::NEVER);
}

#[test]
fn a_review_with_snapshots_cut_anywhere_ends_with_the_same_report() {
    cut_the_review(Pace::Lazy, every(3));
}

/// Adds the numbers from 1 to 4, each with a tool that must not be called twice, and says which
/// calls were interrupted.
const COUNTING: &str = r#"
(import (scheme base) (scheme write) (duet base) (duet dataspace))
(define (add number)
  (guard (failure ((condition? failure) (list number (condition-kind failure))))
    (call-tool 'test 'counter/add number)
    (list number 'done)))
(define results (map add '(1 2 3 4)))
(call-tool 'test 'workspace/write
           (dictionary 'path "results"
                       'content (let ((port (open-output-string))) (write results port) (get-output-string port))))
"#;

fn counting() -> Scenario {
    Scenario::new("counting.scm", COUNTING, &["counter/add", "workspace/write"])
}

/// No number is added twice, and one that may be missing is known to have been interrupted.
fn check_counting(world: &World) {
    let added: BTreeSet<u64> = world.added.as_slice().iter().copied().collect();
    assert_eq!(added.len(), world.added.len(), "added twice: {:?}", world.added);
    let results = String::from_utf8_lossy(&world.files["results"]).into_owned();
    for number in 1..=4 {
        let (is_done, is_lost) = (
            results.contains(&format!("({number} done)")),
            results.contains(&format!("({number} interrupted)")),
        );
        assert!(is_done || is_lost, "{number}: {results}");
        assert!(
            added.contains(&number) || is_lost,
            "{number} was never added, but {results}"
        );
    }
}

#[test]
fn a_tool_that_must_not_be_repeated_is_called_at_most_once_and_the_program_is_told() {
    for pace in [Pace::Lazy, Pace::Eager] {
        let scenario = counting();
        let course = Course::new(&scenario, SnapshotPolicy::NEVER, World::new(Files::new(), None, pace));
        assert_eq!(course.after.added, [1, 2, 3, 4]);
        let told = std::cell::Cell::new(0);
        cut_everywhere(&course, &Extent::from_environment(), |world, _| {
            check_counting(world);
            told.set(told.get() + usize::from(world.files != course.after.files));
        });
        assert!(told.get() > 0, "some cut must fall between a call and its result");
    }
}
