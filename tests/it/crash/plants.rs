//! Faults that are built in on purpose: the suite must notice each of them.
//!
//! INVARIANT: every test here runs a part of the suite that passes without the plant, and requires
//! the failure that the plant causes. The plant for the log's checksum is in
//! `journal/tests/it/damage.rs`.
//! Read next: `../support/witness.rs`.

use duet_journal::store::memory::MemoryStore;
use duet_runtime::driver::Drivers;
use duet_runtime::run::Step;
use duet_runtime::run::snapshot::SnapshotPolicy;

use super::branches::{rewind_everywhere, talked_on};
use super::power::{Course, Extent, cut_everywhere};
use super::replay::{altered, divergence, recorded};
use crate::support::scenario::{Scenario, every, review};
use crate::support::witness::{Plant, Witness, turn_of};
use crate::support::world::{Files, Pace, World};

/// Asks nothing of the world, so that only its records can show a loss.
const QUIET: &str = "
(import (scheme base) (duet base) (duet dataspace))
(do ((n 0 (+ n 1))) ((= n 200)) (assert! (record 'n n)) (yield))";

#[test]
#[should_panic(expected = "acknowledged turns are lost")]
fn a_skipped_sync_is_noticed() {
    let mut scenario = Scenario::new("quiet.scm", QUIET, &[]);
    scenario.plant = Plant::SkippedSync;
    let world = World::new(Files::new(), None, Pace::Lazy);
    let course = Course::new(&scenario, SnapshotPolicy::NEVER, world);
    cut_everywhere(&course, &Extent::from_environment(), |_, _| {});
}

#[test]
fn without_the_plant_no_sync_is_missing() {
    let scenario = Scenario::new("quiet.scm", QUIET, &[]);
    let world = World::new(Files::new(), None, Pace::Lazy);
    let course = Course::new(&scenario, SnapshotPolicy::NEVER, world);
    assert!(cut_everywhere(&course, &Extent::from_environment(), |_, _| {}) > 50);
}

#[test]
#[should_panic(expected = "no durable turn")]
fn an_effect_that_is_released_early_is_noticed() {
    let scenario = Scenario::new("early.scm", "(log! \"seen\")", &["console"]);
    let mut witness = Witness::new(MemoryStore::default(), &scenario.run, &scenario.main, Plant::Nothing);
    let mut world = World::new(Files::new(), None, Pace::Eager);
    world.meet(witness.ledger());
    let mut run = scenario.start_or_open(&mut witness, SnapshotPolicy::NEVER).unwrap();
    run.flush(&mut witness).unwrap();
    while run.step().unwrap() == Step::Turn {
        // This is the wrong order: the effects leave before the store has the turn.
        world.perform(run.confirm_durable());
    }
}

#[test]
#[should_panic(expected = "going on from turn")]
fn a_snapshot_without_what_is_in_flight_is_noticed() {
    rewind_everywhere(&talked_on(every(1), Plant::LostBatches));
}

#[test]
#[should_panic(expected = "the difference was not found")]
fn a_replay_that_skips_the_check_of_one_turns_actions_is_noticed() {
    let scenario = review();
    let (records, _) = recorded(&scenario, SnapshotPolicy::NEVER);
    // Late, so that the consequences of the action cannot reveal it.
    let position = (1..records.len())
        .rev()
        .find(|&position| !turn_of(&records[position]).unwrap().actions.is_empty());
    let position = position.unwrap();
    let mut turn = turn_of(&records[position]).unwrap();
    turn.actions.pop();
    let store = altered(&scenario, &records, position, &turn);
    let witness = Witness::new(store, &scenario.run, &scenario.main, Plant::Nothing);
    divergence(&scenario, &witness.believing(records[position].clone()));
}
