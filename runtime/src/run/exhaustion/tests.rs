//! Programs that fill a heap of one mebibyte, and their replays.

use super::*;
use crate::model::limits::Limits;
use crate::run::snapshot::SnapshotPolicy;
use crate::scheme::tests::world_within;

const LIMITS: Limits = Limits {
    slice_fuel: 10_000,
    turn_fuel: 20_000,
    predicate_fuel: 10_000,
    heap_bytes_max: 1 << 20,
    run_bytes_max: 1 << 30,
};

/// Fills nearly all memory.
const FILL: &str = "(define kept (make-vector 129000 0)) (define last #f)";
/// Allocates, again and again, as much as is left.
const LOOK: &str = "(let loop () (set! last (make-vector 400 0)) (loop))";

/// Runs a program that must log `logged` and then exhaust its memory, and replays it from the
/// beginning and from a snapshot.
#[track_caller]
fn check(text: &str, logged: &[&str]) {
    let policy = SnapshotPolicy {
        turns: 2,
        ..SnapshotPolicy::NEVER
    };
    let mut world = world_within(LIMITS, text, &["*"], policy);
    world.drive();
    let failure = world.failure().unwrap_or_default();
    assert!(
        failure.starts_with("memory-exhausted: of the 1048576 bytes of memory"),
        "{failure}"
    );
    assert_eq!(world.drivers.seen, logged);
    world.check_replay();
}

#[test]
fn a_main_program_is_stopped_and_undone_to_its_last_commit() {
    check(
        &format!("{FILL} (log! \"full\") (yield) (log! \"looking\") {LOOK}"),
        &["full"],
    );
}

#[test]
fn so_are_handlers_and_predicates() {
    check(
        &format!("(watch (pattern (go)) (lambda (event) {LOOK})) {FILL} (message! (record 'go)) (yield) (yield)"),
        &[],
    );
    check(
        &format!(
            "(spawn (lambda () (%await (record 'predicate (lambda (value) {LOOK})) #f)))
             {FILL} (yield) (assert! (record 'go)) (yield) (yield)"
        ),
        &[],
    );
}

#[test]
fn an_exit_hook_is_not_stopped_by_what_ended_its_actor() {
    check(
        &format!("(on-exit (lambda (condition) (log! \"ended\"))) {FILL} (yield) {LOOK}"),
        &["ended"],
    );
}

#[test]
fn a_replay_does_not_look_for_memory_itself() {
    let text = format!("{FILL} (yield) {LOOK}");
    let world = {
        let mut world = world_within(LIMITS, &text, &["*"], SnapshotPolicy::NEVER);
        world.drive();
        world
    };
    let turns = world.turns("main");
    let failed = turns.iter().find(|turn| matches!(turn.outcome, Outcome::Failed { .. }));
    let failed = failed.expect("a turn fails");
    assert!(
        failed.fuel < LIMITS.slice_fuel,
        "it was stopped before its fuel was used up: {}",
        failed.fuel
    );
    world.check_replay();
}

#[test]
fn a_program_that_says_so_itself_is_taken_again() {
    let text = "(log! \"here\") (yield) (%uncaught (%make-condition 'memory-exhausted \"so it says\" (list 1)))";
    let mut world = world_within(LIMITS, text, &["*"], SnapshotPolicy::NEVER);
    world.drive();
    assert_eq!(
        world.failure().unwrap_or_default(),
        "raised-memory-exhausted: so it says: 1"
    );
    world.check_replay();
}
