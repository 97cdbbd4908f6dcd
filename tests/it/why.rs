//! `duet why`: the expressions, variables and inputs that a value came from.
//!
//! Each test is a small program, with the right chain in words.
//! INVARIANT: each line of a chain stands in its order, and what is further in led to what is
//! above it.
//! Read next: `support/desk.rs`.
#![allow(clippy::unwrap_used, reason = "a failed step of a test is its failure")]

use serde_json::Value;

use crate::support::desk::Desk;

const IMPORTS: &str = "(import (scheme base) (scheme write) (duet base) (duet dataspace))\n";

/// Runs a program as `p` and requires exactly these lines about where the values came from.
#[track_caller]
fn check(program: &str, question: &str, lines: &[&str]) -> Desk {
    let desk = Desk::new(&[("p.scm", &format!("{IMPORTS}{program}\n"))]);
    let said = desk.duet("run p.scm");
    assert_eq!(said.code, 0, "{said:?}");
    let told = desk.duet(question);
    let found: Vec<&str> = told.output.lines().filter(|line| line.contains('←')).collect();
    assert_eq!(found, lines, "{told:?}");
    desk
}

#[test]
fn a_sum_comes_from_its_variables() {
    let desk = check(
        "(define a (string-length \"abc\"))
(define b (* a 2))
(display (+ a b)) (newline)",
        "why --output 1 p",
        &[
            "  9 ← (+ a b) at p.scm:4",
            "    6 ← (* a 2) at p.scm:3",
            "    3 ← (string-length \"abc\") at p.scm:2",
        ],
    );
    let why: Value = serde_json::from_str(&desk.duet("why --output 1 p --json").output).unwrap();
    let steps = why["values"]["steps"].as_array().unwrap();
    assert_eq!(
        (steps.len(), &steps[0]["by"]["line"], &steps[0]["sort"]),
        (3, &4.into(), &"computed".into())
    );
}

#[test]
fn the_field_of_a_fact_comes_from_its_expression() {
    check(
        "(define (price count) (* count 7))
(assert! (list 'report (price 6)))",
        "why [report,_] p",
        &[
            "  42 ← (* count 7) at p.scm:2",
            "    6 ← literal in (price 6) at p.scm:3",
        ],
    );
}

#[test]
fn an_element_comes_from_where_it_was_put_in() {
    check(
        "(define (twice x) (* x 2))
(define items (list (twice 1) (twice 2)))
(define cells (vector 0 0))
(vector-set! cells 1 (cadr items))
(display (vector-ref cells 1)) (newline)",
        "why --output 1 p",
        &[
            "  4 ← (vector-ref cells 1) at p.scm:6",
            "    4 ← (cadr items) at p.scm:5",
            "      4 ← (* x 2) at p.scm:2",
        ],
    );
}

#[test]
fn what_a_library_does_is_no_step() {
    check(
        "(define (half x) (/ x 2))
(display (map half (list 8))) (newline)",
        "why --output 1 p",
        &[
            "  (4) ← (map half (list 8)) at p.scm:3",
            "    4 ← (/ x 2) at p.scm:2",
            "      8 ← literal in (map half (list 8)) at p.scm:3",
        ],
    );
}
