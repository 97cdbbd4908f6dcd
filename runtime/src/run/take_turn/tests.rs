//! The semantics of turns as tables: a script and its visible results.

mod endings;

use crate::tests::script::world::{check, check_answered};

const P: &str = "<group <rec p> {0: <bind <_>>}>";

/// Replaces `P` with the pattern `<p $x>`.
fn with_p(script: &str) -> String {
    script.replace("$P", P)
}

#[test]
fn an_assertion_is_seen_in_a_later_turn_also_by_its_maker() {
    check(
        &with_p("main:\n watch w show $P\n assert a <p 1>\n log done\nshow:\n show saw "),
        "done\n saw +1",
    );
}

#[test]
fn assert_and_retract_in_one_turn_are_seen_as_added_then_removed() {
    check(
        &with_p("main:\n watch w show $P\n assert a <p 1>\n retract a\nshow:\n show \n"),
        "+1\n -1",
    );
}

#[test]
fn equal_assertions_count() {
    let script = "main:
        watch w show $P
        assert a <p 1>
        assert b <p 1>
        yield
        retract a
        yield
        log one is left
        retract b
      show:
        show ";
    check(&with_p(script), "+1\n one is left\n -1");
}

#[test]
fn updating_with_an_equal_value_does_not_flicker() {
    let script = "main:
        watch w show $P
        assert a <p 1>
        yield
        update a <p 1>
        yield
        update a <p 2>
      show:
        show ";
    check(&with_p(script), "+1\n +2\n -1");
}

#[test]
fn existing_matches_come_as_one_batch_in_the_order_of_values() {
    let script = "main:
        assert a <p b>
        assert b <p 10>
        assert c <p 9>
        yield
        watch w show $P
      show:
        show ";
    check(&with_p(script), "+9\n +10\n +b");
}

#[test]
fn unwatching_removes_each_match() {
    let script = "main:
        assert a <p 2>
        assert b <p 1>
        watch w show $P
        yield
        yield
        unwatch w
        yield
        retract a
      show:
        show ";
    check(&with_p(script), "+1\n +2\n -1\n -2");
}

#[test]
fn a_stopping_facet_is_told_nothing_more() {
    let script = "main:
        assert a <p 1>
        facet f
        in f inside
        yield
        yield
        stop f
        log stopped
        assert b <p 2>
      inside:
        watch w show $P
      show:
        show ";
    check(&with_p(script), "+1\n stopped");
}

#[test]
fn events_for_a_stopped_facet_are_dropped() {
    // Both matches are in one batch; the first handler stops the facet before the second is
    // delivered.
    let script = "main:
        assert a <p 1>
        assert b <p 2>
        facet f
        in f inside
      inside:
        watch w once $P
      once:
        show 
        stop";
    check(&with_p(script), "+1");
}

#[test]
fn facets_stop_children_first_with_their_hooks_in_the_parent() {
    let script = "main:
        watch w show $P
        facet outer
        in outer outer
        yield
        stop outer
        log stopped
      outer:
        assert a <p outer>
        on-stop outer-hook
        facet inner
        in inner inner
      inner:
        assert b <p inner>
        on-stop inner-hook
        on-stop inner-hook-2
      outer-hook:
        log outer hook
        assert c <p made-by-outer-hook>
      inner-hook:
        log inner hook
        assert d <p made-by-inner-hook>
      inner-hook-2:
        log second inner hook
      show:
        show ";
    let expected = "inner hook
        second inner hook
        outer hook
        stopped
        +outer
        +inner
        +made-by-inner-hook
        -inner
        +made-by-outer-hook
        -outer
        -made-by-inner-hook";
    check(&with_p(script), expected);
}

#[test]
fn handles_are_retracted_in_their_order_when_a_facet_stops() {
    let script = "main:
        facet f
        in f inside
        watch w show $P
        yield
        yield
        stop f
      inside:
        assert a <p 3>
        assert b <p 1>
        assert c <p 2>
      show:
        show ";
    check(&with_p(script), "+3\n +1\n +2\n -3\n -1\n -2");
}

