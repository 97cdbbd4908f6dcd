//! Replays runs from their records and finds every difference.
//!
//! INVARIANT: replay accepts nothing but the recorded actions; it names the turn at which another
//! program differs, or a journal that somebody has altered, even with all its hashes put right.
//! Read next: `branches.rs`.

use duet_journal::store::memory::{MemoryStore, SimulatedDisk};
use duet_journal::{Append, Blob, Header, PackedValue, Record, Store};
use duet_runtime::gate::{Reason, Verdict};
use duet_runtime::model::codec::Codec;
use duet_runtime::record::divergence::Divergence;
use duet_runtime::record::{Attempt, TurnRecord};
use duet_runtime::run::error::RunError;
use duet_runtime::run::snapshot::SnapshotPolicy;
use duet_runtime::run::source::genesis;
use duet_runtime::scheme::SchemePrograms;

use crate::support::scenario::{Scenario, every, review, review_of, review_text};
use crate::support::witness::turn_of;
use crate::support::workspace::files;
use crate::support::world::{Pace, World};

pub(super) fn recorded(scenario: &Scenario, policy: SnapshotPolicy) -> (Vec<Record>, MemoryStore) {
    let mut world = World::new(files(), Some("yes"), Pace::Lazy);
    let life = scenario.live(SimulatedDisk::default(), policy, &mut world);
    (life.acknowledged.clone(), MemoryStore::open(life.restart()).unwrap())
}

#[test]
fn a_review_replays_identically() {
    for policy in [SnapshotPolicy::NEVER, every(2)] {
        let scenario = review();
        let (records, store) = recorded(&scenario, policy);
        let turns = scenario
            .source(&store, &scenario.main)
            .check(scenario.programs.clone())
            .unwrap();
        assert_eq!(turns, records.len() as u64 - 1);
    }
}

#[test]
fn a_review_replays_from_the_texts_that_its_journal_pins() {
    let scenario = review();
    let (records, store) = recorded(&scenario, every(5));
    let program = genesis(&records[0]).unwrap().program;
    let programs = SchemePrograms::pinned(&program, &mut |hash| store.blob(hash).ok(), &|_| None).unwrap();
    assert_eq!(
        scenario.source(&store, &scenario.main).check(programs).unwrap(),
        records.len() as u64 - 1
    );
}

/// A store whose record at `position` has another body, with the hashes of all records after it put
/// right.
pub(super) fn altered(scenario: &Scenario, records: &[Record], position: usize, turn: &TurnRecord) -> MemoryStore {
    let mut chain: Vec<Record> = records[..position].to_vec();
    for record in &records[position..] {
        let body = if chain.len() == position {
            turn.encode()
        } else {
            record.body()
        };
        let parent = chain.last().map(|record| record.hash());
        let header = Header {
            parent,
            ..record.header().clone()
        };
        chain.push(Record::new(header, PackedValue::from_value(&body).unwrap()).unwrap());
    }
    let mut store = MemoryStore::default();
    let epoch = store.claim(&scenario.run, "test").unwrap();
    let blobs: &[Blob] = &scenario.program.pinned;
    let (run, branch, expected_head) = (&scenario.run, &scenario.main, None);
    store
        .append(Append {
            run,
            branch,
            epoch,
            expected_head,
            records: &chain,
            blobs,
            times: None,
            need: duet_journal::Need::Nothing,
            taken: &[],
        })
        .unwrap();
    store
}

pub(super) fn divergence(scenario: &Scenario, store: &dyn Store) -> Divergence {
    match scenario.source(store, &scenario.main).check(scenario.programs.clone()) {
        Err(RunError::Divergence(divergence)) => *divergence,
        other => panic!("the difference was not found: {other:?}"),
    }
}

/// Alters each turn in one way, where that way applies, and requires replay to name the turn and
/// the part.
fn alter_everywhere(part: &str, alter: impl Fn(&mut TurnRecord) -> bool) {
    let scenario = review();
    let (records, _) = recorded(&scenario, SnapshotPolicy::NEVER);
    let mut altered_turns = 0;
    for (position, record) in records.iter().enumerate() {
        let Some(mut turn) = turn_of(record) else { continue };
        if !alter(&mut turn) {
            continue;
        }
        altered_turns += 1;
        let found = divergence(&scenario, &altered(&scenario, &records, position, &turn));
        assert_eq!((found.sequence, found.part), (record.header().sequence, part));
    }
    assert!(altered_turns > 10, "the alteration applies to {altered_turns} turns");
}

#[test]
fn an_action_that_is_missing_from_the_journal_is_found() {
    alter_everywhere("actions", |turn| turn.actions.pop().is_some());
}

#[test]
fn an_action_too_many_in_the_journal_is_found() {
    alter_everywhere("actions", |turn| {
        turn.actions.extend(turn.actions.first().cloned());
        !turn.actions.is_empty()
    });
}

#[test]
fn actions_in_another_order_are_found() {
    alter_everywhere("actions", |turn| {
        turn.actions.reverse();
        turn.actions.len() > 1
    });
}

#[test]
fn another_use_of_fuel_is_found() {
    alter_everywhere("fuel", |turn| {
        turn.fuel += 1;
        true
    });
}

#[test]
fn another_verdict_is_found() {
    let denied = Verdict::Deny {
        reason: Reason::NotOwned {},
    };
    alter_everywhere("verdicts", |turn| {
        let last = turn.verdicts.last_mut();
        last.map(|last| last.clone_from(&denied)).is_some()
    });
}

#[test]
fn another_attempt_is_found() {
    alter_everywhere("attempts", |turn| {
        let denied = Verdict::Deny {
            reason: Reason::NotOwned {},
        };
        turn.attempts.push(Attempt {
            event: None,
            actions: Vec::new(),
            verdict: denied,
        });
        true
    });
}

/// Replays the review with a program in which `old` is replaced, and returns the divergence with
/// the text that it points to.
fn with_change(old: &str, new: &str) -> (Divergence, String) {
    let (_, store) = recorded(&review(), SnapshotPolicy::NEVER);
    let text = review_text().replacen(old, new, 1);
    assert!(text != review_text(), "{old} is not in the program");
    let changed = review_of(&text);
    changed.stand_in_for(&review());
    let found = divergence(&changed, &store);
    let span = found.span.as_ref().expect("the divergence has a place");
    assert_eq!(span.source, "examples/review/review.scm");
    let place = text[usize::try_from(span.start).unwrap()..usize::try_from(span.end).unwrap()].to_owned();
    (found, place)
}

#[test]
fn a_changed_program_diverges_where_it_first_does_something_else() {
    let (found, place) = with_change("(progress! \"reviewing\"", "(progress! \"looking at\"");
    assert_eq!(
        (found.sequence.number(), found.part, found.element),
        (4, "actions", Some(0))
    );
    assert_eq!(place, "(progress! \"looking at\" done total)");
    let (found, place) = with_change("(record 'measured path (measure", "(record 'measured content (measure");
    assert_eq!(
        (found.sequence.number(), found.part, found.element),
        (3, "actions", Some(1))
    );
    assert!(place.starts_with("(assert!"), "{place}");
    let (found, place) = with_change("(user-input :prompt", "(begin (car #f)) (user-input :prompt");
    assert_eq!(found.sequence.number(), 18);
    assert_eq!(place, "(car #f)");
}
