//! JSON Schema 2020-12, keyword by keyword, by both validators: that of the gate and that of
//! `(duet json)`.
//!
//! Each case of `json_schema/cases.json` has a schema, the values that it accepts, and those that
//! it does not.
//! INVARIANT: both validators give the same verdict.
//! `schema/src/schema.rs` tests the cost of the gate's validator.
//! Read next: `policy.rs`.
#![allow(clippy::panic, reason = "a test fails by panicking")]

use duet_runtime::policy::schema::Schema;
use serde_json::Value;

use crate::support::desk::Desk;

const CASES: &str = include_str!("json_schema/cases.json");

fn cases() -> Vec<Value> {
    serde_json::from_str(CASES).expect("it is JSON")
}

/// Lists the values of a case, each with its verdict.
fn verdicts(case: &Value) -> Vec<(&Value, bool)> {
    let values = |key: &str| case[key].as_array().expect("a list").iter();
    let valid = values("valid").map(|value| (value, true));
    valid.chain(values("invalid").map(|value| (value, false))).collect()
}

#[test]
fn the_gate_judges_as_the_keywords_say() {
    for case in cases() {
        let schema = Schema::parse(&case["schema"]).unwrap_or_else(|error| panic!("{}: {error}", case["schema"]));
        for (value, is_valid) in verdicts(&case) {
            assert_eq!(
                schema.accepts(value),
                is_valid,
                "{}: {} on {value}",
                case["about"],
                case["schema"]
            );
            assert_eq!(
                schema.fault(value).is_none(),
                is_valid,
                "{}: {} on {value}",
                case["about"],
                case["schema"]
            );
        }
    }
}

#[test]
fn programs_judge_as_the_keywords_say() {
    let program = "(import (scheme base) (scheme file) (scheme write) (duet base) (duet json))
(define (check case)
  (let ((schema (json-schema (json-ref case 'schema))))
    (define (judge expected)
      (lambda (value)
        (if (not (eq? expected (json-valid? schema value)))
            (begin (display (value->json case)) (display \" on \") (display (value->json value)) (newline)))))
    (for-each (judge #t) (json-ref case 'valid))
    (for-each (judge #f) (json-ref case 'invalid))))
(for-each check (call-with-input-file \"cases.json\" read-json))
(display \"done\")";
    let manifest = "((program \"p.scm\") (workspace (argument 1)) (tools workspace/read))";
    let desk = Desk::new(&[
        ("p/manifest.scm", manifest),
        ("p/p.scm", program),
        ("files/cases.json", CASES),
    ]);
    desk.check("run p -- files", 0, "done");
}