#[test]
fn a_fiber_vanishes_with_its_facet() {
    let script = "main:
        facet f
        in f inside
        yield
        stop f
        log outside goes on
      inside:
        await $P
        log never";
    check(&with_p(script), "outside goes on");
    check(
        "main:\n facet f\n in f inside\n yield\n log on\ninside:\n stop\n log never",
        "on",
    );
}

#[test]
fn retracting_what_cannot_be_retracted_is_ignored() {
    let script = "main:
        assert a <p 1>
        retract a
        retract a
        retract 999
        log fine";
    check(script, "fine");
}

#[test]
fn another_actors_assertion_cannot_be_retracted() {
    let script = "main:
        assert a <p 1>
        actor other
        yield
        yield
        watch w show $P
      other:
        retract 0
        log tried
      show:
        show ";
    check(&with_p(script), "tried\n +1");
}

#[test]
fn a_wait_is_satisfied_by_what_is_there_but_only_later() {
    check(
        &with_p("main:\n assert a <p 1>\n spawn other\n await $P\n show got \nother:\n log other"),
        "other\n got 0:1",
    );
}

#[test]
fn a_wait_ends_with_the_first_match_and_only_once() {
    let script = "main:
        spawn waiter
        yield
        message <p 1>
        message <p 2>
        yield
        message <p 3>
      waiter:
        await $P
        show ";
    check(&with_p(script), "0:1");
}

#[test]
fn waiting_for_the_next_ignores_what_is_there() {
    let script = "main:
        assert a <p 1>
        spawn later
        await-next $P
        show got 
      later:
        yield
        assert b <p 2>";
    check(&with_p(script), "got 0:2");
}

#[test]
fn the_first_of_several_conditions_decides() {
    let script = "main:
        spawn later
        await $P | <group <rec q> {0: <bind <_>>}>
        show got 
        await $P
        show and 
      later:
        assert a <q 5>
        yield
        yield
        assert b <p 6>";
    check(&with_p(script), "got 1:5\n and 0:6");
}

#[test]
fn a_predicate_chooses_and_has_no_effects() {
    let script = "main:
        assert a <p 1>
        assert b <p 2>
        await-accepted is-two $P
        show got 
      is-two:
        choose 2";
    check(&with_p(script), "got 0:2");
    let impure = "main:
        assert a <p 1>
        await-accepted impure $P
      impure:
        assert b <q>";
    check(
        &with_p(impure),
        "a predicate counts as false: refused: a predicate can have no effect\n Waiting { fibers: 1 }",
    );
}

#[test]
fn a_message_sent_to_a_facet_reaches_its_watches_only() {
    let script = "main:
        watch w outer $P
        facet f
        in f inside
        yield
        send 0 f <p 1>
        send 0 999 <p 2>
      inside:
        watch v inner $P
      inner:
        show inner 
      outer:
        show outer ";
    check(&with_p(script), "inner !1");
}

#[test]
fn spawned_fibers_run_in_the_same_turn_in_their_order() {
    let script = "main:
        spawn a
        spawn b
        log main
        yield
        log main again
      a:
        log a
        spawn c
      b:
        log b
      c:
        log c";
    check(script, "main\n a\n b\n c\n main again");
}

#[test]
fn batches_are_handled_in_the_order_of_their_turns() {
    let script = "main:
        actor left
        actor right
      left:
        watch w left-saw $P
        assert a <p left>
      right:
        watch w right-saw $P
        assert a <p right>
      left-saw:
        show left 
      right-saw:
        show right ";
    check(&with_p(script), "left +left\n right +left\n right +right\n left +right");
}

#[test]
fn a_failed_turn_leaves_no_trace_but_its_failure() {
    let script = "main:
        watch w show $P
        assert a <p 1>
        yield
        yield
        assert b <p 2>
        log not seen
        fail oops
      show:
        show ";
    check(&with_p(script), "+1\n failed: error: oops\n Ended { code: 1 }");
}

