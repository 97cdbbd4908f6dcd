//! The requests of two branches and their answers, side by side.
//!
//! INVARIANT: a request that both make with the same answer and in the same order is not told.
//! It finds no pairs; `../../../runtime/src/history/alignment.rs` does. Read next: `words.rs`.

use duet_runtime::history::alignment::{Alignment, Answered, Outcome, Pair};
use preserves::{IOValue, ValueClass, ValueImpl};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::words::words_apart;
use crate::history::turn::line::payload_words;
use crate::text::value_json;
use crate::text::value_text;

/// The maximum number of texts of one value that are compared word by word.
const TEXTS_MAX: usize = 8;

/// The length in characters from which texts are compared word by word.
const LONG_TEXT: usize = 24;

/// A request as JSON.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct AskedForm {
    actor: String,
    what: String,
    nth: u64,
    arguments: Value,
    turn: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    ok: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Value>,
}

/// Two requests as JSON.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct PairForm {
    left: AskedForm,
    right: AskedForm,
}

/// The requests of two branches, as JSON.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub(crate) struct Form {
    same: usize,
    answered_otherwise: Vec<PairForm>,
    moved: Vec<PairForm>,
    changed: Vec<PairForm>,
    left: Vec<AskedForm>,
    right: Vec<AskedForm>,
}

/// The pairs that the report lists.
pub(super) struct ListedRequests<'a> {
    alignment: &'a Alignment,
    otherwise: Vec<&'a Pair>,
    moved: Vec<&'a Pair>,
}

impl<'a> ListedRequests<'a> {
    pub(super) fn of(alignment: &'a Alignment) -> Self {
        let is_otherwise = |pair: &&Pair| {
            let both = pair.left.outcome.as_ref().zip(pair.right.outcome.as_ref());
            both.is_some_and(|(left, right)| left != right)
        };
        Self {
            alignment,
            otherwise: alignment.both.iter().filter(is_otherwise).collect(),
            moved: alignment.both.iter().filter(|pair| pair.is_moved).collect(),
        }
    }

    pub(super) fn form(&self) -> Form {
        let pair = |pair: &&Pair| plain_pair(&pair.left, &pair.right);
        let Alignment {
            both,
            changed,
            left,
            right,
        } = self.alignment;
        Form {
            same: both.len() - self.otherwise.len(),
            answered_otherwise: self.otherwise.iter().map(pair).collect(),
            moved: self.moved.iter().map(pair).collect(),
            changed: changed.iter().map(|one| plain_pair(&one.left, &one.right)).collect(),
            left: left.iter().map(plain).collect(),
            right: right.iter().map(plain).collect(),
        }
    }

    /// The counts of each sort, for a line.
    pub(super) fn counts(&self) -> Vec<(&'static str, [usize; 2])> {
        let alone = [self.alignment.left.len(), self.alignment.right.len()];
        let both = |count: usize| [count, count];
        vec![
            ("answers", both(self.otherwise.len())),
            ("moved", both(self.moved.len())),
            ("changed", both(self.alignment.changed.len())),
            ("asked", alone),
        ]
    }

    /// The lines about all of them.
    pub(super) fn tell(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let mut section = |title: &str, told: Vec<String>| {
            if !told.is_empty() {
                lines.push(title.to_owned());
                lines.extend(told);
            }
        };
        let otherwise = self.otherwise.iter().flat_map(|pair| answers(pair));
        section("answers", otherwise.collect());
        let moved = self.moved.iter().map(|pair| {
            let turns = [&pair.left, &pair.right].map(|side| side.asked.turn);
            format!("  {}: turn {}, turn {}", name(&pair.left), turns[0], turns[1])
        });
        section("moved", moved.collect());
        let changed = self
            .alignment
            .changed
            .iter()
            .flat_map(|one| changed(&one.left, &one.right));
        section("changed", changed.collect());
        let alone = |sign: char| move |one: &Answered| format!("  {sign} {} (turn {})", name(one), one.asked.turn);
        let alone = self
            .alignment
            .left
            .iter()
            .map(alone('-'))
            .chain(self.alignment.right.iter().map(alone('+')));
        section("asked", alone.collect());
        lines
    }
}

