//! The difference of two values: word by word for texts, the first part that differs for data.
//!
//! INVARIANT: the parts are those that `(srfi 64)` has compared, as a program writes them.
//! It compares no data; `stdlib/srfi/64/apart.scm` does. Read next: `verb/diff/words.rs`.

use duet_runtime::model::codec::{Codec, Fields};
use preserves::{IOValue, ValueImpl};

use crate::verb::diff::words::words_apart;

/// A part of a value.
enum Part {
    Missing,
    /// As a program writes it.
    Written(String),
    /// The characters of a string.
    Text(String),
}

/// Says where two values differ, from the steps to the first parts that differ, and these; nothing
/// if the values themselves show it.
pub(super) fn difference(apart: &IOValue) -> Option<String> {
    let parts = <Vec<IOValue>>::decode(apart).ok()?;
    let [steps, expected, actual] = &parts[..] else {
        return None;
    };
    let steps = <Vec<String>>::decode(steps).ok()?;
    let told = match (part(expected)?, part(actual)?) {
        (Part::Text(expected), Part::Text(actual)) => words_apart(&expected, &actual),
        (Part::Written(_), Part::Written(_)) if steps.is_empty() => return None,
        (Part::Written(expected), Part::Written(actual)) => format!("{expected} is expected, {actual} came"),
        (Part::Written(expected), Part::Missing) => format!("{expected} is missing"),
        (Part::Missing, Part::Written(actual)) => format!("{actual} is too much"),
        (Part::Missing | Part::Written(_) | Part::Text(_), Part::Missing | Part::Written(_) | Part::Text(_)) => {
            return None;
        }
    };
    Some(if steps.is_empty() {
        told
    } else {
        format!("{}: {told}", steps.join(", "))
    })
}

fn part(value: &IOValue) -> Option<Part> {
    if value.as_boolean() == Some(false) {
        return Some(Part::Missing);
    }
    match value.as_string() {
        Some(written) => Some(Part::Written(written.into_owned())),
        None => Some(Part::Text(Fields::of(value, "text", 1).ok()?.read("text").ok()?)),
    }
}
