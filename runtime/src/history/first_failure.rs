//! The failure that came first: from the turn that failed last back to where its failure arose.
//!
//! A failure travels: a supervisor raises it again, a strand passes it to the one that waits for
//! it, a reply carries it to another actor. All of them keep its kind and its message, by which it
//! is known again.
//! INVARIANT: every turn between the origin and the end received the failure or had it; a failure
//! that the program had handled before is never the origin of a later one that only looks the same.
//! It advises nothing. Read next: `chain.rs`.

use duet_journal::Sequence;
use preserves::{CompoundClass, IOValue, ValueClass, ValueImpl};

use super::chain::{CausalTurn, causal_turns};
use crate::action::{Action, InvokeTool};
use crate::model::codec::Codec;
use crate::model::failure::Failure;
use crate::model::identity::RequestId;
use crate::record::{Outcome, TurnRecord};
use crate::run::error::RunError;
use crate::run::input::tool_failure;
use crate::run::source::{Source, decode_turn};
use crate::state::event::Event;

/// Where a failure arose.
#[derive(Clone, Debug, PartialEq)]
pub enum FailureOrigin {
    /// In the program, in the traced turn.
    Program,
    /// In a call of a tool, whose answer the traced turn received.
    Call {
        /// The turn that made the call.
        asked: Sequence,
        /// The call.
        call: Box<InvokeTool>,
    },
    /// At the gate, which refused the attempt at this position of the traced turn.
    Gate(usize),
    /// In a wait that a timer ended: the answer that was waited for did not come.
    Time {
        /// The turn that set the timer.
        set: Sequence,
        /// Its length in milliseconds.
        delay_ms: u64,
        /// What that turn asked for.
        asked: Vec<Action>,
    },
}

/// A failure, traced to its origin.
#[derive(Clone, Debug, PartialEq)]
pub struct FirstFailure {
    /// The turn in which it arose, or became known.
    pub at: CausalTurn,
    /// How it arose.
    pub arose: FailureOrigin,
    /// The failure as it arose.
    pub failure: Failure,
    /// The turns that passed it on, oldest first; the last is the one from which it was traced.
    pub passed: Vec<CausalTurn>,
    /// The turns that led to it, newest first.
    pub led: Vec<CausalTurn>,
    /// Whether older turns are left out.
    pub is_cut: bool,
    /// How often the same failure had come before on the way there, and first in which turn.
    pub before: Option<(u64, Sequence)>,
}

/// The maximum number of turns through which a failure is traced.
const PASSED_MAX: usize = 1_000;

/// The maximum number of turns that led to it and are kept.
const LED_MAX: usize = 64;

/// The maximum number of turns in which the same failure is looked for again.
const BEFORE_MAX: usize = 500;

/// Traces the failure of a turn; `None` if the turn did not fail.
///
/// # Errors
/// [`RunError`] if a record cannot be read.
pub fn first_failure(source: &Source<'_>, at: Sequence) -> Result<Option<FirstFailure>, RunError> {
    let mut chain = causal_turns(source, at);
    let Some(end) = chain.next().transpose()? else {
        return Ok(None);
    };
    let Outcome::Failed { failure } = end.turn.outcome.clone() else {
        return Ok(None);
    };
    let mut walk = Walk {
        failure,
        met: vec![end],
        origin: 0,
        arose: FailureOrigin::Program,
        is_owed: false,
    };
    while walk.goes_on(source)? && walk.met.len() < PASSED_MAX {
        match chain.next().transpose()? {
            Some(link) => walk.met.push(link),
            None => break,
        }
    }
    let mut traced = walk.traced();
    for (count, link) in chain.enumerate() {
        if count >= BEFORE_MAX {
            traced.is_cut = true;
            break;
        }
        let link = link?;
        if traced.is_again(&link) {
            let (times, _) = traced.before.unwrap_or((0, link.sequence));
            traced.before = Some((times + 1, link.sequence));
        }
        if traced.led.len() < LED_MAX {
            traced.led.push(link);
        } else {
            traced.is_cut = true;
        }
    }
    Ok(Some(traced))
}

