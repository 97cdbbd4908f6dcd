//! Calls that a run makes again after it went back: what is the same although turns differ, and
//! what is not.
//!
//! INVARIANT: a file that only the tool writes counts its calls.
//! Read next: `../travel.rs`.

use std::fs;

use crate::support::desk::Desk;

/// The beginning of each program: a question, and a call that leaves a word in a file.
const HEAD: &str = r#"(import (duet base) (duet dataspace) (duet agents))
(define (sh text) (call-tool 'x 'process/run (dictionary 'arguments (list "sh" "-c" text))))
(define (leave word) (sh (string-append "echo " word " >> log")))
(define first (await (user-input :prompt "first?")))
"#;

fn desk(body: &str) -> Desk {
    Desk::new(&[("a.scm", &format!("{HEAD}{body}\n(await (user-input :prompt \"end?\"))"))])
}

#[track_caller]
fn check_log(desk: &Desk, expected: &str) {
    let log = fs::read_to_string(desk.path("log")).unwrap_or_default();
    assert_eq!(log.split_whitespace().collect::<Vec<_>>().join(" "), expected);
}

/// Runs a program, goes back to its question, gives the same answer, and requires that its calls
/// were made once.
#[track_caller]
fn check_once(body: &str, log: &str) {
    let desk = desk(body);
    desk.check("run a.scm --name a --grant process/run", 4, "");
    desk.check("answer a go", 4, "");
    check_log(&desk, log);
    for _ in 0..2 {
        desk.check("goto a@1", 0, "");
        desk.check("answer a go", 4, "");
        check_log(&desk, log);
    }
    desk.check("answer a done", 0, "");
    desk.replays("a");
}

#[test]
fn parallel_calls_are_repeated_whatever_their_order() {
    check_once(
        "(par-map sh '(\"sleep 0.5; echo slow >> log\" \"echo quick >> log\")) (leave \"after\")",
        "quick slow after",
    );
    // The order of the results is that of the past.
    check_once(
        "(define order '())
         (par-map (lambda (n) (sh (if (= n 1) \"sleep 0.5\" \"true\")) (set! order (cons n order))) '(1 2))
         (leave (apply string-append (map number->string order)))",
        "12",
    );
}

#[test]
fn equal_calls_are_repeated_one_for_one() {
    check_once("(leave \"x\") (leave \"x\") (par-map leave '(\"x\" \"x\"))", "x x x x");
}

#[test]
fn time_and_chance_do_not_make_a_call_another_one() {
    check_once("(sleep 60) (leave \"slept\")", "slept");
    check_once(
        "(call-with-timeout 60000 (lambda () (leave \"first\"))) (leave \"second\")",
        "first second",
    );
    check_once("(current-time) (random 1000000) (leave \"same\")", "same");
    check_once(
        "(define tries 0)
         (with-retry
           (lambda () (set! tries (+ tries 1)) (leave \"try\") (if (< tries 2) (error \"again\")))
           :delay 60 :when (lambda (failure) #t))
         (leave \"done\")",
        "try try done",
    );
}

#[test]
fn actors_that_begin_in_another_order_repeat_their_calls() {
    // The call returns at once where it is repeated, so its actor begins before the other.
    check_once(
        "(define (worker word)
           (sh (string-append (if (string=? word \"called\") \"sleep 0.5; \" \"\") \"echo \" word \" >> log\")))
         (register-entity! 'worker worker)
         (define ended '())
         (define (end! word) (set! ended (cons word ended)))
         (all-of (lambda () (sh \"sleep 0.9\") (end! \"called\")) (lambda () (sleep 300) (end! \"slept\")))
         (for-each (lambda (word) (spawn-entity! 'worker :config word)) (reverse ended))",
        "slept called",
    );
}

#[test]
fn an_answer_is_the_same_however_it_is_given() {
    for (one, other) in [
        ("answer a go", "resume a --answer go"),
        ("resume a --answer go", "answer a go"),
    ] {
        let desk = desk("(leave first)");
        desk.check("run a.scm --name a --grant process/run", 4, "");
        desk.check(one, 4, "");
        desk.check("goto a@1", 0, "");
        desk.check(other, 4, "");
        check_log(&desk, "go");
        desk.replays("a");
    }
}

#[test]
fn another_answer_makes_calls_again_although_they_look_alike() {
    let desk = desk("(leave \"x\")");
    desk.check("run a.scm --name a --grant process/run", 4, "");
    desk.check("answer a go", 4, "");
    desk.check("goto a@1", 0, "");
    desk.check("answer a stay", 4, "");
    check_log(&desk, "x x");
    // The first answer leads to the first past again, and the second to the second.
    for answer in ["go", "stay"] {
        desk.check("goto a@1", 0, "");
        desk.check(&format!("answer a {answer}"), 4, "");
        check_log(&desk, "x x");
    }
    desk.check("goto a@1", 0, "");
    desk.check("resume a --again --answer go", 4, "");
    check_log(&desk, "x x x");
}

#[test]
fn a_call_that_the_past_does_not_have_is_made() {
    let desk = desk("(on-message (more $word) (leave (symbol->string word))) (leave \"x\")");
    desk.check("run a.scm --name a --grant process/run", 4, "");
    desk.check("answer a go", 4, "");
    desk.check("message a \"<more y>\"", 4, "");
    desk.check("resume a", 4, "");
    check_log(&desk, "x y");
    desk.check("goto a@1", 0, "");
    desk.check("answer a go", 4, "");
    desk.check("message a \"<more z>\"", 4, "");
    desk.check("resume a", 4, "");
    check_log(&desk, "x y z");
    desk.replays("a");
}
