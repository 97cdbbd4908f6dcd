//! The ways in which such systems are known to fail, one test each.
//!
//! INVARIANT: each test fails on a system that has the defect in its name.
//! Rewinds, forks and lost messages are in `branches.rs`; the table of all of them is in the book,
//! "Testing".

use std::collections::BTreeSet;

use duet_journal::store::memory::{MemoryStore, SimulatedDisk};
use duet_journal::{Record, Store};
use duet_runtime::driver::{Drivers, Effect, EffectKind};
use duet_runtime::model::identity::{RequestId, Resource};
use duet_runtime::model::value::Fact;
use duet_runtime::record::Outcome;
use duet_runtime::run::DriveOutcome;
use duet_runtime::run::replay::Snapshots;
use duet_runtime::run::snapshot::SnapshotPolicy;
use preserves::IOValue;

use crate::support::scenario::{Life, Scenario, at, every, review};
use crate::support::witness::{Plant, Witness, turn_of};
use crate::support::workspace::files;
use crate::support::world::{Files, Pace, World};

fn run(text: &str, capabilities: &'static [&'static str]) -> (Scenario, Life, World) {
    let scenario = Scenario::new("program.scm", text, capabilities);
    let mut world = World::new(Files::new(), None, Pace::Lazy);
    let life = scenario.live(SimulatedDisk::default(), SnapshotPolicy::NEVER, &mut world);
    (scenario, life, world)
}

fn facts(scenario: &Scenario, life: Life) -> Vec<String> {
    let store = MemoryStore::open(life.restart()).unwrap();
    let restored = scenario
        .source(&store, &scenario.main)
        .restore(None, scenario.programs.clone(), Snapshots::Ignore)
        .unwrap();
    restored
        .state()
        .dataspace
        .facts()
        .iter()
        .map(|(fact, _)| format!("{fact:?}"))
        .collect()
}

/// Every id that the turns assigned, in order.
fn made(records: &[Record]) -> Vec<Resource> {
    let turns = records.iter().filter_map(turn_of);
    turns
        .flat_map(|turn| turn.actions)
        .flat_map(|action| action.claims().makes)
        .collect()
}

#[test]
fn turns_are_found_by_their_number_whatever_their_hashes() {
    let scenario = review();
    let life = scenario.live(
        SimulatedDisk::default(),
        every(1),
        &mut World::new(files(), Some("yes"), Pace::Lazy),
    );
    let (records, store) = (life.acknowledged.clone(), MemoryStore::open(life.restart()).unwrap());
    let hashes: Vec<String> = records.iter().map(|record| record.hash().to_string()).collect();
    assert!(!hashes.is_sorted(), "the test needs hashes in another order");
    assert!(records.len() > 10, "the test needs numbers of two digits");
    for record in &records {
        let turn = record.header().sequence;
        let source = scenario.source(&store, &scenario.main);
        let restored = source
            .restore(Some(turn), scenario.programs.clone(), Snapshots::Use)
            .unwrap();
        let tip = restored.head().unwrap();
        assert_eq!((tip.sequence, tip.hash), (turn, record.hash()));
    }
}

#[test]
fn no_id_is_given_twice_in_a_run_not_even_across_processes() {
    let scenario = review();
    let mut world = World::new(files(), None, Pace::Lazy);
    let first = scenario.live(SimulatedDisk::default(), SnapshotPolicy::NEVER, &mut world);
    world.person = Some("yes".to_owned());
    let second = scenario.live(first.restart(), SnapshotPolicy::NEVER, &mut world);
    assert_eq!(second.rest, Some(DriveOutcome::Ended { code: 0 }));
    let made = made(&second.acknowledged);
    assert!(made.len() > 50, "the test needs many ids");
    assert_eq!(made.iter().collect::<BTreeSet<_>>().len(), made.len());
}

#[test]
#[should_panic(expected = "no durable turn")]
fn a_tool_that_runs_before_its_turn_is_durable_is_noticed() {
    let scenario = review();
    let witness = Witness::new(MemoryStore::default(), &scenario.run, &scenario.main, Plant::Nothing);
    let mut world = World::new(files(), None, Pace::Lazy);
    world.meet(witness.ledger());
    let kind = EffectKind::Tool {
        name: "workspace/list".to_owned(),
        payload: Fact::new(IOValue::new(false)).expect("small"),
    };
    world.perform(vec![Effect {
        request: RequestId(1),
        key: String::new(),
        asking: None,
        kind,
    }]);
}

#[test]
fn a_failed_turn_leaves_its_record_and_nothing_else() {
    let text = "(assert! (record 'before 1)) (yield) (assert! (record 'lost 2)) (car '())";
    let (scenario, life, _) = run(text, &[]);
    assert_eq!(life.rest, Some(DriveOutcome::Ended { code: 1 }));
    let last = turn_of(life.acknowledged.last().unwrap()).unwrap();
    let Outcome::Failed { failure } = last.outcome else {
        panic!("the last turn has not failed")
    };
    let origin = failure.origin.expect("the failure has a place");
    assert_eq!(failure.kind, "wrong-type");
    assert_eq!(
        &text[usize::try_from(origin.start).unwrap()..usize::try_from(origin.end).unwrap()],
        "(car '())"
    );
    assert!(
        facts(&scenario, life).is_empty(),
        "the actor's assertions end with it, and the turn was undone"
    );
}

