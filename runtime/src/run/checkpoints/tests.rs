//! Rewinding in memory, compared with restoring from the store.

use super::*;
use crate::model::codec::Codec;
use crate::run::inflight::Recovery;
use crate::run::replay::Snapshots;
use crate::run::snapshot::SnapshotPolicy;
use crate::run::source::{BranchClaim, Source};
use crate::run::{DriveOutcome, Run};
use crate::tests::script::world::{World, branch, read_answers, run_id};
use crate::tests::script::{Scripts, parse};

/// Actors that start, wait, end and answer each other.
const BUSY: &str = "main:
    watch w seen <group <rec p> {0: <bind <_>>}>
    actor other console workspace/read
    assert a <p main>
    yield
    tool workspace/read t1 1
    await-tool t1
    actor other console workspace/read
    yield
    retract a
    yield
    write done
    await <lit never>
  other:
    assert c <p other>
    yield
    tool workspace/read t3 3
    await-tool t3
    show other
  seen:
    show seen";

fn at(number: u64) -> Sequence {
    Sequence::new(number).expect("small")
}

/// Drives a run until it waits for others, with a checkpoint whenever the turns since the last
/// reach this cost.
fn rested(cost: u64) -> World<Scripts> {
    let mut world = World::script(BUSY, &["*"], SnapshotPolicy::NEVER);
    world.run.checkpoint_after(cost);
    world.drivers.answers = read_answers(&[Ok("one"), Ok("two"), Ok("three"), Ok("four")]);
    assert_eq!(world.drive(), DriveOutcome::Waiting { fibers: 1 });
    world
}

#[test]
fn a_run_goes_back_and_on_to_any_turn_in_memory_as_by_the_store() {
    for cost in [1, 3 * TURN_COST, u64::MAX] {
        let world = rested(cost);
        let (name, main) = (run_id(), branch("main"));
        let source = Source {
            store: &world.store,
            run: &name,
            branch: &main,
        };
        let head = world.run.head().expect("turns were taken").sequence.number();
        let script = parse(BUSY);
        let mut run = world.run;
        for step in 0..4 * head {
            let turn = at(step * 7 % (head + 1));
            run = run.rewind(&source, Some(turn)).expect("it goes there");
            let mut restored = source
                .restore(Some(turn), Scripts(script.clone()), Snapshots::Ignore)
                .expect("it replays");
            assert_eq!(run.head(), restored.head(), "cost {cost}, turn {turn}");
            assert_eq!(
                run.state().encode(),
                restored.state().encode(),
                "cost {cost}, turn {turn}"
            );
            let instances = |run: &mut Run| run.instances.iter_mut().map(|(actor, _)| actor).collect::<Vec<_>>();
            assert_eq!(
                instances(&mut run),
                instances(&mut restored),
                "cost {cost}, turn {turn}"
            );
        }
    }
}

#[test]
fn going_back_in_memory_replays_from_the_nearest_checkpoint() {
    let world = rested(1);
    let (name, main) = (run_id(), branch("main"));
    let source = Source {
        store: &world.store,
        run: &name,
        branch: &main,
    };
    let head = world.run.head().expect("turns were taken").sequence;
    let back = at(head.number() - 2);
    let on_branch = |tip: &Tip| Ok(source.record(tip.sequence)?.hash() == tip.hash);
    assert!(
        world
            .run
            .checkpoints
            .newest_on(back, on_branch)
            .expect("it reads")
            .is_some()
    );
    let run = world.run.rewind(&source, Some(back)).expect("it goes back");
    assert_eq!(run.checkpoints.kept.back().map(|kept| kept.tip.sequence), Some(back));
    assert!(run.checkpoints.cost < TURN_COST, "nothing was replayed");
}

#[test]
fn a_run_that_was_reopened_goes_on_as_one_that_another_process_opens() {
    let mut world = rested(1);
    let (name, main, fork) = (run_id(), branch("main"), branch("fork"));
    let head = world.run.head().expect("turns were taken").sequence.number();
    crate::run::heads::move_head(
        &mut world.store,
        BranchClaim::new(&name, &main, "test"),
        at(head / 2),
        Some(&fork),
    )
    .expect("it forks");
    let recovery = Recovery::default();
    let mut reopened = world
        .run
        .reopen(&mut world.store, &fork, "test", &recovery)
        .expect("it opens");
    reopened.flush(&mut world.store).expect("nothing is left to write");
    let effects = |run: &mut Run| {
        while run.step().expect("it goes on") == crate::run::Step::Turn {}
        run.state().encode()
    };
    let here = effects(&mut reopened);
    let programs = (world.again)(&world.store);
    let place = BranchClaim::new(&name, &fork, "test");
    let mut opened = Run::open(&mut world.store, place, programs, SnapshotPolicy::NEVER, &recovery).expect("it opens");
    assert_eq!(here, effects(&mut opened));
}