/// A request in words.
fn name(one: &Answered) -> String {
    let key = &one.asked.key;
    format!("{} {}", key.what, payload_words(&key.arguments.value()))
        .trim_end()
        .to_owned()
}

/// A request that received two answers.
fn answers(pair: &Pair) -> Vec<String> {
    let sides = [&pair.left, &pair.right].map(|side| said(&side.outcome));
    let [left, right] = sides.each_ref().map(Option::as_ref);
    let mut lines = vec![format!("  {} (turn {})", name(&pair.left), pair.left.asked.turn)];
    lines.extend(values(left, right));
    lines
}

fn said(outcome: &Outcome) -> Option<IOValue> {
    outcome.as_ref().map(|outcome| match outcome {
        Ok(value) | Err(value) => value.clone(),
    })
}

/// A request whose arguments differ.
fn changed(left: &Answered, right: &Answered) -> Vec<String> {
    let turns = [left.asked.turn, right.asked.turn];
    let mut lines = vec![format!(
        "  {}: turn {}, turn {}",
        left.asked.key.what, turns[0], turns[1]
    )];
    lines.extend(values(
        Some(&left.asked.key.arguments.value()),
        Some(&right.asked.key.arguments.value()),
    ));
    lines
}

/// Two values: word by word if only texts in them differ, else one below the other.
fn values(left: Option<&IOValue>, right: Option<&IOValue>) -> Vec<String> {
    let mut texts = Vec::new();
    if let (Some(left), Some(right)) = (left, right)
        && gather(left, right, &mut texts)
        && texts.len() <= TEXTS_MAX
        && texts
            .iter()
            .any(|(left, right)| left.len().max(right.len()) >= LONG_TEXT)
    {
        return texts
            .iter()
            .map(|(left, right)| format!("    {}", words_apart(left, right)))
            .collect();
    }
    let [left, right] = value_text::apart([left, right]);
    vec![format!("    - {left}"), format!("    + {right}")]
}

/// Gathers the texts in which two values differ; whether they differ in nothing else. The depth of
/// values in records is bounded.
fn gather(left: &IOValue, right: &IOValue, texts: &mut Vec<(String, String)>) -> bool {
    if left == right {
        return true;
    }
    if let (Some(left), Some(right)) = (left.as_string(), right.as_string()) {
        texts.push((left.into_owned(), right.into_owned()));
        return true;
    }
    // Only what has parts has a length.
    let has_parts = |value: &IOValue| matches!(value.value_class(), ValueClass::Compound(_));
    let are_compound = has_parts(left) && has_parts(right);
    let is_alike = are_compound && left.value_class() == right.value_class() && left.len() == right.len();
    if left.is_dictionary() && is_alike {
        return left
            .entries()
            .zip(right.entries())
            .all(|((key, one), (other_key, other))| key == other_key && gather(&one.into(), &other.into(), texts));
    }
    let is_list = left.is_sequence() || (left.is_record() && is_alike && left.label() == right.label());
    is_list
        && is_alike
        && left
            .iter()
            .zip(right.iter())
            .all(|(one, other)| gather(&one.into(), &other.into(), texts))
}

fn plain_pair(left: &Answered, right: &Answered) -> PairForm {
    PairForm {
        left: plain(left),
        right: plain(right),
    }
}

fn plain(one: &Answered) -> AskedForm {
    let key = &one.asked.key;
    let outcome = one.outcome.as_ref().map(Result::as_ref);
    AskedForm {
        actor: key.actor.clone(),
        what: key.what.clone(),
        nth: key.nth,
        arguments: value_json::of(&key.arguments.value()),
        turn: one.asked.turn.number(),
        ok: outcome.and_then(Result::ok).map(value_json::of),
        error: outcome.and_then(Result::err).map(value_json::of),
    }
}
