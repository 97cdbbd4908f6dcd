//! Deadlines decide what comes first, not when somebody looks: timers that ran out while the
//! process was stopped, while no process executed the run, or without any of it.
//!
//! INVARIANT: a process is stopped or killed only when its timers are recorded, and goes on only
//! when their deadlines have passed.
//! Read next: `drivers/src/timers.rs`.
#![cfg(target_os = "linux")]

use std::thread;
use std::time::Duration;

use duet_journal::owner::now_ms;

use crate::support::desk::{CommandOutput, Desk};
use crate::support::running::Running;

const IMPORTS: &str = "(import (scheme base) (scheme write) (duet base) (duet dataspace) (duet agents))
(display \"begun\") (newline)\n";

#[expect(clippy::disallowed_methods, reason = "a test lets time pass")]
fn rest() {
    thread::sleep(Duration::from_millis(5));
}

/// Waits until so many timers of a run are recorded; returns their deadlines, the latest last.
fn deadlines(desk: &Desk, count: usize) -> Vec<u64> {
    loop {
        let waits: serde_json::Value = serde_json::from_str(&desk.duet("waits p --json").output).unwrap_or_default();
        let requests = waits["requests"].as_array().cloned().unwrap_or_default();
        let mut found: Vec<u64> = requests
            .iter()
            .filter_map(|request| request["at_ms"].as_u64())
            .collect();
        found.sort_unstable();
        if found.len() >= count {
            return found;
        }
        rest();
    }
}

/// Waits until a moment has passed.
fn pass(moment_ms: u64) {
    while now_ms() <= moment_ms {
        rest();
    }
}

/// Begins a program and waits until its timers are recorded.
fn begun(program: &str, count: usize) -> (Desk, Running, Vec<u64>) {
    let manifest = "((program \"main.scm\") (tools clock/* console dataspace/* person process/run))";
    let desk = Desk::new(&[
        ("p/manifest.scm", manifest),
        ("p/main.scm", &format!("{IMPORTS}{program}")),
    ]);
    let mut running = Running::start(&desk, "run p");
    assert_eq!(running.line(), "begun");
    let deadlines = deadlines(&desk, count);
    (desk, running, deadlines)
}

/// Requires what a program prints after its timers have run out, both while its process was stopped
/// and while no process executed it.
#[track_caller]
fn check(program: &str, count: usize, expected: &str) {
    let (_desk, mut running, deadlines) = begun(program, count);
    running.signal("-STOP");
    pass(*deadlines.last().expect("timers"));
    running.signal("-CONT");
    assert_eq!(running.line(), expected, "after a stop");
    let (desk, mut running, deadlines) = begun(program, count);
    running.signal("-KILL");
    running.end();
    pass(*deadlines.last().expect("timers"));
    let resumed = desk.duet("resume p");
    assert_eq!(resumed.output.trim_end(), expected, "after a kill: {}", resumed.errors);
    assert_eq!(desk.duet("replay --check p").code, 0);
}

#[test]
fn timers_of_one_turn_run_out_in_the_order_of_their_calls() {
    let desk = Desk::new(&[(
        "p.scm",
        "(for-each (lambda (n) (after 50 (lambda () (display n)))) '(1 2 3 4 5 6)) (sleep 200)",
    )]);
    desk.check("run p.scm", 0, "123456");
}

#[test]
fn overdue_timers_run_out_in_the_order_of_their_deadlines() {
    let program = "(define late #f) (after 700 (lambda () (set! late #t))) (sleep 800)
                   (display (if late 'timed-out 'still-open))";
    check(program, 2, "timed-out");
}

#[test]
fn each_time_limit_holds_for_the_work_that_it_limits() {
    let program = "(display (par-map
                     (lambda (n) (call-with-timeout 800 (lambda () (sleep n) n) (lambda () (list 'late n))))
                     '(500 1100 600)))";
    check(program, 6, "(500 (late 1100) 600)");
}

#[test]
fn a_short_timer_keeps_its_deadline_too() {
    let program = "(display (race (lambda () (sleep 1000) 'second) (lambda () (sleep 900) 'first)))";
    check(program, 2, "first");
}

#[test]
fn a_call_that_is_lost_comes_after_the_deadlines_that_passed_meanwhile() {
    let program = "(display (call-with-timeout 700
                     (lambda ()
                       (call-tool 'call \"process/run\" (dictionary 'arguments '(\"sleep\" \"60\"))))
                     (lambda () 'timed-out)))";
    check(program, 1, "timed-out");
}

#[test]
fn a_strand_that_computes_for_ever_is_stopped_in_time() {
    let program = "(import (scheme base) (scheme write) (duet base) (duet agents))
                   (display (call-with-timeout 100 (lambda () (let loop () (loop))) (lambda () 'late)))";
    let desk = Desk::new(&[("p.scm", program)]);
    let ran = desk.duet("run p.scm --name p");
    assert_eq!((ran.code, ran.output.as_str()), (0, "late"));
    assert_eq!(desk.duet("replay --check p").code, 0);
}

/// Leaves a program that asks for half a second, and says something to it when that has passed.
fn late(program: &str, line: &str) -> (Desk, CommandOutput) {
    let (desk, mut running, deadlines) = begun(program, 1);
    running.signal("-KILL");
    running.end();
    pass(deadlines[0]);
    let told = desk.duet(line);
    (desk, told)
}

const ASKS: &str = "(display (with-timeout 500 (user-input :prompt \"ok?\") (lambda () 'timed-out)))";

#[test]
fn an_answer_after_the_deadline_is_refused_and_the_run_times_out() {
    let (desk, answered) = late(ASKS, "answer p yes");
    assert_eq!(
        (answered.code, answered.output.as_str()),
        (1, "timed-out"),
        "{}",
        answered.errors
    );
    assert!(
        answered.errors.contains("the time for it has run out"),
        "{}",
        answered.errors
    );
    assert_eq!(desk.duet("replay --check p").code, 0);
}

#[test]
fn signals_and_messages_after_the_deadline_are_late() {
    let waits = "(display (with-timeout 500 (signal 'go) (lambda () 'timed-out)))";
    let (_desk, told) = late(waits, "signal p go");
    assert_eq!(told.output, "timed-out", "{}", told.errors);
    let waits = "(on-message (go) (display 'heard)) (sleep 500) (display 'timed-out)";
    let (_desk, told) = late(waits, "message p <go>");
    assert_eq!(told.output, "timed-outheard", "{}", told.errors);
}

#[test]
fn an_answer_to_a_question_that_has_timed_out_does_not_answer_the_next_one() {
    let program = "(display (with-timeout 1000 (user-input :prompt \"one?\") (lambda () 'late))) (newline)
(display (await (user-input :prompt \"two?\")))";
    for (line, code) in [("answer p yes", 4), ("answer p yes --inbox --no-wait", 0)] {
        let (desk, mut running, deadlines) = begun(program, 1);
        running.signal("-KILL");
        running.end();
        pass(*deadlines.last().expect("timers"));
        let said = desk.duet(line);
        assert_eq!(said.code, code, "{line}: {said:?}");
        let resumed = desk.duet("resume p");
        assert_eq!(
            format!("{}{}", said.output, resumed.output),
            "late\n",
            "{line}: {said:?} {resumed:?}"
        );
        assert_eq!(resumed.code, 4, "{line}: {resumed:?}");
        desk.check("answer p no", 0, "no");
        assert_eq!(desk.duet("replay --check p").code, 0);
    }
}
