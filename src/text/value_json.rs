//! Values of programs as JSON: in the form that policy gives them, or in one that tells all values
//! apart, which the page reads.
//!
//! INVARIANT: in the second form two values are equal exactly if their JSON is, and a number stands
//! there only if the doubles of a browser hold it.
//! It shortens nothing. Recursion is bounded by the depth of a recorded value.
//! Read next: `value_text.rs`, `ui/page/value.js`.

use std::cell::Cell;

use duet_runtime::gate::payload;
use preserves::{AtomClass, CompoundClass, IOValue, ValueClass, ValueImpl};
use serde_json::{Value as Json, json};

use crate::text::value_text::shown;

/// The name of the member that says what the JSON of a value stands for; no part of a report has a
/// member of this name.
const SORT: &str = "#";

/// The largest integer up to which a double holds each.
const EXACT_MAX: u64 = (1 << 53) - 1;

thread_local! {
    /// Whether the reports that are being made tell values apart.
    static IS_APART: Cell<bool> = const { Cell::new(false) };
}

/// Makes JSON of a value, in the form that the report wants.
pub(crate) fn of(value: &IOValue) -> Json {
    if IS_APART.get() {
        apart(value)
    } else {
        payload::as_json(value)
    }
}

/// Makes a report that tells values apart.
pub(crate) fn telling_apart<T>(report: impl FnOnce() -> T) -> T {
    let before = IS_APART.replace(true);
    let made = report();
    IS_APART.set(before);
    made
}

/// Puts the digits in the place of a number of a report that a browser would round.
pub(crate) fn exact(number: &mut Json) {
    let is_exact = |integer: i128| integer.unsigned_abs() <= u128::from(EXACT_MAX);
    if let Json::Number(found) = &*number
        && found
            .to_string()
            .parse::<i128>()
            .is_ok_and(|integer| !is_exact(integer))
    {
        *number = sorted("atom", found.to_string());
    }
}

/// A string, a list and a small integer are themselves. Any other value is an object of its sort
/// and its parts: the Preserves text of an atom, the label and fields of a record, the elements of
/// a set, the pairs of a dictionary.
fn apart(value: &IOValue) -> Json {
    let parts = || value.iter().map(|part| apart(&part.into()));
    match value.value_class() {
        ValueClass::Atomic(AtomClass::String) => json!(value.as_string().unwrap_or_default()),
        ValueClass::Atomic(AtomClass::SignedInteger) => match value.as_i64() {
            Some(Ok(integer)) if integer.unsigned_abs() <= EXACT_MAX => json!(integer),
            Some(_) | None => sorted("atom", shown(value)),
        },
        ValueClass::Atomic(_) | ValueClass::Embedded => sorted("atom", shown(value)),
        ValueClass::Compound(CompoundClass::Sequence) => parts().collect(),
        ValueClass::Compound(CompoundClass::Set) => sorted("set", parts().collect::<Vec<_>>()),
        ValueClass::Compound(CompoundClass::Record) => {
            let label = std::iter::once(apart(&value.label().into()));
            sorted("record", label.chain(parts()).collect::<Vec<_>>())
        }
        ValueClass::Compound(CompoundClass::Dictionary) => {
            let entries = value.entries();
            let pairs = entries.map(|(key, member)| json!([apart(&key.into()), apart(&member.into())]));
            sorted("dictionary", pairs.collect::<Vec<_>>())
        }
    }
}

fn sorted(sort: &str, parts: impl Into<Json>) -> Json {
    json!({ SORT: sort, "of": parts.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &Json) {
        let found: IOValue = text.parse().expect("a value");
        assert_eq!(telling_apart(|| of(&found)), *expected, "{text}");
        assert_eq!(of(&found), payload::as_json(&found), "{text}");
    }

    #[test]
    fn values_that_policy_takes_for_the_same_are_told_apart() {
        let atom = |text: &str| json!({ "#": "atom", "of": text });
        check("\"a\"", &json!("a"));
        check("a", &atom("a"));
        check("9007199254740991", &json!(9_007_199_254_740_991_u64));
        check("-9007199254740992", &atom("-9007199254740992"));
        check("1.0", &atom("1.0"));
        check("#t", &atom("#t"));
        check("[1 #{2}]", &json!([1, { "#": "set", "of": [2] }]));
        check("<a 1>", &json!({ "#": "record", "of": [atom("a"), 1] }));
        check(
            "{a: 1 \"a\": 2}",
            &json!({ "#": "dictionary", "of": [["a", 2], [atom("a"), 1]] }),
        );
    }

    #[test]
    fn a_number_that_a_browser_rounds_is_text() {
        for (number, expected) in [
            (json!(1.5), json!(1.5)),
            (json!(-9_007_199_254_740_991_i64), json!(-9_007_199_254_740_991_i64)),
            (json!(u64::MAX), json!({ "#": "atom", "of": "18446744073709551615" })),
        ] {
            let mut found = number;
            exact(&mut found);
            assert_eq!(found, expected);
        }
    }
}
