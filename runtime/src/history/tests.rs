//! The past according to records, compared with the run as its program lived it.

use duet_journal::{Sequence, Store};

use super::chain::{CausalTurn, causal_turns};
use super::relation::part;
use super::shadow::Shadow;
use crate::run::DriveOutcome;
use crate::run::heads::move_head;
use crate::run::replay::Snapshots;
use crate::run::snapshot::SnapshotPolicy;
use crate::run::source::{BranchClaim, Source};
use crate::state::event::Cause;
use crate::tests::script::Scripts;
use crate::tests::script::world::{World, branch, read_answers, run_id};

/// Every way for facts to come and go: assertions, facets, waits, questions, a second actor, a
/// failure.
const SCRIPT: &str = "main:
    watch w seen <group <rec p> {0: <bind <_>>}>
    actor other console workspace/read
    facet f
    in f inside
    assert a <p main>
    yield
    assert b <p main>
    retract a
    tool workspace/read t1 1
    ask \"name?\"
    show name
    await-tool t1
    stop f
    await <lit never>
  inside:
    assert c <p inside>
    on-stop hook
    await <lit never>
  hook:
    log hook
  other:
    assert d <p other>
    tool workspace/read t3 3
    await-tool t3
    fail broken
  seen:
    show seen";

fn at(number: u64) -> Sequence {
    Sequence::new(number).expect("small")
}

fn lived(turns_between_snapshots: u64) -> World<Scripts> {
    let policy = SnapshotPolicy {
        turns: turns_between_snapshots,
        ..SnapshotPolicy::NEVER
    };
    let mut world = World::script(SCRIPT, &["*"], policy);
    world.drivers.answers = read_answers(&[Ok("one"), Ok("\"Ada\""), Ok("three")]);
    assert_eq!(world.drive(), DriveOutcome::Stuck { fibers: 1 });
    world
}

#[test]
fn the_shadow_holds_what_the_run_held_after_every_turn() {
    let (run, main) = (run_id(), branch("main"));
    for between in [u64::MAX, 3] {
        let world = lived(between);
        let source = Source {
            store: &world.store,
            run: &run,
            branch: &main,
        };
        let head = world.run.head().expect("turns were taken").sequence;
        let mut walking = Shadow::begin(&source.record(Sequence::FIRST).expect("it is there")).expect("it is a run");
        let mut held = Vec::new();
        for turn in 0..=head.number() {
            let restored = source
                .restore(Some(at(turn)), world.programs(), Snapshots::Ignore)
                .expect("it replays");
            let facts: Vec<_> = restored
                .state()
                .dataspace
                .facts()
                .into_iter()
                .map(|(fact, _)| fact)
                .collect();
            let jumped = Shadow::at(&source, at(turn)).expect("the records fit");
            assert_eq!(jumped.facts(), facts, "after turn {turn}");
            let advance = walking.advance(&source, at(turn), |_, _, changes| {
                held.retain(|fact| changes.disappeared.iter().all(|gone| gone.value() != *fact));
                held.extend(changes.appeared.iter().map(|(fact, _)| fact.value()));
                Ok(())
            });
            advance.expect("the records fit");
            held.sort_by(crate::model::value::compare);
            assert_eq!(held, facts, "the changes up to turn {turn}");
        }
    }
}

#[test]
fn branches_part_where_they_differ_first() {
    let mut world = lived(u64::MAX);
    let head = world.run.head().expect("turns were taken").sequence;
    let (run, main, fork) = (run_id(), branch("main"), branch("fork"));
    let asked = (1..=head.number())
        .find(|turn| world.turns("main")[*turn as usize - 1].cause == (Cause::Input {}))
        .expect("the world said something");
    move_head(
        &mut world.store,
        BranchClaim::new(&run, &main, "test"),
        at(asked - 1),
        Some(&fork),
    )
    .expect("it forks");
    let mut forked = World::script(SCRIPT, &["*"], SnapshotPolicy::NEVER);
    std::mem::swap(&mut forked.store, &mut world.store);
    let programs = forked.programs();
    forked.run = crate::run::Run::open(
        &mut forked.store,
        BranchClaim::new(&run, &fork, "test"),
        programs,
        SnapshotPolicy::NEVER,
        &crate::run::inflight::Recovery::default(),
    )
    .expect("the fork opens");
    forked.drivers.answers = read_answers(&[Ok("uno"), Ok("\"Bob\""), Ok("tre")]);
    forked.drive();
    let source = |branch| Source {
        store: &forked.store,
        run: &run,
        branch,
    };
    let end = |branch| {
        forked
            .store
            .head(&run, branch)
            .expect("a run")
            .expect("a branch")
            .sequence
    };
    let (left, right) = (source(&main), source(&fork));
    let relation = part(left.up_to(end(&main)), right.up_to(end(&fork))).expect("both are sound");
    // The call in flight returns once, for both branches; each branch answers the question with an
    // event of its own.
    assert_eq!(relation.shared, Some(at(asked - 1)));
    let first = relation.first.expect("they were answered differently");
    assert_eq!((first.part, first.sequence), ("cause", at(asked + 1)));
    let same = part(left.up_to(end(&main)), left.up_to(end(&main))).expect("it is sound");
    assert_eq!((same.shared, same.first), (Some(end(&main)), None));
}

#[test]
fn causes_lead_back_to_an_input_or_the_start() {
    let world = lived(3);
    let (run, main) = (run_id(), branch("main"));
    let source = Source {
        store: &world.store,
        run: &run,
        branch: &main,
    };
    let turns = world.turns("main");
    for turn in 1..=turns.len() as u64 {
        let chain: Result<Vec<CausalTurn>, _> = causal_turns(&source, at(turn)).collect();
        let chain = chain.expect("the records are sound");
        assert_eq!(chain.first().map(|link| link.sequence), Some(at(turn)));
        for pair in chain.windows(2) {
            let cause = &pair[0].turn.cause;
            let sequence = pair[1].sequence;
            let is_answer = *cause == (Cause::Input {}) && pair[0].asked == Some(sequence);
            assert!(
                *cause == Cause::Turn { sequence } || is_answer,
                "turn {turn}: {cause:?}"
            );
        }
        let last = chain.last().expect("it has the turn itself");
        assert!(
            !matches!(last.turn.cause, Cause::Turn { .. }),
            "turn {turn}: {:?}",
            last.turn.cause
        );
    }
}