/// What a turn has to do with a failure.
enum Mark {
    /// The failure arose here.
    Origin(FailureOrigin),
    /// The turn received the failure from the one before.
    Passed,
    /// A computation only went on.
    Silent,
    /// Nothing.
    Other,
}

/// The way back along the causes.
struct Walk {
    failure: Failure,
    /// The turns so far, newest first.
    met: Vec<CausalTurn>,
    /// The position of the oldest that had the failure.
    origin: usize,
    arose: FailureOrigin,
    /// Whether the newest one that was met must have had the failure, for the next passed it on.
    is_owed: bool,
}

impl Walk {
    /// Looks at the oldest turn that was met; whether one before it may have had the failure.
    fn goes_on(&mut self, source: &Source<'_>) -> Result<bool, RunError> {
        let position = self.met.len() - 1;
        let was_owed = std::mem::take(&mut self.is_owed);
        let mark = mark(source, &self.met[position], &self.failure)?;
        let has_it = was_owed || position == 0;
        Ok(match mark {
            Mark::Origin(arose) => {
                (self.origin, self.arose) = (position, arose);
                false
            }
            Mark::Passed => {
                (self.origin, self.is_owed) = (position, true);
                true
            }
            Mark::Silent => {
                if has_it {
                    self.origin = position;
                }
                true
            }
            Mark::Other => {
                if has_it {
                    self.origin = position;
                }
                false
            }
        })
    }

    fn traced(mut self) -> FirstFailure {
        // Turns in which nothing but a continuation was met after the origin led to it.
        let led = self.met.split_off(self.origin + 1);
        let mut passed = self.met;
        passed.reverse();
        let at = passed.remove(0);
        FirstFailure {
            failure: own_failure(&at.turn, &self.failure),
            at,
            arose: self.arose,
            passed,
            led,
            is_cut: false,
            before: None,
        }
    }
}

impl FirstFailure {
    /// Whether a turn had the same failure in the same way.
    fn is_again(&self, link: &CausalTurn) -> bool {
        let is_failed = matches!(&link.turn.outcome, Outcome::Failed { failure } if is_same(failure, &self.failure));
        is_failed || link.turn.events.iter().any(|event| is_fault(event, &self.failure))
    }
}

/// The failure of a turn, if that is the one which is traced: an agent adds to the message on its
/// way.
fn own_failure(turn: &TurnRecord, traced: &Failure) -> Failure {
    match &turn.outcome {
        Outcome::Failed { failure } if is_same(failure, traced) => failure.clone(),
        Outcome::Failed { .. } | Outcome::Committed {} => traced.clone(),
    }
}

/// The kinds of what the gate refuses.
const REFUSED: [&str; 2] = ["capability-denied", "denied"];

/// The kind of a wait that took too long.
const TIMEOUT: &str = "timeout";

fn mark(source: &Source<'_>, link: &CausalTurn, failure: &Failure) -> Result<Mark, RunError> {
    let turn = &link.turn;
    if let (true, Some(last)) = (REFUSED.contains(&&*failure.kind), turn.attempts.len().checked_sub(1)) {
        return Ok(Mark::Origin(FailureOrigin::Gate(last)));
    }
    for event in &turn.events {
        if let (true, Event::Answered { request, .. }, Some(asked)) = (is_fault(event, failure), event, link.asked)
            && let Some(call) = call(&turn_at(source, asked)?, *request)
        {
            return Ok(Mark::Origin(FailureOrigin::Call { asked, call }));
        }
        if let (TIMEOUT, Event::Answered { request, .. }, Some(asked)) = (&*failure.kind, event, link.asked)
            && let Some(arose) = time(&turn_at(source, asked)?, *request, asked)
        {
            return Ok(Mark::Origin(arose));
        }
    }
    if turn.events.iter().any(|event| is_passed_on(event, failure)) {
        return Ok(Mark::Passed);
    }
    Ok(if turn.events.iter().all(is_silent) {
        Mark::Silent
    } else {
        Mark::Other
    })
}

