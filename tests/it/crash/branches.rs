//! Rewinds and forks of whole runs.
//!
//! INVARIANT: going back never deletes; a run that continues from a turn continues as it would have
//! without the detour, and a fork does not change the branch that it leaves.
//! Read next: `defects.rs`.

use std::collections::BTreeMap;

use duet_journal::store::memory::{FaultPlan, MemoryStore, SimulatedDisk};
use duet_journal::{BranchName, Record, Sequence, Store, StoreError};
use duet_runtime::run::DriveOutcome;
use duet_runtime::run::error::RunError;
use duet_runtime::run::heads::move_head;
use duet_runtime::run::replay::Snapshots;
use duet_runtime::run::snapshot::SnapshotPolicy;
use duet_runtime::run::source::BranchClaim;
use preserves::IOValue;

use crate::support::readable::first_with;
use crate::support::scenario::{Scenario, at, branch, every, review};
use crate::support::witness::{Plant, records};
use crate::support::workspace::files;
use crate::support::world::{Files, Pace, World};

/// A finished run and its store.
pub(crate) struct Past {
    scenario: Scenario,
    policy: SnapshotPolicy,
    disk: Vec<u8>,
    before: World,
    after: World,
    records: Vec<Record>,
}

impl Past {
    /// Runs a scenario to its end.
    pub(crate) fn new(scenario: Scenario, policy: SnapshotPolicy, before: World) -> Self {
        let mut after = before.clone();
        let life = scenario.live(SimulatedDisk::default(), policy, &mut after);
        assert!(life.rest.is_some(), "the disk does not fail");
        let records = life.acknowledged.clone();
        Self {
            scenario,
            policy,
            disk: life.restart().bytes().to_vec(),
            before,
            after,
            records,
        }
    }

    pub(crate) fn store(&self) -> MemoryStore {
        MemoryStore::open(SimulatedDisk::new(self.disk.clone(), FaultPlan::default())).unwrap()
    }

    fn head(&self) -> u64 {
        self.records.last().unwrap().header().sequence.number()
    }

    /// Continues from a turn of the main branch, on that branch or a new one, in a world of its
    /// own; returns the store.
    pub(crate) fn continue_from(&self, turn: Sequence, fork: Option<&BranchName>, world: &mut World) -> MemoryStore {
        let mut store = self.store();
        move_head(
            &mut store,
            BranchClaim::new(&self.scenario.run, &self.scenario.main, "test"),
            turn,
            fork,
        )
        .unwrap();
        let on = fork.unwrap_or(&self.scenario.main);
        let life = self.scenario.live_on(store.into_disk(), on, self.policy, world);
        assert!(life.rest.is_some(), "the disk does not fail");
        MemoryStore::open(life.restart()).unwrap()
    }

    /// The facts after a turn, as a fresh process finds them.
    fn facts(&self, store: &MemoryStore, on: &BranchName, turn: Option<Sequence>) -> Vec<(IOValue, u64)> {
        let restored = self
            .scenario
            .source(store, on)
            .restore(turn, self.scenario.programs.clone(), Snapshots::Use);
        restored.unwrap().state().dataspace.facts()
    }

    fn records_of(&self, store: &MemoryStore, on: &BranchName) -> Vec<Record> {
        records(store, &self.scenario.run, on)
    }
}

fn reviewed(policy: SnapshotPolicy) -> Past {
    let past = Past::new(review(), policy, World::new(files(), Some("yes"), Pace::Lazy));
    assert!(past.after.files.contains_key("review-reports/accepted.md"));
    past
}

