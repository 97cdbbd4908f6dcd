//! The checks of a test: what each assertion found, and what is wrong with the file as a whole.
//!
//! INVARIANT: each failed check says what was wrong, and where if that is known.
//! It runs nothing. Read next: `owner/owned_run/tested.rs`.

use std::path::Path;
use std::time::Duration;

use duet_runtime::action::exit::MAIN;
use duet_runtime::model::failure::{ActorFailure, Failure, FramePlace};
use duet_runtime::run::DriveOutcome;
use preserves::{IOValue, ValueImpl};
use schemars::JsonSchema;
use serde::Serialize;

use super::difference::difference;
use crate::owner::owned_run::tested::{Finding, Tested};
use crate::text::render::message_of;

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
    /// Whether it is about the file as a whole, and not about one assertion.
    pub(crate) is_of_file: bool,
    pub(crate) status: Status,
    /// The fault, in a clause.
    pub(crate) what: String,
    /// Where it was wrong.
    pub(crate) failure: Option<Failure>,
    /// Whether the calls that led there explain it: an assertion that compares stands where it is.
    pub(crate) has_calls: bool,
    /// The expected value and the value that came, as a program writes them.
    pub(crate) expected: Option<String>,
    pub(crate) actual: Option<String>,
    /// Where they differ.
    pub(crate) difference: Option<String>,
    /// A text that is laid out already.
    pub(crate) text: String,
}

/// The maximum number of calls without an answer, and of answers without a call, that are shown.
const LISTED_MAX: usize = 20;

