//! The checks of a test: what each assertion found, and what is wrong with the file as a whole.
//!
//! INVARIANT: each failed check says what was wrong, and where if that is known.
//! It runs nothing. Read next: `../owned_run/tested.rs`.

use std::time::Duration;

use duet_runtime::action::exit::MAIN;
use duet_runtime::model::failure::{ActorFailure, Failure};
use duet_runtime::run::DriveOutcome;
use preserves::{IOValue, ValueImpl};
use schemars::JsonSchema;
use serde::Serialize;

use super::difference::difference;
use crate::owned_run::tested::{Finding, Tested};
use crate::render::{in_scheme, message_of};

/// The result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Status {
    Passed,
    Failed,
    /// The file says that it is skipped.
    Skipped,
    /// It failed, as the file expects.
    FailedAsExpected,
}

/// A check.
#[derive(Debug)]
pub(crate) struct Check {
    /// The groups and the name of an assertion; empty for the file as a whole.
    pub(crate) name: String,
    pub(crate) status: Status,
    /// The fault, in a clause.
    pub(crate) what: String,
    /// Where it was wrong.
    pub(crate) failure: Option<Failure>,
    /// The expected value and the value that came, as a program writes them.
    pub(crate) expected: Option<String>,
    pub(crate) actual: Option<String>,
    /// Where they differ.
    pub(crate) difference: Option<String>,
    /// A text that is laid out already.
    pub(crate) text: String,
}

/// The maximum number of unused answers that are shown.
const LEFT_MAX: usize = 20;

/// The maximum depth of a value that is shown, in levels.
const SHOWN_DEPTH: usize = 16;

/// The maximum length of a value that is shown, in characters.
const SHOWN_CHARACTERS: usize = 2_000;

impl Check {
    fn new(name: &str, status: Status, what: impl Into<String>) -> Self {
        Self {
            name: name.to_owned(),
            status,
            what: what.into(),
            failure: None,
            expected: None,
            actual: None,
            difference: None,
            text: String::new(),
        }
    }

    /// The check of a file that could not be run, for a reason that is laid out.
    pub(super) fn problem(text: &str) -> Self {
        Self {
            text: text.trim_end().to_owned(),
            ..Self::of_file("the file cannot be run", None)
        }
    }

    fn of_file(what: impl Into<String>, failure: Option<Failure>) -> Self {
        Self {
            failure,
            ..Self::new("", Status::Failed, what)
        }
    }

    /// The check that all recorded answers were used; nothing if they were.
    pub(super) fn left(left: &[String]) -> Option<Self> {
        let count = left.len();
        let what = match count {
            0 => return None,
            1 => "a recorded answer was not used".to_owned(),
            _ => format!("{count} recorded answers were not used"),
        };
        let shown = left.iter().take(LEFT_MAX).map(|line| format!("  {line}\n"));
        let more = count
            .checked_sub(LEFT_MAX + 1)
            .map(|more| format!("  and {} more\n", more + 1));
        Some(Self {
            text: shown.chain(more).collect::<String>().trim_end().to_owned(),
            ..Self::of_file(what, None)
        })
    }

    /// The check of an assertion with an unexpected result.
    fn unexpected(name: &str, failure: &Failure) -> Self {
        let property = |key: &str| property(failure, key);
        let (expected, actual) = (property("expected-value"), property("actual-value"));
        let raised = property("actual-error").map(|error| raised(&error));
        // `#t` stands for any error.
        let wanted = property("expected-error").map(|kind| match kind.as_boolean() {
            Some(true) => "an error".to_owned(),
            Some(false) | None => format!("the error {}", shown(&kind)),
        });
        let is_unexpected = property("result-kind").is_some_and(|kind| kind.as_symbol().as_deref() == Some("xpass"));
        let what = match (&raised, &wanted) {
            _ if is_unexpected => "it passes, although the file expects it to fail".to_owned(),
            (Some(raised), Some(wanted)) => format!("expected {wanted}, but it raised {raised}"),
            (Some(raised), None) => format!("it raised {raised}"),
            (None, Some(wanted)) => format!("expected {wanted}, but it raised nothing"),
            (None, None) if expected.is_some() => "the value is another one".to_owned(),
            (None, None) if actual.is_some() => "the value is false".to_owned(),
            (None, None) => failure.message.clone(),
        };
        let both = expected.as_ref().zip(actual.as_ref()).filter(|_| !is_unexpected);
        Self {
            difference: both.and_then(|(expected, actual)| difference(expected, actual)),
            expected: expected.as_ref().map(shown),
            actual: actual.as_ref().map(shown),
            failure: Some(failure.clone()),
            ..Self::new(name, Status::Failed, what)
        }
    }

    /// Whether it failed.
    pub(crate) fn is_failed(&self) -> bool {
        self.status == Status::Failed
    }
}

