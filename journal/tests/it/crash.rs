//! An acknowledged commit survives any crash, and every commit survives whole or not at all.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::common::script::{Observation, Step, World, everything, observe};
use crate::common::writer::{Writer, branch, run};
use duet_journal::store::memory::{DiskFault, FaultPlan, Loss, MemoryStore, SimulatedDisk};
use duet_journal::{Append, Letter, LetterId, Need, Store, StoreError, Taken};
use proptest::prelude::*;

/// The contents of a store without faults, before the first step and after each.
struct Course {
    seen: Vec<Observation>,
    worlds: Vec<World>,
    disk_operations: u64,
}

fn run_without_faults(script: &[Step]) -> Course {
    let (mut store, mut world) = (MemoryStore::default(), World::default());
    let mut course = Course {
        seen: vec![observe(&store).unwrap()],
        worlds: vec![world.clone()],
        disk_operations: 0,
    };
    for step in script {
        world.take(step, &mut store).unwrap();
        course.seen.push(observe(&store).unwrap());
        course.worlds.push(world.clone());
    }
    course.disk_operations = store.disk().operations();
    course
}

/// Runs a script until it fails; returns the disk and how many steps were acknowledged.
fn run_with(script: &[Step], plan: FaultPlan) -> (SimulatedDisk, usize) {
    let disk = SimulatedDisk::new(Vec::new(), plan.clone());
    let Ok(mut store) = MemoryStore::open(disk) else {
        // The crash came while the log was begun; the same operations once more give the disk it
        // left behind.
        let mut disk = SimulatedDisk::new(Vec::new(), plan);
        let header = MemoryStore::default().into_disk();
        let _ = disk
            .cut(0)
            .and_then(|()| disk.write(0, header.bytes()))
            .and_then(|()| disk.sync());
        return (disk, 0);
    };
    let mut world = World::default();
    let acknowledged = script
        .iter()
        .take_while(|step| world.take(step, &mut store).is_ok())
        .count();
    if acknowledged < script.len() && !store.disk().is_down() {
        let refused = world.take(&Step::Claim(9), &mut store).unwrap_err();
        assert!(matches!(refused, StoreError::InDoubt), "{refused:?}");
    }
    (store.into_disk(), acknowledged)
}

/// After the fault, the store has the acknowledged commits, perhaps with the commit under way; and
/// work goes on.
#[track_caller]
fn check(script: &[Step], course: &Course, operation: u64, fault: DiskFault) {
    let (disk, acknowledged) = run_with(script, FaultPlan::at(operation, fault));
    let mut store = MemoryStore::open(disk.restart(FaultPlan::default())).unwrap();
    let seen = observe(&store).unwrap();
    let last = script.len().min(acknowledged + 1);
    let done = (acknowledged..=last).rev().find(|&steps| course.seen[steps] == seen);
    let Some(done) = done else {
        panic!("{fault:?} at {operation}: {acknowledged} acknowledged, found {seen:?}")
    };
    let mut world = course.worlds[done].clone();
    world.claim_again(&mut store).unwrap();
    script[done..]
        .iter()
        .for_each(|step| world.take(step, &mut store).unwrap());
    let reopened = MemoryStore::open(store.into_disk().restart(FaultPlan::default())).unwrap();
    assert_eq!(reopened.dropped_bytes(), 0);
    assert_eq!(&observe(&reopened).unwrap(), course.seen.last().unwrap());
}

/// Returns how many crashes there were.
fn check_everywhere(script: &[Step], torn: &[usize], seeds: &[u64]) -> u64 {
    let course = run_without_faults(script);
    let mut losses = vec![Loss::Nothing, Loss::Unsynced];
    losses.extend(torn.iter().map(|&kept_bytes| Loss::Torn { kept_bytes }));
    losses.extend(seeds.iter().map(|&seed| Loss::Reordered { seed }));
    for operation in 0..course.disk_operations {
        check(script, &course, operation, DiskFault::Error);
        losses
            .iter()
            .for_each(|&loss| check(script, &course, operation, DiskFault::Crash(loss)));
    }
    course.disk_operations * (losses.len() as u64 + 1)
}

#[test]
fn a_crash_anywhere_in_a_script_that_uses_everything_is_harmless() {
    let torn: Vec<usize> = (0..1200).step_by(7).collect();
    let mut points = check_everywhere(&everything(), &torn, &(0..32).collect::<Vec<_>>());
    let mut first = 32;
    while points < wanted_points() {
        points += check_everywhere(&everything(), &[], &(first..first + 1024).collect::<Vec<_>>());
        first += 1024;
    }
    assert!(points > 2000, "{points} crash points");
}

