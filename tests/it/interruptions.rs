//! Ctrl-C and `duet stop` end a turn wherever it computes, and leave no trace of it.
//!
//! INVARIANT: a process is interrupted only when it computes; the programs never end by themselves.
//! It does not test the prompt; `repl_pty.rs` does.
//! Read next: `support/running.rs`.
#![cfg(target_os = "linux")]

use std::time::{Duration, Instant};

use crate::support::desk::Desk;
use crate::support::running::Running;
use crate::support::terminal::await_computing;

/// The longest time until an interrupted process has ended. It is far above what any of these
/// takes, because other tests run beside it.
const PATIENCE: Duration = Duration::from_secs(10);

const IMPORTS: &str = "(import (duet base) (duet json) (srfi 115) (srfi 132) (scheme write) (scheme read)
  (only (duet internal eval) eval-text))
(define (doubled text n) (if (= n 0) text (doubled (string-append text text) (- n 1))))
";

/// What a program computes for ever: what it makes first, and the expression that it repeats.
const ENDLESS: &[(&str, &str)] = &[
    (
        "(define a (expt 3 1300000)) (define b (expt 7 370000))",
        "(quotient a b)",
    ),
    ("(define a (expt 3 1300000))", "(exact-integer-sqrt a)"),
    ("(define a (expt 3 600000))", "(number->string a)"),
    ("(define a (make-string 600000 #\\7))", "(string->number a)"),
    (
        "(define a (expt 3 160000)) (define b (expt 5 110000))",
        "(gcd a (- b 1))",
    ),
    ("(define a (make-list 400000 '(1 2)))", "(equal? a (list-copy a))"),
    (
        "(define a (doubled \"(a b 12) \" 14))",
        "(read (open-input-string (string-append \"(\" a \")\")))",
    ),
    (
        "(define a (doubled \"(define (f x) (if (> x 1) (* x 2) (- x 1))) \" 14))",
        "(eval-text a)",
    ),
    ("(define a (list->vector (iota 300000)))", "(vector-sort > a)"),
    (
        "(define a (make-string 300000 #\\a))",
        "(regexp-search '(: (* (or \"a\" \"aa\")) \"b\") a)",
    ),
    (
        "(define a (string-append \"[\" (doubled \"[1,2],\" 15) \"0]\"))",
        "(json->value a)",
    ),
    ("(define a (doubled \"\u{e9}x\" 17))", "(string->symbol a)"),
    (
        "(define a (let double ((n 40))
           (if (= n 0) (dictionary 'type \"integer\")
             (let ((next (double (- n 1)))) (dictionary 'anyOf (list next next))))))",
        "(json-valid? a \"x\")",
    ),
];

fn begun(made: &str, repeated: &str) -> (Desk, Running) {
    let program = format!("{IMPORTS}{made}\n(display \"begun\") (newline)\n(let loop () {repeated} (loop))\n");
    let desk = Desk::new(&[("p.scm", &program)]);
    let mut running = Running::start(&desk, "run p.scm");
    assert_eq!(running.line(), "begun", "{repeated}");
    await_computing(running.child.id());
    (desk, running)
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a person waits for this")]
fn one_interruption_ends_any_turn_and_leaves_no_trace_of_it() {
    for (made, repeated) in ENDLESS {
        let (desk, mut running) = begun(made, repeated);
        let start = Instant::now();
        running.signal("-INT");
        let (code, said) = running.end();
        assert!(start.elapsed() < PATIENCE, "{repeated}: {:?}", start.elapsed());
        assert_eq!(code, Some(130), "{repeated}\n{said}");
        let turn = said.split("interrupted after turn ").nth(1);
        let turn = turn.and_then(|rest| rest.split(|c: char| !c.is_ascii_digit()).next());
        let newest = desk.duet("log p --limit 1").output;
        assert_eq!(newest.split_whitespace().nth(1), turn, "{repeated}\n{said}\n{newest}");
        assert_eq!(desk.duet("replay p --check").code, 0, "{repeated}");
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a person waits for this")]
fn to_stop_a_run_ends_any_turn_and_leaves_no_trace_of_it() {
    for (made, repeated) in [ENDLESS[0], ENDLESS[2], ENDLESS[7]] {
        let (desk, mut running) = begun(made, repeated);
        let start = Instant::now();
        assert_eq!(desk.duet("stop p").code, 0, "{repeated}");
        running.end();
        assert!(start.elapsed() < PATIENCE, "{repeated}: {:?}", start.elapsed());
        assert_eq!(desk.duet("replay p --check").code, 0, "{repeated}");
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a person waits for this")]
fn a_run_that_computes_from_its_start_is_reached_before_it_has_taken_many_turns() {
    let (made, repeated) = ENDLESS[0];
    let desk = Desk::new(&[("p.scm", &format!("{IMPORTS}{made}\n(let loop () {repeated} (loop))\n"))]);
    let mut running = Running::start(&desk, "run p.scm");
    await_computing(running.child.id());
    let start = Instant::now();
    while desk.duet("stop p").code != 0 {
        assert!(start.elapsed() < PATIENCE, "nobody finds the run");
    }
    running.end();
    let turns = desk.report("runs")[0]["turns"].as_u64().expect("a number");
    assert!(turns < 64, "{turns}");
    assert_eq!(desk.duet("replay p --check").code, 0);
}