/// The value of a property among the irritants, which are names and values in turn.
fn property(failure: &Failure, key: &str) -> Option<IOValue> {
    let mut pairs = failure.irritants.chunks_exact(2);
    pairs
        .find(|pair| pair[0].as_symbol().as_deref() == Some(key))
        .map(|pair| pair[1].clone())
}

/// Writes a value as a program does, and not longer than can be read.
pub(super) fn shown(value: &IOValue) -> String {
    let text = in_scheme(value, SHOWN_DEPTH);
    match text.char_indices().nth(SHOWN_CHARACTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// Writes an object that was raised: the kind, the message and the irritants of a condition, or
/// another object.
fn raised(error: &IOValue) -> String {
    // Atoms have no elements, and refuse to list them.
    let parts = |value: &IOValue| value.as_sequence().map(|parts| parts.map(IOValue::from).collect());
    let parts_of_error: Vec<IOValue> = parts(error).unwrap_or_default();
    let [kind, message, irritants] = &parts_of_error[..] else {
        return shown(error);
    };
    let (Some(kind), Some(message)) = (kind.as_symbol(), message.as_string()) else {
        return shown(error);
    };
    let irritants: Vec<IOValue> = parts(irritants).unwrap_or_default();
    let irritants: Vec<String> = irritants[..].iter().map(shown).collect();
    format!("{kind}: {message} {}", irritants.join(" "))
        .trim_end()
        .to_owned()
}

/// The checks of a test that has stopped.
pub(super) fn checks(tested: &Tested, time_limit: Duration) -> Vec<Check> {
    let mut checks = Vec::new();
    let (mut asserted, mut is_ended, mut is_explained) = (0_usize, false, false);
    for finding in &tested.findings {
        match finding {
            Finding::End => is_ended = true,
            Finding::Expected { name, result } => {
                asserted += 1;
                checks.push(Check::new(name, status(result), ""));
            }
            Finding::Unexpected { name, failure } => {
                asserted += 1;
                checks.push(Check::unexpected(name, failure));
            }
            Finding::Failed { failed } => {
                is_explained = true;
                checks.push(failed_outside(failed, tested.is_late.then_some(time_limit)));
            }
        }
    }
    checks.extend(match tested.rest {
        _ if is_explained => Vec::new(),
        DriveOutcome::Ended { code } if asserted == 0 && code == 0 => {
            vec![Check::of_file("no assertions: nothing was tested", None)]
        }
        DriveOutcome::Ended { code } if asserted == 0 => {
            vec![Check::of_file(
                format!("it ended with the exit code {code} before any assertion"),
                None,
            )]
        }
        DriveOutcome::Ended { code } if !is_ended => vec![Check::of_file(
            format!("it called `(exit)` with the code {code}, so what comes after it is not tested"),
            None,
        )],
        DriveOutcome::Ended { .. } => Vec::new(),
        DriveOutcome::Interrupted => waiting(tested, &time_is_over(time_limit)),
        DriveOutcome::Asking { .. } => waiting(tested, "it asks a person, and nobody answers in a test"),
        DriveOutcome::Waiting { .. } => waiting(tested, "it waits for a fact or message from outside a test"),
        DriveOutcome::Stuck { .. } => waiting(tested, "it waits for what can no longer happen"),
    });
    checks
}

fn status(result: &str) -> Status {
    match result {
        "pass" => Status::Passed,
        "skip" => Status::Skipped,
        "xfail" => Status::FailedAsExpected,
        _ => Status::Failed,
    }
}

fn time_is_over(limit: Duration) -> String {
    format!(
        "its time is over: {} s; `--timeout SECONDS` gives more",
        limit.as_secs_f64()
    )
}

/// A failure that no assertion expected, such as that of a turn without an end.
fn failed_outside(failed: &ActorFailure, late: Option<Duration>) -> Check {
    let what = match late.filter(|_| failed.failure.is_interruption()) {
        Some(limit) => time_is_over(limit),
        None => {
            let who = if failed.actor == MAIN {
                String::new()
            } else {
                format!("{} failed: ", failed.name())
            };
            let failure = &failed.failure;
            format!("{who}{}: {}, outside an assertion", failure.kind, message_of(failure))
        }
    };
    Check::of_file(what, Some(failed.failure.clone()))
}

/// A test that stopped before its end, with the places where it waits.
fn waiting(tested: &Tested, what: &str) -> Vec<Check> {
    if tested.waits.is_empty() {
        return vec![Check::of_file(what, None)];
    }
    let waits = tested.waits.iter().take(WAITS_MAX);
    waits
        .map(|failure| Check::of_file(what, Some(failure.clone())))
        .collect()
}

/// The maximum number of waits that are shown.
const WAITS_MAX: usize = 4;
