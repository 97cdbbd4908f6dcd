//! The question by which a person approves attempts: what decides comes first and whole.
//!
//! INVARIANT: two attempts that differ have different questions: a length and a hash stand for a
//! part that is left out.
//! It does not decide whether a person is asked; `bench.rs` does.
//! Read next: `../action/propose.rs`.

use duet_journal::BlobHash;
use serde_json::{Value, json};

use super::payload;
use crate::action::Action;
use crate::policy::keyed;

/// The arguments of tools that decide what a call does, in the order in which they are shown.
const DECIDING: [&str; 10] = [
    "method",
    "host",
    "url",
    "path",
    "command",
    "program",
    "argv",
    "arguments",
    "directory",
    "patch",
];

/// The longest other argument that is shown whole, in characters of JSON.
const WHOLE_CHARACTERS_MAX: usize = 160;

/// The characters of a longer one that are shown before and after the gap.
const ENDS_CHARACTERS: [usize; 2] = [100, 40];

/// The digits of a hash that are shown.
const HASH_DIGITS: usize = 16;

/// Describes attempts to the person who must decide on them.
pub(crate) fn described(attempts: &[Action]) -> String {
    let each: Vec<String> = attempts.iter().map(attempt).collect();
    each.join(" and ")
}

fn attempt(action: &Action) -> String {
    #[expect(clippy::wildcard_enum_match_arm, reason = "other actions describe themselves")]
    match action {
        Action::InvokeTool(call) => format!("{} {}", call.tool, arguments(&payload::as_json(&call.payload))),
        Action::Assert(assert) => match keyed::of(&assert.value) {
            Some(entry) => format!("{} = {}", entry.key, entry.text),
            None => json!(format!("{:?}", assert.value)).to_string(),
        },
        other => other.to_string(),
    }
}

/// Writes the arguments of a call: those that decide first and whole, the others shortened.
fn arguments(payload: &Value) -> String {
    let Value::Object(fields) = payload else {
        return shortened(payload);
    };
    let rank = |name: &str| DECIDING.iter().position(|deciding| *deciding == name);
    let mut order: Vec<&String> = fields.keys().collect();
    order.sort_by_key(|name| rank(name).unwrap_or(DECIDING.len()));
    let written = order.into_iter().filter_map(|name| {
        let value = fields.get(name)?;
        let shown = if rank(name).is_some() {
            value.to_string()
        } else {
            shortened(value)
        };
        Some(format!("{}:{shown}", json!(name)))
    });
    format!("{{{}}}", written.collect::<Vec<_>>().join(","))
}

/// Writes a value; of a long one the middle is left out, with the length and the hash of the whole.
/// The hash of a string is that of its bytes, so that it can be compared with a file's.
fn shortened(value: &Value) -> String {
    let whole = value.to_string();
    let length = whole.chars().count();
    if length <= WHOLE_CHARACTERS_MAX {
        return whole;
    }
    let (bytes, length_bytes) = match value {
        Value::String(text) => (text.as_bytes(), text.len()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            (whole.as_bytes(), whole.len())
        }
    };
    let [head, tail] = ENDS_CHARACTERS;
    let first: String = whole.chars().take(head).collect();
    let last: String = whole.chars().skip(length - tail).collect();
    let hash: String = BlobHash::of(bytes).to_string().chars().take(HASH_DIGITS).collect();
    format!("{first} … {last} ({length_bytes} bytes, BLAKE3 {hash}…)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_decides_is_first_and_whole_and_the_rest_is_shortened() {
        let long = "x".repeat(1_000);
        assert_eq!(
            arguments(&json!({"content": "short", "path": long})),
            format!("{{\"path\":\"{long}\",\"content\":\"short\"}}")
        );
        let written = arguments(&json!({"content": long, "path": "a", "zeal": 1}));
        let expected = format!(
            "{{\"path\":\"a\",\"content\":\"{} … {}\" (1000 bytes, BLAKE3 ",
            "x".repeat(99),
            "x".repeat(39)
        );
        assert!(written.starts_with(&expected), "{written}");
        assert!(written.ends_with("…),\"zeal\":1}"), "{written}");
    }

    #[test]
    fn contents_that_differ_in_the_middle_have_different_questions() {
        let of = |middle: &str| {
            let content = format!("{}{middle}{}", "x".repeat(500), "y".repeat(500));
            arguments(&json!({"path": "a", "content": content}))
        };
        assert_ne!(of("a"), of("b"));
    }
}
