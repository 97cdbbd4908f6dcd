//! Every primitive: described, used by a script, and clear about what it refuses.
//!
//! Owns the proofs that hold for all primitives alike; the scripts and the kernel's own tests show
//! the results of each.
//! INVARIANT: the primitives come from the kernel's table, so that none can be forgotten.
//! Read next: `support/probe.scm`.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::support::script::Evaluate as _;
use crate::support::session::Session;
use duet_kernel::primitive::{self, Cost, Primitive, PrimitiveBody};

/// Primitives that only the libraries may call, with the reason.
const NOT_PROBED: [(&str, &str); 2] = [
    ("%set-dynamic!", "it replaces the handlers of conditions"),
    (
        "%labelled-ref",
        "its message names the record, because an accessor calls it",
    ),
];

/// Kinds of conditions that concern limits, or the phase of a call, and not its arguments.
const KINDS_OF_LIMITS: [&str; 3] = ["out-of-memory", "too-many-arguments", "out-of-phase"];

/// Fails with all offenders and the advice, unless there are none.
fn check(offenders: &[String], advice: &str) {
    assert!(offenders.is_empty(), "{advice}:\n  {}\n", offenders.join("\n  "));
}

/// The words of all scripts below a folder.
fn words(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            words(&path, found);
        } else {
            let text = fs::read_to_string(&path).unwrap();
            let is_delimiter = |character: char| character.is_whitespace() || "()[]'`,;\"".contains(character);
            found.extend(text.split(is_delimiter).map(str::to_owned));
        }
    }
}

#[test]
fn every_primitive_is_used_by_a_script() {
    let mut used = BTreeSet::new();
    words(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts"), &mut used);
    // Names that begin with `%` are the libraries' own, and scripts use them through the libraries.
    let public = primitive::all().filter(|primitive| !primitive.name.starts_with('%'));
    let offenders: Vec<String> = public
        .filter(|primitive| !used.contains(primitive.name))
        .map(|primitive| primitive.name.to_owned())
        .collect();
    check(&offenders, "show in tests/scripts what these do");
}

/// The work of a primitive that takes no fuel must have a small bound, which only a reader of its
/// body can judge: whoever adds one sees this test fail, and gives it a cost or accepts the
/// snapshot.
#[test]
fn the_primitives_that_take_no_fuel_are_known() {
    let free = primitive::all().filter(|primitive| matches!(primitive.cost, Cost::Free));
    let names: Vec<&str> = free.map(|primitive| primitive.name).collect();
    insta::assert_snapshot!(names.join("\n"));
}

#[test]
fn every_primitive_is_described() {
    let is_lacking = |primitive: &&Primitive| {
        let text = primitive.documentation.trim();
        !text.starts_with(|first: char| first.is_uppercase() || first == '`') || !text.contains('.')
    };
    let offenders: Vec<String> = primitive::all()
        .filter(is_lacking)
        .map(|primitive| primitive.name.to_owned())
        .collect();
    check(&offenders, "say in a sentence what these do");
}

/// Calls of a primitive for the probe: by value, and written out for each number of arguments that
/// has instructions of its own.
fn procedures(primitive: &Primitive) -> String {
    let name = primitive.name;
    let clauses = |count: usize| {
        let parameters = ["a", "b", "c", "d"][..count].join(" ");
        format!("(({parameters}) ({name} {parameters}))")
    };
    let direct: Vec<String> = (0..=4).filter(|count| primitive.accepts(*count)).map(clauses).collect();
    format!(
        "(list {name} (case-lambda {} (rest (apply {name} rest))))",
        direct.join(" ")
    )
}

#[test]
fn refusals_name_procedure_position_and_value_and_are_described() {
    let mut session = Session::new();
    let mut offenders = Vec::new();
    session.evaluate(include_str!("support/probe.scm")).unwrap();
    session.evaluate("(import (duet kernel))").unwrap();
    for primitive in primitive::all().filter(|primitive| matches!(primitive.body, PrimitiveBody::Function(_))) {
        let (name, least) = (primitive.name, primitive.least);
        if NOT_PROBED.iter().any(|(spared, _)| *spared == name) {
            continue;
        }
        let most = primitive.most.map_or("#f".to_owned(), |most| most.to_string());
        let call = format!("(probe '{name} {} {least} {most})", procedures(primitive));
        let answer = match session.evaluate(&call) {
            Ok(answer) => answer,
            Err(raised) => format!("(() ({}))", raised.message),
        };
        let (kinds, complaints) = answer.trim_start_matches("((").split_once(") ").unwrap_or_default();
        if complaints != "())" {
            offenders.push(format!("{name}: {complaints}"));
        }
        let is_undescribed =
            |kind: &&str| !KINDS_OF_LIMITS.contains(kind) && !primitive.documentation.contains(&format!("`{kind}`"));
        let undescribed: Vec<&str> = kinds.split_whitespace().filter(is_undescribed).collect();
        if !undescribed.is_empty() {
            offenders.push(format!(
                "{name}: its description does not mention {}",
                undescribed.join(", ")
            ));
        }
    }
    check(&offenders, "mend the messages or the descriptions of these primitives");
}
