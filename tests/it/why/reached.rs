//! `duet why` of variables of the top level and of the values of strands, and where it stops.
//!
//! INVARIANT: an expression that is shown made the value.
//! Read next: `../why.rs`.
#![allow(clippy::unwrap_used, reason = "a failed step of a test is its failure")]

use super::{IMPORTS, check};
use crate::support::desk::Desk;

#[test]
fn a_variable_of_the_top_level_is_explained() {
    let desk = Desk::new(&[(
        "p.scm",
        &format!(
            "{IMPORTS}(define stock (string-length \"four\"))
(define price (* stock 3))
(sleep 1)
(display \"x\") (newline)
(display (vector-ref (vector 1 2) price))\n"
        ),
    )]);
    assert_eq!(desk.duet("run p.scm").code, 1);
    let told = desk.duet("why --variable price p");
    let start = "price = 12 in `(program)`\n  12 ← (* stock 3) at p.scm:3 in turn 1\n    \
                 4 ← (string-length \"four\") at p.scm:2 in turn 1\n";
    assert!(told.output.starts_with(start), "{told:?}");
    let missing = desk.duet("why --variable cost p");
    assert!(missing.errors.contains("the variables are stock, price"), "{missing:?}");
}

#[test]
fn a_list_of_the_values_of_strands_leads_into_each() {
    check(
        "(import (duet agents))
(define base (string-length \"abc\"))
(define (job x) (sleep 1) (* x base))
(define results (par-map job '(1 2)))
(display results) (newline)",
        "why --output 1 p",
        &[
            "  (3 6) ← (par-map job '(1 2)) at p.scm:5",
            "    6 ← (* x base) at p.scm:4 in turn 3",
            "    3 ← (* x base) at p.scm:4 in turn 2",
            "      3 ← (string-length \"abc\") at p.scm:3 in turn 1",
            "      (1 2) ← literal in (par-map job '(1 2)) at p.scm:5 in turn 1",
        ],
    );
}

#[test]
fn a_value_from_before_has_no_expression_that_only_uses_it() {
    let desk = Desk::new(&[(
        "p.scm",
        &format!(
            "{IMPORTS}(define total 0)
(define (spin n) (if (> n 0) (spin (- n 1)) #t))
(let loop ((i 1))
  (when (< i 9)
    (sleep 1)
    (spin 900000)
    (set! total (+ total i))
    (loop (+ i 1))))
(display total) (newline)\n"
        ),
    )]);
    assert_eq!(desk.duet("run p.scm").code, 0);
    let told = desk.duet("why --output 1 p");
    let before: Vec<&str> = told
        .output
        .lines()
        .filter(|line| line.contains("was there before"))
        .collect();
    assert!(!before.is_empty(), "{told:?}");
    assert!(!told.output.contains("← (when"), "{told:?}");
    assert!(before.iter().all(|line| !line.contains("(+ total i)")), "{told:?}");
}

#[test]
fn a_replaced_fact_does_not_lead_to_those_before_it() {
    check(
        "(define h (assert! (record 'count 0)))
(define (again! n) (sleep 1) (set! h (update! h (record 'count (* n n)))))
(again! 2)
(again! 3)",
        "why count p",
        &[
            "  9 ← (* n n) at p.scm:3",
            "    3 ← literal in (again! 3) at p.scm:5 in turn 2",
        ],
    );
}