/// The number of crash points of the long form; the short form has a fixed number.
fn wanted_points() -> u64 {
    #[expect(clippy::disallowed_methods, reason = "a test has no command line of its own")]
    let wanted = std::env::var("DUET_CRASH_POINTS").ok();
    wanted.and_then(|number| number.parse().ok()).unwrap_or(0)
}

fn step() -> impl Strategy<Value = Step> {
    let (run, branch) = (0..2u8, 0..2u8);
    prop_oneof![
        1 => run.clone().prop_map(Step::Claim),
        6 => (run.clone(), branch.clone(), 1..4u8, prop::option::of(0..3u8))
            .prop_map(|(run, branch, records, blob)| Step::Write { run, branch, records, blob }),
        2 => (run.clone(), branch.clone()).prop_map(|(run, branch)| Step::Talk { run, branch }),
        2 => (run.clone(), run.clone()).prop_map(|(a, b)| Step::Group(a, b)),
        2 => (run.clone(), branch.clone(), 0..4u8).prop_map(|(run, branch, by)| Step::Rewind { run, branch, by }),
        1 => (run.clone(), branch.clone()).prop_map(|(run, from)| Step::Fork { run, from, to: 1 - from }),
        1 => (run, branch).prop_map(|(run, branch)| Step::GiveUp { run, branch }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn a_crash_anywhere_in_any_script_is_harmless(
        mut script in prop::collection::vec(step(), 1..12),
        torn in prop::collection::vec(0..2000usize, 4),
        seeds in prop::collection::vec(any::<u64>(), 4),
    ) {
        script.splice(0..0, [Step::Claim(0), Step::Claim(1)]);
        check_everywhere(&script, &torn, &seeds);
    }
}

#[test]
fn a_torn_last_commit_is_cut_off_and_said_so() {
    let course = run_without_faults(&everything());
    let fault = DiskFault::Crash(Loss::Torn { kept_bytes: 40 });
    let (disk, acknowledged) = run_with(&everything(), FaultPlan::at(course.disk_operations - 1, fault));
    assert_eq!(acknowledged, everything().len() - 1);
    let store = MemoryStore::open(disk.restart(FaultPlan::default())).unwrap();
    assert_eq!(store.dropped_bytes(), 40);
    let again = MemoryStore::open(store.into_disk().restart(FaultPlan::default())).unwrap();
    assert_eq!(again.dropped_bytes(), 0);
}

#[test]
fn a_letter_and_its_record_survive_a_crash_together() {
    for at in 0..24 {
        for loss in [Loss::Unsynced, Loss::Nothing, Loss::Torn { kept_bytes: 20 }] {
            let disk = SimulatedDisk::new(Vec::new(), FaultPlan::at(at, DiskFault::Crash(loss)));
            let Ok(mut store) = MemoryStore::open(disk) else {
                continue;
            };
            let is_acknowledged = correspond(&mut store).is_ok();
            let store = MemoryStore::open(store.into_disk().restart(FaultPlan::default())).unwrap();
            let (run, branch) = (run("r"), branch("main"));
            let turns = store
                .head(&run, &branch)
                .ok()
                .flatten()
                .map_or(0, |head| head.sequence.number());
            let reply = store.reply(&run, LetterId([1; 16])).unwrap();
            assert_eq!(reply.is_some(), turns == 1, "{at} {loss:?}");
            assert!(!is_acknowledged || reply.is_some(), "{at} {loss:?}");
            let need = store.need(&run, &branch).unwrap_or_default();
            let expected = [Need::OWNER, Need::Moment(7)][usize::try_from(turns).unwrap()];
            assert!(
                need == expected || store.has_run(&run).is_ok_and(|has_run| !has_run),
                "{at} {loss:?}"
            );
        }
    }
}

/// Sends a letter to a run that hears it in its next turn.
fn correspond(store: &mut MemoryStore) -> Result<(), StoreError> {
    let mut main = Writer {
        run: run("r"),
        branch: branch("main"),
        epoch: store.claim(&run("r"), "")?,
        head: None,
    };
    let records = main.chain(&["0", "1"]);
    store.append(Append {
        need: Need::OWNER,
        ..main.append(&records[..1], &[])
    })?;
    main.move_to(&records[0]);
    let letter = Letter {
        id: LetterId([1; 16]),
        branch: main.branch.clone(),
        sent_ms: 1,
        body: b"go on".to_vec(),
    };
    store.put(&main.run, &letter)?;
    let taken = Taken {
        letter: letter.id,
        reply: b"yes".to_vec(),
    };
    store.append(Append {
        need: Need::Moment(7),
        taken: &[taken],
        ..main.append(&records[1..], &[])
    })
}