/// Workers that talk to each other by messages, so that some are in flight after nearly every turn.
const TALKING: &str = r#"
(import (scheme base) (duet base) (duet dataspace))
(define (relay from to)
  (on-message (token ,from $count)
    (if (< count 12) (message! (record 'token to (+ count 1))))
    (assert! (record 'seen from count))))
(relay 'a 'b)
(relay 'b 'c)
(relay 'c 'a)
(yield)
(message! (record 'token 'a 1))
(message! (record 'token 'b 1))
(await (record 'seen :field 1 :equals 12))
"#;

/// The workers pass two tokens on; the run ends after this many sightings.
const TOKENS_SEEN: usize = 2 * 12;

pub(super) fn talked(policy: SnapshotPolicy) -> Past {
    talked_on(policy, Plant::Nothing)
}

/// The same on stores with a fault built in.
pub(super) fn talked_on(policy: SnapshotPolicy, plant: Plant) -> Past {
    let mut scenario = Scenario::new("talking.scm", TALKING, &[]);
    scenario.plant = plant;
    Past::new(scenario, policy, World::new(Files::new(), None, Pace::Lazy))
}

/// Goes back to every turn and on again; the records must be those of the run that never went back.
pub(super) fn rewind_everywhere(past: &Past) {
    for turn in (0..=past.head()).map(at) {
        let mut world = past.before.clone();
        let store = past.continue_from(turn, None, &mut world);
        let again = past.records_of(&store, &past.scenario.main);
        assert!(again == past.records, "going on from turn {turn} leaves other records");
        // The second run does not repeat the effects of earlier turns, so only the last turns'
        // files are there.
        assert!(
            world
                .files
                .iter()
                .all(|(path, bytes)| past.after.files.get(path) == Some(bytes))
        );
    }
}

#[test]
fn rewinding_and_going_on_equals_never_having_rewound() {
    rewind_everywhere(&reviewed(SnapshotPolicy::NEVER));
}

#[test]
fn restoring_a_snapshot_at_every_turn_and_going_on_equals_never_having_stopped() {
    rewind_everywhere(&reviewed(every(1)));
}

#[test]
fn messages_in_flight_at_a_rewind_are_not_lost() {
    for policy in [SnapshotPolicy::NEVER, every(1)] {
        let past = talked(policy);
        let seen = past.facts(&past.store(), &past.scenario.main, None);
        assert_eq!(
            seen.iter()
                .filter(|(fact, _)| format!("{fact:?}").starts_with("<seen"))
                .count(),
            TOKENS_SEEN
        );
        let is_in_flight = |turn: &u64| {
            let store = past.store();
            let source = past.scenario.source(&store, &past.scenario.main);
            let restored = source
                .restore(Some(at(*turn)), past.scenario.programs.clone(), Snapshots::Use)
                .unwrap();
            !restored.state().queue.is_empty()
        };
        assert!(
            (0..=past.head()).filter(is_in_flight).count() >= 10,
            "the test needs messages in flight"
        );
        rewind_everywhere(&past);
    }
}

/// The report of a branch that forks before turn `turn` has its answer, and on which the person
/// answers `answer`.
fn fork_at_the_question(past: &Past, answer: &str) -> (World, MemoryStore) {
    let asked = first_with(&past.records, "ask-user");
    let mut world = World::new(files(), Some(answer), Pace::Lazy);
    let store = past.continue_from(asked, Some(&branch("other")), &mut world);
    (world, store)
}

#[test]
fn a_fork_at_the_question_can_be_answered_otherwise() {
    for policy in [SnapshotPolicy::NEVER, every(4)] {
        let past = reviewed(policy);
        let (world, store) = fork_at_the_question(&past, "no");
        let report = String::from_utf8_lossy(&world.files["review-reports/returned.md"]).into_owned();
        assert!(report.contains("Verdict: returned by a person."), "{report}");
        assert!(!world.files.contains_key("review-reports/accepted.md"));
        assert!(
            past.records_of(&store, &past.scenario.main) == past.records,
            "the first branch has changed"
        );
        let asked = first_with(&past.records, "ask-user").number();
        let forked = past.records_of(&store, &branch("other"));
        let shared = usize::try_from(asked + 1).unwrap();
        assert!(forked[..shared] == past.records[..shared], "the fork has another past");
        assert!(
            forked[shared..] != past.records[shared..],
            "the fork has the same future"
        );
    }
}

#[test]
fn calls_that_differ_between_branches_have_different_keys() {
    let past = reviewed(SnapshotPolicy::NEVER);
    let (world, _) = fork_at_the_question(&past, "no");
    let mut payloads: BTreeMap<String, IOValue> = BTreeMap::new();
    for (key, payload) in past
        .after
        .calls("workspace/write")
        .into_iter()
        .chain(world.calls("workspace/write"))
    {
        let known = payloads.entry(key).or_insert_with(|| payload.clone());
        assert_eq!(
            *known, payload,
            "a tool that knows the key would not write the second report"
        );
    }
    assert_eq!(payloads.len(), 2);
}

#[test]
fn a_fork_begins_where_it_was_asked_to() {
    let past = reviewed(every(5));
    for turn in (0..=past.head()).map(at) {
        let mut store = past.store();
        let fork = branch("fork");
        move_head(
            &mut store,
            BranchClaim::new(&past.scenario.run, &past.scenario.main, "test"),
            turn,
            Some(&fork),
        )
        .unwrap();
        assert_eq!(store.head(&past.scenario.run, &fork).unwrap().unwrap().sequence, turn);
        let there = past.facts(&store, &past.scenario.main, Some(turn));
        assert_eq!(past.facts(&store, &fork, None), there, "turn {turn}");
    }
}

#[test]
fn going_back_on_a_fork_keeps_the_facts() {
    let past = reviewed(SnapshotPolicy::NEVER);
    let fork = branch("other");
    for policy_turn in (4..=18).map(at) {
        let (_, mut store) = fork_at_the_question(&past, "no");
        move_head(
            &mut store,
            BranchClaim::new(&past.scenario.run, &fork, "test"),
            policy_turn,
            None,
        )
        .unwrap();
        let facts = past.facts(&store, &fork, None);
        assert_eq!(facts, past.facts(&store, &past.scenario.main, Some(policy_turn)));
        let is_measured = |(fact, _): &(IOValue, u64)| format!("{fact:?}").starts_with("<measured");
        assert!(facts.iter().any(is_measured), "turn {policy_turn}: {facts:?}");
    }
}

#[test]
fn a_fork_cannot_take_the_name_of_a_branch() {
    let past = reviewed(SnapshotPolicy::NEVER);
    let mut store = past.store();
    let main = &past.scenario.main;
    let refused = move_head(
        &mut store,
        BranchClaim::new(&past.scenario.run, main, "test"),
        at(3),
        Some(main),
    );
    assert!(
        matches!(refused, Err(RunError::Store(StoreError::HeadMoved { .. }))),
        "{refused:?}"
    );
    let beyond = move_head(
        &mut store,
        BranchClaim::new(&past.scenario.run, main, "test"),
        at(past.head() + 1),
        None,
    );
    assert!(matches!(beyond, Err(RunError::NoTurn { .. })), "{beyond:?}");
    assert!(past.records_of(&store, main) == past.records);
}

#[test]
fn a_run_without_an_answer_waits_and_goes_on_when_there_is_one() {
    let past = Past::new(review(), every(4), World::new(files(), None, Pace::Lazy));
    let store = past.store();
    let waiting = past.scenario.source(&store, &past.scenario.main);
    let asking = waiting
        .restore(None, past.scenario.programs.clone(), Snapshots::Use)
        .unwrap()
        .open_questions();
    assert_eq!(asking.len(), 1, "the question stands open");
    let mut world = World::new(files(), Some("yes"), Pace::Lazy);
    let life = past.scenario.live(store.into_disk(), past.policy, &mut world);
    assert_eq!(life.rest, Some(DriveOutcome::Ended { code: 0 }));
    assert!(
        life.acknowledged == reviewed(every(4)).records,
        "waiting for the person left a trace"
    );
}