impl Check {
    fn new(name: &str, status: Status, what: impl Into<String>) -> Self {
        Self {
            name: name.to_owned(),
            is_of_file: false,
            status,
            what: what.into(),
            failure: None,
            has_calls: false,
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

    /// The same for a file whose time to be compiled was over, if there is a limit.
    pub(super) fn problem_within(limit: Option<Duration>, text: &str) -> Self {
        let problem = Self::problem(text);
        match limit {
            Some(limit) => Self {
                what: time_is_over(limit),
                ..problem
            },
            None => problem,
        }
    }

    fn of_file(what: impl Into<String>, failure: Option<Failure>) -> Self {
        Self {
            is_of_file: true,
            has_calls: true,
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
        Some(Self {
            text: listed(left),
            ..Self::of_file(what, None)
        })
    }

    /// The check that every call had a recorded answer, whatever the program makes of a failure;
    /// nothing if each had.
    pub(super) fn unanswered(unanswered: &[String], test: &Path) -> Option<Self> {
        let what = match unanswered.len() {
            0 => return None,
            1 => "a call has no recorded answer".to_owned(),
            count => format!("{count} calls have no recorded answer"),
        };
        let lines = listed(unanswered);
        Some(Self {
            text: format!(
                "{lines}\n`duet test --record {}` records the answers anew; \
                 `--allow-host`, `--provider` and `--grant` say what it may reach then",
                test.display()
            ),
            ..Self::of_file(what, None)
        })
    }

    /// The check of an assertion with an unexpected result.
    fn unexpected(name: &str, failure: &Failure) -> Self {
        let property = |key: &str| property(failure, key);
        let text = |key: &str| Some(property(key)?.as_string()?.into_owned());
        let (expected, actual, raised) = (text("expected-value"), text("actual-value"), text("actual-error"));
        // `#t` stands for any error.
        let wanted = property("expected-error").map(|kind| match kind.as_string() {
            Some(kind) => format!("the error {kind}"),
            None => "an error".to_owned(),
        });
        let kind = property("result-kind");
        let is_unexpected = kind
            .as_ref()
            .is_some_and(|kind| kind.as_symbol().as_deref() == Some("xpass"));
        let what = match (&raised, &wanted) {
            _ if is_unexpected => "it passes, although the file expects it to fail".to_owned(),
            (Some(raised), Some(wanted)) => format!("expected {wanted}, but it raised {raised}"),
            (Some(raised), None) => format!("it raised {raised}"),
            (None, Some(wanted)) => format!("expected {wanted}, but it raised nothing"),
            (None, None) if expected.is_some() => "the value is another one".to_owned(),
            (None, None) if actual.is_some() => "the value is false".to_owned(),
            (None, None) => failure.message.clone(),
        };
        let apart = property("apart").filter(|_| !is_unexpected);
        Self {
            // What no assertion found, such as a call that no script answers.
            is_of_file: kind.is_none(),
            has_calls: raised.is_some(),
            difference: apart.and_then(|apart| difference(&apart)),
            expected,
            actual,
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

/// Lists the first of some lines.
fn listed(lines: &[String]) -> String {
    let shown = lines.iter().take(LISTED_MAX).map(|line| format!("  {line}\n"));
    let more = lines
        .len()
        .checked_sub(LISTED_MAX + 1)
        .map(|more| format!("  and {} more\n", more + 1));
    shown.chain(more).collect::<String>().trim_end().to_owned()
}

/// The checks of a test that has stopped.
pub(super) fn checks(tested: &Tested, time_limit: Duration) -> Vec<Check> {
    let mut checks = Vec::new();
    let (mut asserted, mut end, mut is_explained) = (0_usize, End::Early, false);
    for finding in &tested.findings {
        match finding {
            Finding::Closed => end = End::Closed,
            Finding::End => end = End::Whole,
            Finding::Expected { name, result } => {
                (asserted, end) = (asserted + 1, End::Early);
                checks.push(Check::new(name, status(result), ""));
            }
            Finding::Unexpected { name, failure } => {
                (asserted, end) = (asserted + 1, End::Early);
                checks.push(Check::unexpected(name, failure));
            }
            Finding::Failed { failed } => {
                is_explained = true;
                checks.push(failed_outside(failed, tested.is_late.then_some(time_limit)));
            }
        }
    }
    let is_failed = checks.iter().any(Check::is_failed);
    checks.extend(match tested.rest {
        _ if is_explained => Vec::new(),
        DriveOutcome::Ended { code } if asserted == 0 => vec![nothing_tested(tested, code)],
        DriveOutcome::Ended { .. } if end == End::Whole || is_failed && ends_by_exit(tested, end) => Vec::new(),
        DriveOutcome::Ended { code: 0 } if ends_by_exit(tested, end) => Vec::new(),
        DriveOutcome::Ended { code } => {
            let what = if ends_by_exit(tested, end) {
                format!("it called `(exit)` with the code {code}, although no assertion failed")
            } else {
                format!("it called `(exit)` with the code {code}, so what comes after it is not tested")
            };
            vec![Check::of_file(what, tested.exit.clone())]
        }
        DriveOutcome::Interrupted => waiting(tested, &time_is_over(time_limit)),
        DriveOutcome::Asking { .. } => waiting(tested, "it asks a person, and nobody answers in a test"),
        DriveOutcome::Waiting { .. } => waiting(tested, "it waits for a fact or message from outside a test"),
        DriveOutcome::Stuck { .. } => waiting(tested, "it waits for what can no longer happen"),
    });
    checks
}

/// How far the assertions of a file have come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// A group is open, or no group has ended after the last assertion.
    Early,
    /// All groups have ended.
    Closed,
    /// The program was evaluated to its end.
    Whole,
}

/// Whether a file has called `exit` as its last form, after the end of all groups: the usual end of
/// a file of (srfi 64), after which nothing could be tested.
fn ends_by_exit(tested: &Tested, end: End) -> bool {
    let calls = tested.exit.iter().flat_map(|exit| exit.backtrace.iter());
    let mut top_level = calls.rev().filter_map(|frame| match &frame.at {
        FramePlace::Text { source, start } => Some((source, *start)),
        FramePlace::Unknown | FramePlace::Gone => None,
    });
    end == End::Closed
        && top_level
            .next()
            .is_some_and(|(source, start)| tested.texts.is_in_last_form(source, start))
}

/// The check of a file that ended before any assertion did.
fn nothing_tested(tested: &Tested, code: u64) -> Check {
    let what = match (&tested.exit, code) {
        (Some(_), code) => {
            format!("it called `(exit)` with the code {code} before the end of any assertion: nothing was tested")
        }
        (None, 0) => "no assertions: nothing was tested".to_owned(),
        (None, code) => format!("it ended with the exit code {code} before any assertion"),
    };
    Check::of_file(what, tested.exit.clone())
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

/// A test that stopped before its end, with the places where it waits, or else what it waits for:
/// the timer of a handler has no fiber that waits at a place.
fn waiting(tested: &Tested, what: &str) -> Vec<Check> {
    if tested.waits.is_empty() {
        return vec![Check {
            text: listed(&tested.pending),
            ..Check::of_file(what, None)
        }];
    }
    let waits = tested.waits.iter().take(WAITS_MAX);
    waits
        .map(|failure| Check::of_file(what, Some(failure.clone())))
        .collect()
}

/// The maximum number of waits that are shown.
const WAITS_MAX: usize = 4;
