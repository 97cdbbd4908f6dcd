//! Steps of durable programs: a run that another process continues from any of its turns ends as if
//! it had never been left.
//!
//! INVARIANT: each program tells its result at its end only, so that whatever turn a run is left
//! at, the process that continues it shows the result.
//! Kills at every write are tested in `crash.rs`. Read next: `deadlines.rs`.

use crate::support::desk::Desk;

const IMPORTS: &str = "(import (scheme base) (scheme write) (duet base) (duet dataspace) (duet agents))
(define (kind-of thunk)
  (guard (object ((condition? object) (condition-kind object))) (thunk)))
(define calls 0)
(define (fails-until n)
  (set! calls (+ calls 1))
  (if (< calls n) (error \"not yet\" calls) (list 'after calls)))
(define (tool name . fields) (call-tool 'step name (apply dictionary fields)))\n";

/// Runs a program, and continues it from each of its turns.
#[track_caller]
fn check(program: &str, expected: &str) {
    let manifest = "((program \"main.scm\") (workspace (argument 1)) (tools clock/* console workspace/*))";
    let desk = Desk::new(&[
        ("p/manifest.scm", manifest),
        ("p/main.scm", &format!("{IMPORTS}(write {program})\n")),
        ("files/f.txt", "old"),
    ]);
    let said = desk.duet("run p --name p -- files");
    assert_eq!((said.code, &*said.output), (0, expected), "{program}\n{}", said.errors);
    // A run that is continued may take fewer turns, because its timers have run out.
    for turn in (1..).take_while(|turn| *turn < newest(&desk)) {
        let left = desk.duet(&format!("goto p@{turn} --workspace"));
        assert_eq!(left.code, 0, "{program} at {turn}\n{}", left.errors);
        let again = desk.duet("resume p");
        assert_eq!(
            (again.code, &*again.output),
            (0, expected),
            "{program} from {turn}\n{}",
            again.errors
        );
    }
    assert_eq!(desk.duet("replay p --check").code, 0, "{program}");
}

fn newest(desk: &Desk) -> u64 {
    let branches = desk.duet("branches p --json").output;
    let branches: serde_json::Value = serde_json::from_str(&branches).expect("it is JSON");
    branches[0]["turn"].as_u64().expect("a turn")
}

#[test]
fn steps_that_are_done_are_not_done_again() {
    check(
        "(let* ((one (tool \"workspace/read\" 'path \"f.txt\"))
                (two (begin (tool \"workspace/write\" 'path \"f.txt\" 'content \"new\")
                            (tool \"workspace/read\" 'path \"f.txt\"))))
           (map (lambda (it) (dictionary-ref it 'content)) (list one two)))",
        "(\"old\" \"new\")",
    );
}

#[test]
fn attempts_are_counted_across_processes() {
    check(
        "(with-retry (lambda () (fails-until 3)) :attempts 5 :delay 5)",
        "(after 3)",
    );
    check(
        "(list (kind-of (lambda () (with-retry (lambda () (fails-until 9)) :attempts 2 :delay 5))) calls)",
        "(error 2)",
    );
    check(
        "(list (kind-of (lambda () (with-retry (lambda () (fails-until 9)) :attempts 2 :delay -5))) calls)",
        "(wrong-type 0)",
    );
    check(
        "(list (kind-of (lambda () (with-retry (lambda () (set! calls (+ calls 1)) (car 5)) :attempts 3))) calls)",
        "(wrong-type 1)",
    );
}

#[test]
fn errors_keep_kind_message_and_irritants() {
    check(
        "(guard (object (#t (list (condition-kind object) (condition-message object))))
           (sleep 5)
           (error \"the step failed\" 1 2))",
        "(error \"the step failed\")",
    );
    check(
        "(kind-of (lambda () (tool \"workspace/read\" 'path \"absent.txt\")))",
        "not-found",
    );
}

#[test]
fn results_stand_in_the_order_of_their_steps() {
    check("(par-map (lambda (n) (sleep (* 5 (- 4 n))) n) '(1 2 3))", "(1 2 3)");
    check(
        "(all-of (lambda () (sleep 9) 'a) (lambda () (sleep 3) 'b) (lambda () 'c))",
        "(a b c)",
    );
}

#[test]
fn some_steps_may_fail() {
    let settled = |rest: &str| {
        format!(
            "(let ((it (settle (list (lambda () (sleep 5) 'a) (lambda () (error \"x\")) (lambda () 'c)) {rest})))
               (list (dictionary-ref it 'reason) (dictionary-ref it 'values) (map car (dictionary-ref it 'failures))))"
        )
    };
    check(&settled(""), "(all (a c) (1))");
    check(&settled(":tolerate 0"), "(too-many-failures () (1))");
    check(&settled(":at-least 3"), "(too-few (a c) (1))");
}

#[test]
fn a_state_is_polled_until_it_is_reached() {
    check(
        "(poll-until (lambda (last) (set! calls (+ calls 1)) calls) (lambda (n) (= n 3)) :every 5)",
        "3",
    );
    check(
        "(kind-of (lambda () (poll-until (lambda (last) 1) (lambda (n) #f) :every 5 :attempts 2)))",
        "poll-exhausted",
    );
}

#[test]
fn a_large_result_is_a_result() {
    check(
        "(begin (tool \"workspace/write\" 'path \"big.txt\" 'content (make-string 300000 #\\a))
                (string-length (dictionary-ref (tool \"workspace/read\" 'path \"big.txt\" 'length 400000) 'content)))",
        "300000",
    );
}

#[test]
fn what_came_first_stays_first() {
    check(
        "(race (lambda () (sleep 60) 'slow) (lambda () (sleep 5) 'quick))",
        "quick",
    );
    check(
        "(call-with-timeout 5 (lambda () (await (signal 'never))) (lambda () 'late))",
        "late",
    );
}