#[test]
fn an_actor_that_fails_takes_its_assertions_along_in_descending_order() {
    let script = "main:
        watch w show $P
        actor other
      other:
        assert a <p 1>
        assert b <p 2>
        assert c <p 3>
        yield
        yield
        fail oops
      show:
        show ";
    check(
        &with_p(script),
        "+1\n +2\n +3\n -3\n -2\n -1\n failed: error: oops\n Ended { code: 1 }",
    );
}

#[test]
fn actors_end_with_the_facet_they_are_linked_to() {
    let script = "main:
        watch w show $P
        facet f
        in f inside
        await $P
        yield
        stop f
        log stopped
      inside:
        actor other
      other:
        assert a <p 1>
        on-stop hook
      hook:
        log hook
      show:
        show ";
    check(&with_p(script), "+1\n stopped\n hook\n -1");
}

#[test]
fn the_exit_of_the_main_program_ends_the_run() {
    check(
        "main:\n on-stop hook\n log a\n exit 3\nhook:\n log hook",
        "a\n hook\n Ended { code: 3 }",
    );
}

#[test]
fn a_tools_result_resumes_the_fiber_that_awaits_it() {
    let script = "main:
        tool calc t1 [1 2]
        tool calc t2 [3 4]
        await-tool t2
        show t2 
        await-tool t1
        show t1 ";
    check_answered(
        script,
        &[Ok("3"), Ok("7")],
        "*calc [1, 2]\n *calc [3, 4]\n t2 0:7\n t1 0:3",
    );
}

#[test]
fn a_tools_failure_is_raised_where_it_is_awaited() {
    let failing = "main:\n tool calc t 1\n guard\n await-tool t\n show ";
    check_answered(
        failing,
        &[Err("denied")],
        "*calc 1\n <tool-failed denied \"it did not work\" []>",
    );
    let unguarded = "main:\n tool calc t 1\n await-tool t";
    let expected =
        "*calc 1\n withdrawn\n failed: raised: <tool-failed denied \"it did not work\" []>\n Ended { code: 1 }";
    check_answered(unguarded, &[Err("denied")], expected);
}

#[test]
fn a_question_is_a_fact_until_it_is_answered() {
    let script = "main:
        watch w show <group <rec user-input-request> {1: <bind <_>>}>
        ask \"name?\"
        show got 
        yield
      show:
        show ";
    check_answered(
        script,
        &[Ok("\"Ada\"")],
        "?\"name?\"\n +\"name?\"\n got 0:\"Ada\"\n -\"name?\"",
    );
}

#[test]
fn a_question_is_withdrawn_with_its_facet() {
    let script = "main:
        facet f
        in f inside
        yield
        stop f
      inside:
        ask 1";
    check(script, "?1\n withdrawn");
}

#[test]
fn the_main_program_commits_when_it_writes() {
    check(
        "main:\n write a\n write b\n fail oops",
        ">a\n >b\n failed: error: oops\n Ended { code: 1 }",
    );
}

#[test]
fn a_long_main_program_is_cut_into_turns_and_a_handler_is_not() {
    check("main:\n log start\n goto 2\n", "start\n");
    let handler = "main:\n watch w spin $P\n assert a <p 1>\nspin:\n goto 0";
    let expected = "failed: out-of-fuel: the handlers of one turn may use 300 units of fuel, and these used more
        Ended { code: 1 }";
    check(&with_p(handler), expected);
}

#[test]
fn an_actor_cannot_grant_what_it_was_not_granted() {
    check(
        "main:\n actor other console\nother:\n actor third *",
        "failed: refused: the capability `spawn` was not granted\n Ended { code: 1 }",
    );
    check(
        "main:\n actor other console spawn\nother:\n actor third *",
        "failed: refused: an actor cannot grant what it was not granted: `*`\n Ended { code: 1 }",
    );
}