#[test]
fn a_failed_turn_asks_nothing_of_the_world() {
    let (_, life, world) = run(
        "(invoke-tool! 'test 'counter/add 1) (log! \"not seen\") (car '())",
        &["*"],
    );
    assert_eq!(life.rest, Some(DriveOutcome::Ended { code: 1 }));
    // The report of the failure reaches the person alone.
    let mut kinds = world.performed.iter().map(|performed| &performed.effect.kind);
    let is_report = |kind: &EffectKind| matches!(kind, EffectKind::Failure { .. });
    assert!(kinds.all(is_report), "{:?}", world.performed);
}

#[test]
fn a_stopped_facet_takes_its_assertions_along() {
    let text = "
(define inner (spawn-facet!))
(spawn (lambda () (assert! (record 'inside 1)) (await (record 'never))) inner)
(assert! (record 'outside 1))
(yield)
(stop-facet! inner)
(await (record 'never))";
    let (scenario, life, _) = run(text, &[]);
    assert_eq!(life.rest, Some(DriveOutcome::Waiting { fibers: 1 }));
    let facts = facts(&scenario, life);
    assert!(facts.iter().any(|fact| fact == "<outside 1>"), "{facts:?}");
    assert!(!facts.iter().any(|fact| fact == "<inside 1>"), "{facts:?}");
}

#[test]
fn a_tool_that_was_not_granted_is_not_called() {
    let text = "
(define kind
  (guard (failure ((condition? failure) (condition-kind failure)))
    (call-tool 'test 'counter/add 1)))
(assert! (record 'told kind))
(await (record 'never))";
    let (scenario, life, world) = run(text, &["workspace/read", "counter"]);
    assert!(facts(&scenario, life).contains(&"<told capability-denied>".to_owned()));
    assert!(world.performed.is_empty() && world.added.is_empty());
}

#[test]
fn a_long_run_can_be_opened_and_go_on_with_snapshots() {
    let text = "
(define kept (make-vector 20000 'kept))
(let loop ((n 0))
  (if (< n 4200) (begin (yield) (loop (+ n 1)))))
(await (record 'never))";
    let scenario = Scenario::new("program.scm", text, &["*"]);
    let mut world = World::new(Files::new(), None, Pace::Lazy);
    let first = scenario.live(SimulatedDisk::default(), SnapshotPolicy::NEVER, &mut world);
    assert!(first.acknowledged.len() > 4200);
    let mut store = MemoryStore::open(first.restart()).unwrap();
    let mut run = scenario.open(&mut store, &scenario.main, every(1)).unwrap();
    run.deliver(duet_runtime::driver::Input::Interrupt);
    let mut stepped = 0;
    while run.step().unwrap() == duet_runtime::run::Step::Turn {
        stepped += 1;
    }
    assert_eq!(stepped, 1);
    run.flush(&mut store).expect("the snapshot is whole");
    let head = store.head(&scenario.run, &scenario.main).unwrap().unwrap().sequence;
    assert!(
        store
            .record_at(&scenario.run, &scenario.main, head)
            .unwrap()
            .unwrap()
            .header()
            .snapshot
            .is_some()
    );
    let source = scenario.source(&store, &scenario.main);
    let restored = source
        .restore(Some(at(head.number())), scenario.programs.clone(), Snapshots::Use)
        .unwrap();
    assert_eq!(restored.head().unwrap().sequence, head);
}

/// The rows of a table of the book, by the beginning of its heading: a test's name and its file.
pub(crate) fn listed(page: &str, heading: &str) -> Vec<(String, String)> {
    let rows = page.lines().skip_while(|line| !line.starts_with(heading)).skip(2);
    let cell = |text: &str| text.trim().trim_matches('`').to_owned();
    let row = |line: &str| {
        let cells: Vec<&str> = line.split('|').collect();
        (cell(cells[2]), cell(cells[3]))
    };
    rows.take_while(|line| line.starts_with('|')).map(row).collect()
}

#[test]
fn every_known_defect_has_a_test() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |file: &str| std::fs::read_to_string(root.join(file)).unwrap();
    let listed = listed(&read("docs/src/testing.md"), "| Defect |");
    assert_eq!(listed.len(), 9);
    for (test, file) in listed {
        let source = read(&file);
        let before = source.split(&format!("fn {test}()")).next().unwrap_or_default();
        let attributes = before.rsplit("\n\n").next().unwrap_or_default();
        let is_there = before.len() < source.len() && attributes.contains("#[test]");
        assert!(is_there, "{file} has no test {test}");
    }
}
