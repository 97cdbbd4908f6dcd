//! The ends of actors, the waits for them, and time, as tables: a script and its visible results.

use preserves::IOValue;

use super::with_p;
use crate::action::exit::MAIN;
use crate::driver::Input;
use crate::model::identity::RequestId;
use crate::run::Step;
use crate::run::error::RunError;
use crate::run::snapshot::SnapshotPolicy;
use crate::tests::script::world::{World, check};

#[test]
fn exit_hooks_run_at_either_end_and_stop_hooks_at_an_orderly_one() {
    let script = "main:
        watch w show $P
        watched-actor a ended good
        watched-actor b ended bad
        yield
        yield
        yield
        log main goes on
      good:
        on-stop stopping
        on-exit hook
        assert a <p good>
        yield
        exit 0
      bad:
        on-stop stopping
        on-exit hook
        on-exit broken
        assert a <p 1>
        assert b <p 2>
        yield
        fail on purpose
      stopping:
        log stop hook
      hook:
        show exit hook
        message <p told>
      broken:
        fail in the hook
      ended:
        show heard
      show:
        show ";
    let expected = "+good
        stop hook
        exit hook ended 0
        +1
        +2
        exit hook failed on purpose
        an exit hook did not come to its end: error: in the hook
        -good
        heard ended 0
        !told
        -2
        -1
        heard failed on purpose
        !told
        main goes on
        failed: error: on purpose";
    check(&with_p(script), expected);
}

#[test]
fn syncing_waits_until_the_other_actor_has_caught_up() {
    let script = "main:
        watched-actor a ended slow
        yield
        yield
        message <p 1>
        sync a
        log after the others work
        message <q>
        sync a
        log also if it has ended
        sync a
        log and ended long ago
      slow:
        watch w heard $P
        watch v exit <group <rec q> {}>
      heard:
        show heard
      exit:
        exit 0
      ended:
        show ";
    let expected = "heard !1
        after the others work
        ended 0
        also if it has ended
        and ended long ago";
    check(&with_p(script), expected);
}

#[test]
fn timers_run_out_in_turns_of_their_own_and_are_withdrawn_with_their_facet() {
    let script = "main:
        facet f
        in f sleeper
        sleep 10
        log awake
        stop f
      sleeper:
        sleep 500
        log never";
    check(script, "10 ms\n 500 ms\n awake\n withdrawn");
}

#[test]
fn what_a_failed_turn_retracted_is_retracted_by_the_crash() {
    let script = "main:
        watch w show $P
        watched-actor a ended helper
        yield
        yield
        yield
      helper:
        assert a <p 1>
        yield
        retract a
        assert b <p 2>
        fail on purpose
      ended:
        show
      show:
        show ";
    check(
        &with_p(script),
        "+1\n -1\n failed on purpose\n failed: error: on purpose",
    );
}

#[test]
fn what_the_world_says_too_deep_for_a_record_is_refused_and_the_run_goes_on() {
    let mut world = World::script("main:\n log first\n sleep 1\n log last", &["*"], SnapshotPolicy::NEVER);
    let nested = |depth: usize| (1..depth).fold(IOValue::new(0), |inside, _| IOValue::new(vec![inside]));
    let inputs: [fn(IOValue) -> Input; 2] = [
        |value| Input::Answer {
            request: RequestId(9),
            value,
        },
        |fact| Input::Merge {
            actor: MAIN,
            asserted: vec![fact],
            retracted: Vec::new(),
        },
    ];
    for input in inputs {
        for depth in 495..512 {
            world.run.deliver(input(nested(depth)));
            match world.run.step() {
                Ok(step) => assert_eq!((step, depth < 502), (Step::Turn, true), "{depth}"),
                Err(error) => assert!(matches!(error, RunError::Packed(_)) && depth > 497, "{depth}: {error}"),
            }
        }
    }
    world.check("first\n 1 ms\n last");
}