fn turn_at(source: &Source<'_>, at: Sequence) -> Result<TurnRecord, RunError> {
    decode_turn(&source.record(at)?)
}

fn call(turn: &TurnRecord, request: RequestId) -> Option<Box<InvokeTool>> {
    let mut calls = turn.calls();
    calls.find(|call| call.request == request).cloned().map(Box::new)
}

#[expect(clippy::wildcard_enum_match_arm, reason = "one action sets a timer")]
fn time(turn: &TurnRecord, request: RequestId, set: Sequence) -> Option<FailureOrigin> {
    let is_it = |action: &Action| match action {
        Action::Timer(timer) => (timer.request == request).then_some(timer.delay_ms),
        _ => None,
    };
    let delay_ms = turn.actions.iter().find_map(is_it)?;
    let is_asking = |action: &&Action| {
        matches!(
            action,
            Action::AskUser(_) | Action::InvokeTool(_) | Action::Propose(_) | Action::Wait(_) | Action::Assert(_)
        )
    };
    let asked = turn.actions.iter().filter(is_asking).cloned().collect();
    Some(FailureOrigin::Time { set, delay_ms, asked })
}

/// Whether two failures are one on its way.
fn is_same(one: &Failure, other: &Failure) -> bool {
    one.kind == other.kind && is_same_message(&one.message, &other.message)
}

/// Whether one message is the other, or has it in it.
fn is_same_message(one: &str, other: &str) -> bool {
    let (short, long) = if one.len() < other.len() {
        (one, other)
    } else {
        (other, one)
    };
    short == long || !short.is_empty() && long.contains(short)
}

/// Whether an event is the answer that this failure is.
fn is_fault(event: &Event, failure: &Failure) -> bool {
    let Event::Answered {
        outcome: Err(fault), ..
    } = event
    else {
        return false;
    };
    tool_failure(fault)
        .is_some_and(|answer| answer.kind == failure.kind && is_same_message(&answer.message, &failure.message))
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "other events bring no failure of the program"
)]
/// Whether an event brings the failure from the turn that caused it.
fn is_passed_on(event: &Event, failure: &Failure) -> bool {
    match event {
        Event::Ended {
            failed: Some(failed), ..
        } => is_same(&failed.failure, failure),
        Event::Failed { failure: failed, .. } => is_same(failed, failure),
        Event::Added { captures, .. } | Event::Message { captures, .. } => tells_of(&captures.encode(), failure),
        Event::Direct { payload, .. } => tells_of(&payload.value(), failure),
        _ => false,
    }
}

/// Whether a value has the failure's kind and its message in it.
fn tells_of(value: &IOValue, failure: &Failure) -> bool {
    let (mut has_kind, mut has_message) = (false, false);
    // The depth of a recorded value is bounded, the work by its length.
    let mut left: Vec<IOValue> = vec![value.clone()];
    while let Some(value) = left.pop() {
        has_kind |= value.as_symbol().is_some_and(|kind| *kind == *failure.kind);
        has_message |= value.as_string().is_some_and(|text| *text == *failure.message);
        if has_kind && has_message {
            return true;
        }
        match value.value_class() {
            ValueClass::Compound(CompoundClass::Dictionary) => {
                left.extend(value.entries().map(|(_, value)| IOValue::from(value)));
            }
            ValueClass::Compound(_) => left.extend(value.iter().map(IOValue::from)),
            ValueClass::Atomic(_) | ValueClass::Embedded => {}
        }
    }
    false
}

/// Whether an event only lets a computation go on.
fn is_silent(event: &Event) -> bool {
    matches!(event, Event::Resume { .. } | Event::Settled { .. } | Event::Due { .. })
}
