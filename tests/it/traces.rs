//! The trace of a failure, whoever has handled it on its way.
//!
//! Owns the proof that a condition keeps the place where it was raised first, and the frames
//! there, through handlers, strands and tasks.
//! INVARIANT: every test looks at standard error of the command.
//! Read next: `cli.rs`, which has the traces of failures that nobody handles.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use crate::support::desk::Desk;

/// `inner` raises on line 3, and `job` calls it on line 5.
const JOBS: &str = "(import (scheme base) (duet base) (duet dataspace) (duet agents) (duet files))
(define (inner x)
  (+ 1 (error \"bad job\" x)))
(define (job x)
  (if (= x 3) (+ 0 (inner x)) x))
";

/// Runs a program whose line 6 fails, and checks the place and the first lines of the trace.
#[track_caller]
fn check(line_6: &str, trace: &[&str]) {
    let desk = Desk::new(&[("jobs.scm", &format!("{JOBS}{line_6}\n"))]);
    let said = desk.duet("run jobs.scm");
    assert_eq!(said.code, 1, "{line_6}: {}", said.errors);
    assert!(said.errors.contains("--> jobs.scm:3:8"), "{line_6}: {}", said.errors);
    let from = said
        .errors
        .find("= note: in")
        .unwrap_or_else(|| panic!("{line_6}: {}", said.errors));
    let lines = said.errors[from..]
        .lines()
        .map(|line| line.trim_start_matches([' ', '=']));
    let seen: Vec<&str> = lines
        .map(|line| line.trim_start_matches("note: "))
        .take_while(|line| !line.starts_with("help:") && !line.starts_with("note"))
        .collect();
    assert_eq!(seen, trace, "{line_6}: {}", said.errors);
    assert_eq!(desk.duet("replay --check jobs").code, 0, "{line_6}");
}

const OWN: [&str; 3] = ["in `error`", "called by `inner` on line 3", "called by `job` on line 5"];

fn own_and<'a>(further: &[&'a str]) -> Vec<&'a str> {
    OWN.iter().chain(further).copied().collect()
}

#[test]
fn a_condition_that_a_handler_raises_again_keeps_its_trace() {
    let main = "called by `(program)` on line 6";
    for line_6 in [
        "(+ 1 (job 3))",
        "(guard (e (#f 0)) (+ 1 (job 3)))",
        "(+ 1 (guard (e ((string? e) 0)) (job 3)))",
        "(+ 1 (guard (e (#t (raise e))) (+ 1 (job 3))))",
        "(guard (e (else (raise-continuable e))) (+ 1 (job 3)))",
        "(with-exception-handler (lambda (e) (raise e)) (lambda () (+ 1 (job 3))))",
        "(dynamic-wind (lambda () #f) (lambda () (+ 1 (job 3))) (lambda () #f))",
        "(with-retry (lambda () (+ 1 (job 3))) ':attempts 2 ':when (lambda (e) #t) ':delay 0)",
    ] {
        let desk = Desk::new(&[("jobs.scm", &format!("{JOBS}{line_6}\n"))]);
        let said = desk.duet("run jobs.scm");
        assert!(said.errors.contains("--> jobs.scm:3:8"), "{line_6}: {}", said.errors);
        for line in own_and(&[main]) {
            assert!(said.errors.contains(line), "{line_6}: {line}: {}", said.errors);
        }
    }
}

#[test]
fn the_trace_of_a_strand_goes_on_where_somebody_waits_for_it() {
    check(
        "(par-map job '(1 2 3 4))",
        &own_and(&["called by `par-map`", "called by `(program)` on line 6"]),
    );
    check(
        "(par-map (lambda (x) (car (par-map job (list x)))) '(3))",
        &own_and(&[
            "called by `par-map`",
            "called by an unnamed procedure on line 6",
            "called by `par-map`",
            "called by `(program)` on line 6",
        ]),
    );
    let all = "(all-of (lambda () (job 1)) (lambda () (+ 1 (job 3))))";
    check(
        all,
        &own_and(&[
            "called by an unnamed procedure on line 6",
            "called by `all-of`",
            "called by `(program)` on line 6",
        ]),
    );
    check(
        "(+ 1 (call-with-timeout 1000 (lambda () (+ 1 (job 3)))))",
        &own_and(&[
            "called by an unnamed procedure on line 6",
            "called by `call-with-timeout`",
            "called by `(program)` on line 6",
        ]),
    );
}

#[test]
fn a_failed_call_of_the_host_in_a_strand_has_its_own_place() {
    let program = "(import (scheme base) (scheme file) (duet agents))
(define (length-of name)
  (string-length (read-line (open-input-file name))))
(par-map (lambda (name) (+ 1 (length-of name))) '(\"nowhere.txt\"))
";
    let desk = Desk::new(&[("files.scm", program)]);
    let said = desk.duet("run files.scm");
    assert_eq!(said.code, 1, "{}", said.errors);
    for text in [
        "--> files.scm:3:29",
        "called by `length-of` on line 3",
        "called by an unnamed procedure on line 4",
        "called by `par-map`",
        "called by `(program)` on line 4",
    ] {
        assert!(said.errors.contains(text), "{text}: {}", said.errors);
    }
    let explained = desk.duet("explain files");
    assert!(
        explained.output.contains("`length-of` at files.scm:3"),
        "{}",
        explained.output
    );
}
