//! How files of tests end: by `exit`, by their time, by an error; and what the report says then.
//!
//! INVARIANT: a file that has not shown that it passes has failed, with the place if there is one.
//! Read next: `../testing.rs`.

use super::{BEGIN, Desk, check, check_text};

#[test]
fn macros_without_an_end_are_stopped_and_their_place_told() {
    let macros = "(define-syntax f (syntax-rules () ((_ x) (begin (define v 1) (define w 1) (f y)))))";
    check_text(
        &format!("{BEGIN}{macros}\n(f a)\n(test-equal 1 1)"),
        "test --timeout 1",
        1,
        &[
            "its time is over: 5 s",
            "the expansion of macros was stopped here",
            "one-test.scm:",
        ],
    );
    // A text that the program evaluates is a part of its run.
    let text = format!("(let () {macros} (f a))");
    check_text(
        &format!("(import (scheme eval))\n{BEGIN}(test-equal 1 (eval '{text} (environment '(scheme base))))"),
        "test --timeout 1",
        1,
        &["its time is over: 1 s"],
    );
}

#[test]
fn a_file_may_end_by_an_exit_after_its_last_group() {
    let imports = "(import (scheme base) (scheme process-context) (srfi 64))\n";
    let suite = format!("{imports}(test-begin \"t\")\n(test-equal 1 one)\n(test-end)\n");
    for (one, exit, code, told) in [
        ("1", "(exit 0)", 0, "1 passed, 0 failed"),
        (
            "1",
            "(let ((failed 0)) (exit (if (= failed 0) 0 1)))",
            0,
            "1 passed, 0 failed",
        ),
        ("2", "(exit 1)", 1, "0 passed, 1 failed"),
        ("2", "(exit 0)", 1, "0 passed, 1 failed"),
        (
            "1",
            "(exit 3)",
            1,
            "it called `(exit)` with the code 3, although no assertion failed",
        ),
        (
            "1",
            "(exit 0)\n(test-assert #f)",
            1,
            "so what comes after it is not tested",
        ),
        (
            "1",
            "(test-group \"two\" (test-assert #t) (exit 0))",
            1,
            "so what comes after it is not tested",
        ),
    ] {
        check_text(
            &format!("{}{exit}\n", suite.replace("one)", &format!("{one})"))),
            "test",
            code,
            &[told],
        );
    }
}

#[test]
fn a_timer_that_is_left_is_told_and_its_kept_run_has_no_moment_of_a_virtual_clock() {
    let program = format!("{BEGIN}(every 1000 (lambda () #t))\n(test-equal 1 1)");
    let desk = Desk::new(&[("one-test.scm", &program)]);
    let said = desk.duet("test --timeout 0.3 --keep").output;
    assert!(said.contains("its time is over: 0.3 s"), "{said}");
    assert!(said.contains("main waits for "), "{said}");
    let runs = desk.duet("runs").output;
    assert!(runs.contains("left: ") && !runs.contains("until"), "{runs}");
}

#[test]
fn an_error_within_an_assertion_has_the_place_that_raised_it_and_its_calls() {
    check(
        "(define (price item)\n  (cdr (assq item '((tea . 3)))))\n(define (total items) (apply + (map price items)))
(test-equal \"sum\" 3 (total '(tea cofee)))",
        1,
        &[
            "it raised wrong-type",
            "one-test.scm:4:3",
            "in `price`",
            "called by `total` on line 5",
        ],
    );
}

#[test]
fn only_a_file_that_was_run_can_be_kept() {
    let desk = Desk::new(&[("one-test.scm", "(import (scheme base)\n")]);
    for line in ["test", "test --keep"] {
        let said = desk.duet(line).output;
        assert!(said.contains("this parenthesis is never closed"), "{said}");
        assert!(!said.contains("keeps the run"), "{said}");
    }
}
