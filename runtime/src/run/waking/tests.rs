//! Runs of Scheme actors that stay frozen when they are restored.

use duet_journal::store::memory::MemoryStore;
use duet_journal::{Blob, BlobHash, Sequence};

use super::*;
use crate::driver::Input;
use crate::model::codec::record;
use crate::record::TurnRecord;
use crate::run::inflight::Recovery;
use crate::run::proof::tests::{forged, last_snapshot, packed};
use crate::run::replay::Snapshots;
use crate::run::snapshot::SnapshotPolicy;
use crate::run::source::{BranchClaim, Source};
use crate::scheme::SchemePrograms;
use crate::scheme::tests::world_within;
use crate::tests::script::world::{LIMITS, World, branch, read_answers, run_id};
use crate::turn::program::Programs;

/// The number of actors besides the main one.
const COUNT: u64 = 24;

/// Takes a snapshot at each turn.
const ALWAYS: SnapshotPolicy = SnapshotPolicy {
    turns: 1,
    ..SnapshotPolicy::NEVER
};

/// Actors that count their messages; the main one sends a message to whichever the person names.
const COUNTERS: &str = "
    (define-library (counter) (export counter) (import (duet kernel))
      (begin
        (define told 0)
        (define (counter number)
          (watch (pattern (poke ,number)) (lambda (event)
            (set! told (+ told 1))
            (log! (list number told)))))))
    (import (duet kernel) (counter))
    (register-entity! 'counter counter)
    (define (make from to)
      (if (< from to) (begin (spawn-entity! 'counter ':config from) (make (+ from 1) to))))
    (make 1 25)
    (define (ask)
      (message! (record 'poke (%await (record 'user-input ':prompt 'which) #f)))
      (ask))
    (ask)";

fn world() -> World<SchemePrograms> {
    let mut world = world_within(LIMITS, COUNTERS, &["*"], ALWAYS);
    world.drive();
    world
}

fn answer(world: &mut World<SchemePrograms>, value: &str) {
    let open = world.run.open_questions().pop();
    let request = open.expect("a question is open").request;
    let value = read_answers(&[Ok(value)])
        .pop_front()
        .and_then(Result::ok)
        .expect("a value");
    world.run.deliver(Input::Answer { request, value });
    world.drive();
}

fn open(world: &mut World<SchemePrograms>) -> Result<Run, RunError> {
    let programs = world.programs();
    let (run, main) = (run_id(), branch("main"));
    let claim = BranchClaim::new(&run, &main, "test");
    Run::open(&mut world.store, claim, programs, ALWAYS, &Recovery::default())
}

fn frozen(run: &Run) -> usize {
    (0..=COUNT).filter(|actor| run.frozen.has(ActorId(*actor))).count()
}

/// The turns of a run that answers in this order, and is opened again before each answer if it
/// `stops`.
fn turns(answers: &[&str], stops: bool) -> (Vec<TurnRecord>, usize) {
    let (mut world, mut most) = (world(), 0);
    for value in answers {
        if stops {
            world.run = open(&mut world).expect("it opens");
            most = most.max(frozen(&world.run));
        }
        answer(&mut world, value);
    }
    world.check_replay();
    (world.turns("main"), most)
}

/// What the instance of each actor keeps.
fn digests(run: &mut Run) -> Vec<Option<BlobHash>> {
    let digest = |programs: &mut SchemePrograms, instance: &mut _| programs.digest(instance).expect("it has names");
    let actors = (0..=COUNT).map(ActorId);
    actors
        .map(|actor| run.look(actor, digest).expect("the image is sound"))
        .collect()
}

fn with_source<T>(store: &MemoryStore, ask: impl FnOnce(Source<'_>) -> T) -> T {
    let (run, branch) = (run_id(), branch("main"));
    ask(Source {
        store,
        run: &run,
        branch: &branch,
    })
}

/// The journal of a run, with another image of the actor that was made last.
fn damaged(world: &World<SchemePrograms>) -> MemoryStore {
    let mut snapshot = last_snapshot(&world.store);
    let garbage = Blob::new(b"no heap".to_vec()).expect("small");
    let image = snapshot.actors.last_mut().expect("there are actors");
    image.root = record("heap-root", vec![crate::model::codec::Codec::encode(&garbage.hash())]);
    forged(&world.store, &packed(&snapshot), &[garbage])
}

#[test]
fn an_actor_is_thawed_with_its_first_turn() {
    let answers = ["7", "20", "7", "24", "1", "20"];
    let (without, _) = turns(&answers, false);
    let (with, most) = turns(&answers, true);
    assert!(most > COUNT as usize / 2, "{most} actors were frozen");
    assert_eq!(with, without);
}

#[test]
fn a_frozen_actor_is_the_one_that_never_stopped() {
    let mut world = world();
    answer(&mut world, "7");
    answer(&mut world, "20");
    let living = digests(&mut world.run);
    let mut opened = open(&mut world).expect("it opens");
    assert!(frozen(&opened) > 0);
    assert_eq!(digests(&mut opened), living);
    assert!(frozen(&opened) > 0, "a question thaws nobody");
    opened.thaw().expect("the images are sound");
    assert_eq!(frozen(&opened), 0);
    assert_eq!(digests(&mut opened), living);
}

#[test]
fn a_run_that_goes_back_keeps_its_frozen_actors() {
    let mut world = world();
    answer(&mut world, "7");
    let before = (world.run.head(), digests(&mut world.run));
    world.run = open(&mut world).expect("it opens");
    answer(&mut world, "20");
    answer(&mut world, "9");
    let at = before.0.map(|tip| tip.sequence);
    let begun = open_nothing(&world);
    let run = std::mem::replace(&mut world.run, begun);
    let mut back = with_source(&world.store, |source| run.rewind(&source, at)).expect("it goes back");
    assert!(frozen(&back) > 0);
    assert_eq!((back.head(), digests(&mut back)), before);
}

fn open_nothing(world: &World<SchemePrograms>) -> Run {
    let restored = with_source(&world.store, |source| {
        source.restore(Some(Sequence::FIRST), world.programs(), Snapshots::Ignore)
    });
    restored.expect("the first record is there")
}

#[test]
fn a_sight_reads_only_what_is_asked_for() {
    let mut world = world();
    answer(&mut world, "7");
    let store = damaged(&world);
    let restored = |source: Source<'_>| source.restore(None, world.programs(), Snapshots::Use).err();
    let whole = with_source(&store, restored);
    assert!(matches!(whole, Some(RunError::Thaw { .. })), "{whole:?}");
    with_source(&store, |source| {
        let mut sight = source.sight(None, world.programs()).expect("the state is sound");
        assert_eq!(sight.state().actors.len() as u64, COUNT + 1);
        let is_there = |_: &mut SchemePrograms, _: &mut _| ();
        assert!(sight.look(ActorId(7), is_there).expect("a sound image").is_some());
        let refused = sight.look(ActorId(COUNT), is_there);
        assert!(matches!(refused, Err(RunError::Thaw { .. })), "{refused:?}");
    });
}

#[test]
fn a_run_with_a_damaged_image_does_not_go_on() {
    let mut world = world();
    answer(&mut world, "7");
    world.store = damaged(&world);
    let opened = open(&mut world).err();
    assert!(matches!(opened, Some(RunError::Thaw { .. })), "{opened:?}");
}
