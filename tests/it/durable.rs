//! Thirty cases of durable programs, each killed in the middle by the system and continued by
//! another process: what was done stays done, what waits goes on waiting, and the end is that of a
//! program that was never killed.
//!
//! INVARIANT: `(pause)` prints a line and waits; the process is killed when the line has come, so
//! always at the same place.
//! `steps.rs` continues programs from each of their turns, `crash.rs` kills at every write.
//! Read next: `steps.rs`.
#![cfg(unix)]

use crate::support::desk::{CommandOutput, Desk};
use crate::support::running::Running;

const MANIFEST: &str = "((program \"main.scm\") (workspace (argument 1))
  (tools clock/* console process/run workspace/*))";

/// `(note! x)` adds a line to a file that outlives the process, `(notes)` counts the lines.
const LIBRARY: &str = r#"(import (scheme base) (scheme process-context) (scheme read) (scheme write)
  (duet base) (duet dataspace) (duet agents))
(define (pause) (display "here") (newline) (sleep 600))
(define (note! what) (call-tool 'step "process/run" (dictionary 'arguments (list "sh" "-c" "echo >> notes"))) what)
(define (notes)
  (let ((ended (call-tool 'step "process/run" (dictionary 'arguments (list "sh" "-c" "wc -l < notes")))))
    (read (open-input-string (dictionary-ref ended 'stdout)))))
(define (told thunk)
  (guard (it ((condition? it) (list (condition-kind it) (condition-message it))) (else it)) (thunk)))
(define calls 0)
(define (call!) (set! calls (+ calls 1)) calls)
"#;

fn desk(program: &str) -> Desk {
    let main = format!("{LIBRARY}\n(define shown (begin {program}))\n(write shown) (newline)\n");
    Desk::new(&[("p/manifest.scm", MANIFEST), ("p/main.scm", &main), ("files/notes", "")])
}

/// Runs a program until it pauses, and kills it.
#[track_caller]
fn killed(program: &str) -> Desk {
    let desk = desk(program);
    let mut running = Running::start(&desk, "run p --name p -- files");
    let line = running.line();
    running.signal("-KILL");
    let errors = running.end().1;
    assert_eq!(line, "here", "{program}\n{errors}");
    desk
}

#[track_caller]
fn check_end(desk: &Desk, said: &CommandOutput, (program, expected): (&str, &str)) {
    let shown = said.output.lines().last().unwrap_or_default();
    assert_eq!((said.code, shown), (0, expected), "{program}\n{}", said.errors);
    assert_eq!(desk.duet("replay p --check").code, 0, "{program}");
}

/// Each program ends with its value after a kill, and without one.
#[track_caller]
fn check(cases: &[(&str, &str)]) {
    for (program, expected) in cases {
        let whole = desk(program);
        check_end(&whole, &whole.duet("run p --name p -- files"), (program, expected));
        let left = killed(program);
        check_end(&left, &left.duet("resume p"), (program, expected));
    }
}

#[test]
fn steps_that_are_done_stay_done() {
    check(&[
        (
            "(let* ((a (note! 1)) (b (begin (pause) (note! 2)))) (list a b (notes)))",
            "(1 2 2)",
        ),
        (
            "(begin (note! 1) (call!) (pause) (call!) (list calls (notes)))",
            "(2 1)",
        ),
        (
            "(let ((kept (list 1.5 \"é\" 'b (vector 1 2) (record 'r 3) (dictionary 'k '(v)))))
               (pause) (list (car kept) (cadr kept) (record-fields (list-ref kept 4))
                             (dictionary-ref (list-ref kept 5) 'k)))",
            "(1.5 \"é\" (3) (v))",
        ),
        (
            "(let ((big (begin
                (call-tool 'step \"workspace/write\"
                  (dictionary 'path \"big\" 'content (make-string 300000 #\\a)))
                (dictionary-ref
                  (call-tool 'step \"workspace/read\" (dictionary 'path \"big\" 'length 400000))
                  'content))))
               (pause) (string-length big))",
            "300000",
        ),
        (
            "(let ((failed (told (lambda () (call-tool 'step \"workspace/read\" (dictionary 'path \"absent\"))))))
               (pause) (car failed))",
            "not-found",
        ),
    ]);
}

#[test]
fn attempts_count_across_processes() {
    check(&[
        (
            "(with-retry (lambda () (if (= (call!) 2) (pause)) (if (< calls 4) (error \"down\") calls))
               :attempts 5 :delay 5)",
            "4",
        ),
        (
            "(list (told (lambda ()
               (with-retry (lambda () (if (= (call!) 2) (pause)) (error \"down\" calls))
                 :attempts 3 :delay 5))) calls)",
            "((error \"down\") 3)",
        ),
        (
            "(list (told (lambda () (with-retry (lambda () (call!) (pause) (car calls)) :attempts 3 :delay 5))) calls)",
            "((wrong-type \"argument 1 of car must be a pair\") 1)",
        ),
        (
            "(list (told (lambda () (pause) (with-retry call! :attempts 2 :delay -5))) calls)",
            "((wrong-type \"with-retry: expected milliseconds from 0, or a procedure, after :delay\") 0)",
        ),
        (
            "(poll-until (lambda (last) (if (= (call!) 2) (pause)) calls) (lambda (n) (= n 4)) :every 5)",
            "4",
        ),
    ]);
}

#[test]
fn time_goes_on_while_no_process_runs() {
    check(&[
        (
            "(let ((before (current-time))) (pause) (>= (- (current-time) before) 600))",
            "#t",
        ),
        (
            "(let ((order '()))
               (for-each (lambda (n) (after n (lambda () (set! order (cons n order))))) '(650 550 600 500))
               (pause) (sleep 200) (reverse order))",
            "(500 550 600 650)",
        ),
        (
            "(let ((late #f)) (after 100 (lambda () (set! late #t))) (pause) late)",
            "#t",
        ),
        ("(call-with-timeout 300 pause (lambda () 'late))", "late"),
        (
            "(call-with-timeout 60000 (lambda () (pause) 'in-time) (lambda () 'late))",
            "in-time",
        ),
        (
            "(let* ((count 0) (timer (every 5 (lambda () (set! count (+ count 1))))))
               (sleep 30) (cancel! timer)
               (let ((before count)) (pause) (= before count)))",
            "#t",
        ),
    ]);
}

#[test]
fn several_strands_go_on_together() {
    check(&[
        (
            "(par-map (lambda (n) (if (= n 2) (pause) (sleep (* 10 n))) (* n n)) '(1 2 3))",
            "(1 4 9)",
        ),
        (
            "(par-map (lambda (n) (par-map (lambda (m) (if (= 1 n m) (pause)) (list n m)) '(1 2))) '(1 2))",
            "(((1 1) (1 2)) ((2 1) (2 2)))",
        ),
        (
            "(told (lambda () (par-map (lambda (n) (if (= n 2) (begin (pause) (error \"second\")) n)) '(1 2 3))))",
            "(error \"second\")",
        ),
        (
            "(let ((it (settle (list (lambda () (pause) 'a) (lambda () (error \"x\")) (lambda () 'c)))))
               (list (dictionary-ref it 'values) (map car (dictionary-ref it 'failures))))",
            "((a c) (1))",
        ),
        (
            "(race (lambda () (sleep 60000) 'slow) (lambda () (pause) 'quick))",
            "quick",
        ),
        (
            "(any-of (lambda () (error \"x\")) (lambda () (pause) 'second))",
            "second",
        ),
        (
            "(all-of (lambda () (pause) 1) (lambda () 2) (lambda () (sleep 20) 3))",
            "(1 2 3)",
        ),
    ]);
}

#[test]
fn facts_and_messages_outlive_the_process() {
    check(&[
        (
            "(begin (assert! (record 'state 1)) (pause) (record-fields (await (record 'state))))",
            "(1)",
        ),
        (
            "(let ((heard '())) (on-message (say $x) (set! heard (cons x heard)))
               (message! (record 'say 1)) (pause) (message! (record 'say 2)) (sleep 5) heard)",
            "(2 1)",
        ),
        (
            "(let ((fact (assert! (record 'state 1)))) (pause) (update! fact (record 'state 2))
               (sleep 1) (record-fields (await (record 'state))))",
            "(2)",
        ),
    ]);
}

/// A program that waits for others, killed while it waits.
#[track_caller]
fn check_told(program: &str, commands: &[&str], expected: &str) {
    let desk = killed(&format!("(spawn pause) {program}"));
    let mut shown = String::new();
    for command in commands {
        let said = desk.duet(command);
        shown.push_str(&said.output);
    }
    assert_eq!(shown.lines().last(), Some(expected), "{program}: {commands:?}");
    assert_eq!(desk.duet("replay p --check").code, 0, "{program}");
}

#[test]
fn answers_signals_and_failures_from_outside_reach_a_run_that_was_killed() {
    let asks = "(told (lambda () (await (user-input :prompt \"Name?\"))))";
    check_told(asks, &["answer p Ada"], "\"Ada\"");
    check_told(asks, &["answer p Ada", "answer p Grace"], "\"Ada\"");
    check_told(asks, &["answer p --fail unavailable gone"], "(unavailable \"gone\")");
    check_told("(record-fields (await (signal 'go)))", &["signal p go 7"], "(7)");
    check_told(
        r#"(record-fields (await (signal "go")))"#,
        &[r#"signal p "\"go\"" 7"#],
        "(7)",
    );
    check_told(
        "(with-timeout 60000 (user-input :prompt \"Name?\") (lambda () 'late))",
        &["answer p Ada"],
        "\"Ada\"",
    );
    check_told(
        "(with-timeout 50 (user-input :prompt \"Name?\") (lambda () 'late))",
        &["resume p"],
        "late",
    );
}

#[test]
fn a_failure_ends_the_run_once() {
    let desk = killed("(begin (pause) (exit 3))");
    let said = desk.duet("resume p");
    assert_eq!(said.code, 3, "{}", said.errors);
    let again = desk.duet("resume p");
    assert_eq!((again.code, &*again.output), (3, ""), "{}", again.errors);
}
