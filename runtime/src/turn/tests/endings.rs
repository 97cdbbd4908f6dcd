//! How actors end, who waits for them, and what time has to do with it: a script and what becomes visible.

use super::with_p;
use crate::script::world::check;

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
