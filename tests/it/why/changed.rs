//! `duet why` where a changed text took the place of another, or an actor began anew.
//!
//! INVARIANT: a chain goes on into the turns before the change.
//! Read next: `../why.rs`.

use crate::support::desk::{CommandOutput, Desk};

const IMPORTS: &str = "(import (scheme base) (duet base) (duet dataspace))\n";

/// A desk with two texts of a program, which has begun with the first one as `p`.
fn begun(first: &str, second: &str) -> Desk {
    let desk = Desk::new(&[
        ("first.scm", &format!("{IMPORTS}{first}\n")),
        ("second.scm", &format!("{IMPORTS}{second}\n")),
    ]);
    let said = desk.duet("run first.scm --name p");
    assert_eq!(said.code, 4, "{said:?}");
    desk
}

/// Requires that a question is answered with these lines, without notes.
#[track_caller]
fn answers(told: &CommandOutput, lines: &[&str]) {
    let found: Vec<&str> = told.output.lines().filter(|line| line.contains('←')).collect();
    assert_eq!(found, lines, "{told:?}");
    assert!(!told.errors.contains("stopped"), "{told:?}");
}

#[test]
fn a_variable_leads_back_beyond_a_changed_text() {
    let text = "(define total 0)
(define (add! n) (set! total (+ total n)) (assert! (record 'total total)))
(on-message (add $n) (add! n))
(await (signal 'stop))";
    let desk = begun(text, &text.replace("(+ total n)", "(+ total (* 2 n))"));
    desk.with("message p", "<add 5>");
    desk.duet("resume p");
    assert_eq!(desk.duet("patch p second.scm").code, 0);
    desk.with("message p", "<add 7>");
    desk.duet("resume p");
    answers(
        &desk.with("why p", "<total 19>"),
        &[
            "  19 ← (+ total (* 2 n)) at second.scm:3",
            "    14 ← (* 2 n) at second.scm:3",
            "    5 ← (+ total n) at first.scm:3 in turn 3",
            "      0 ← literal in (define total 0) at first.scm:2 in turn 1",
        ],
    );
}

#[test]
fn a_variable_leads_back_beyond_a_text_with_further_definitions() {
    let text = "(define name \"old\")
(on-message (order $n) (assert! (record 'r n name)))
(await (signal 'stop))";
    let desk = begun(text, &format!("(define (f) 5)\n{text}"));
    assert_eq!(desk.duet("patch p second.scm").code, 0);
    desk.with("message p", "<order 3>");
    answers(
        &desk.duet("why r p"),
        &["  \"old\" ← literal in (define name \"old\") at first.scm:2 in turn 1"],
    );
}

#[test]
fn a_field_leads_back_beyond_the_migration_of_its_record() {
    let first = "(define-record-type entry (make-entry item price) entry? (item entry-item) (price entry-price))
(define one (make-entry \"tea\" (string-length \"tea\")))
(on-message (order $n) (assert! (record 'r (entry-price one))))
(await (signal 'stop))";
    let second = first
        .replace("item price)", "item price paid?)")
        .replace(
            "(price entry-price))",
            "(price entry-price) (paid? entry-paid?))\n(migrate-records entry (item price) (make-entry item price #t))",
        )
        .replace("\"tea\"))", "\"tea\") #f)");
    let desk = begun(first, &second);
    let patched = desk.duet("patch p second.scm");
    assert_eq!(patched.code, 0, "{patched:?}");
    desk.with("message p", "<order 3>");
    answers(
        &desk.duet("why r p"),
        &[
            "  3 ← (entry-price one) at second.scm:5",
            "    3 ← (string-length \"tea\") at first.scm:3 in turn 1",
        ],
    );
}

#[test]
fn the_variables_of_a_frame_lead_back_beyond_a_changed_text() {
    let text = "(define (more size) (+ size 1))
(define (work size)
  (let ((area (* size size)))
    (await (signal 'go))
    (assert! (record 'done (more area)))
    (await (signal 'stop))))
(work (string-length \"abc\"))";
    let desk = begun(text, &text.replace("(+ size 1)", "(+ size 2)"));
    assert_eq!(desk.duet("patch p second.scm").code, 0);
    desk.duet("signal p go 1");
    desk.duet("resume p");
    answers(
        &desk.duet("why done p"),
        &[
            "  11 ← (+ size 2) at second.scm:2",
            "    9 ← (* size size) at first.scm:4 in turn 1",
            "      3 ← (string-length \"abc\") at first.scm:8 in turn 1",
        ],
    );
}

#[test]
fn the_configuration_of_an_actor_that_began_anew_leads_back_to_its_beginning() {
    let text = "(define (w size) (on-message (order $n) (assert! (record 'made (+ n size)))))
(register-entity! 'w w)
(spawn-entity! 'w :config (* 10 10))
(await (signal 'stop))";
    let desk = begun(text, text);
    let restarted = desk.duet("restart p w");
    assert_eq!(restarted.code, 0, "{restarted:?}");
    desk.with("message p", "<order 1>");
    desk.duet("resume p");
    let told = desk.duet("why made p");
    assert!(!told.errors.contains("stopped"), "{told:?}");
    let sent = "100 ← passed on by (spawn-entity! 'w :config (* 10 10)) at first.scm:4 in turn 1";
    assert!(told.output.contains(sent), "{told:?}");
}
