//! The actions of earlier turns from which the values in a turn's events came.
//!
//! A record does not say which assertion an observer's match was, so the actions are searched for
//! what was captured: first in the turn that caused the event, then backwards.
//! INVARIANT: an action that is named stands in a turn before the event's.
//! Read next: `chain.rs`.

use duet_journal::Sequence;
use duet_journal::packed::View;

use super::chain::maker;
use crate::action::Action;
use crate::model::identity::RequestId;
use crate::model::value::Fact;
use crate::record::TurnRecord;
use crate::run::error::RunError;
use crate::run::source::{Source, decode_turn};
use crate::scheme::{EventSource, TurnToTrace};
use crate::state::event::{Cause, Event};

/// The maximum number of turns that are searched for the assertion of a fact.
const TURNS_MAX: u64 = 1_000;

/// The maximum number of parts of a value that are compared with a captured one.
const PARTS_MAX: usize = 10_000;

/// Describes a turn to whoever traces it.
///
/// # Errors
/// [`RunError`] if a record cannot be read.
pub fn to_trace(source: &Source<'_>, turn: &TurnRecord, at: Sequence) -> Result<TurnToTrace, RunError> {
    let mut sources = Vec::new();
    for (position, event) in (0..).zip(&turn.events) {
        sources.extend(of_event(source, turn, event, at)?.into_iter().map(|sent| EventSource {
            event: position,
            turn: sent.turn,
            action: sent.action,
            value: sent.value,
        }));
    }
    Ok(TurnToTrace {
        sequence: at,
        actor: turn.actor,
        is_restart: turn.events.contains(&Event::Restart {}),
        sources,
    })
}

/// The action that passed a value on.
struct Sent {
    turn: Sequence,
    action: usize,
    value: Option<String>,
}

#[expect(clippy::wildcard_enum_match_arm, reason = "few events carry values of other turns")]
fn of_event(source: &Source<'_>, turn: &TurnRecord, event: &Event, at: Sequence) -> Result<Vec<Sent>, RunError> {
    match event {
        Event::Answered { request, .. } | Event::Settled { request, .. } => asked(source, *request, at),
        Event::Boot {} | Event::Restart {} => {
            let is_it = |action: &Action| {
                matches!(action, Action::SpawnActor(spawn) if spawn.actor == turn.actor).then(|| Some(String::new()))
            };
            if matches!(event, Event::Restart {}) {
                return before(source, at, &is_it);
            }
            in_cause(source, turn, at, &is_it)
        }
        Event::Direct { payload, .. } => {
            let is_it = |action: &Action| match action {
                Action::Send(send) if send.value == *payload => Some(Some(written(payload))),
                _ => None,
            };
            in_cause(source, turn, at, &is_it)
        }
        Event::Added { captures, .. } | Event::Message { captures, .. } => {
            let is_fact = matches!(event, Event::Added { .. });
            let is_it = |action: &Action| {
                let value = match action {
                    Action::Assert(assert) if is_fact => &assert.value,
                    Action::Message(message) if !is_fact => &message.value,
                    _ => return None,
                };
                captures
                    .iter()
                    .all(|part| has_part(value.view(), part))
                    .then(|| Some(written(value)))
            };
            let found = in_cause(source, turn, at, &is_it)?;
            if found.is_empty() && captures.first().is_some() && is_fact {
                return before(source, at, &is_it);
            }
            Ok(found)
        }
        _ => Ok(Vec::new()),
    }
}

/// Judges an action: nothing if it is not the one, else what it passed on.
type Judge<'a> = dyn Fn(&Action) -> Option<Option<String>> + 'a;

fn asked(source: &Source<'_>, request: RequestId, at: Sequence) -> Result<Vec<Sent>, RunError> {
    let made = maker(source, request, at)?;
    let sent = made.map(|made| Sent {
        turn: made.turn,
        action: made.action,
        value: None,
    });
    Ok(sent.into_iter().collect())
}

/// The actions of the turn that caused the event.
fn in_cause(source: &Source<'_>, turn: &TurnRecord, at: Sequence, is_it: &Judge<'_>) -> Result<Vec<Sent>, RunError> {
    match turn.cause {
        Cause::Turn { sequence } if sequence < at && sequence > Sequence::FIRST => {
            let cause = decode_turn(&source.record(sequence)?)?;
            Ok(among(&cause, sequence, is_it))
        }
        Cause::Turn { .. } | Cause::Input {} | Cause::Start {} => Ok(Vec::new()),
    }
}

/// The newest such action before a turn.
fn before(source: &Source<'_>, at: Sequence, is_it: &Judge<'_>) -> Result<Vec<Sent>, RunError> {
    let first = at.number().saturating_sub(TURNS_MAX).max(1);
    for number in (first..at.number()).rev() {
        let sequence = Sequence::new(number).map_err(|_| RunError::Full)?;
        let mut found = among(&decode_turn(&source.record(sequence)?)?, sequence, is_it);
        if let Some(last) = found.pop() {
            return Ok(vec![last]);
        }
    }
    Ok(Vec::new())
}

fn among(turn: &TurnRecord, sequence: Sequence, is_it: &Judge<'_>) -> Vec<Sent> {
    let actions = turn.actions.iter().enumerate();
    let found = actions.filter_map(|(action, one)| {
        let value = one.done().iter().find_map(is_it)?;
        Some(Sent {
            turn: sequence,
            action,
            value,
        })
    });
    found.collect()
}

fn written(value: &Fact) -> String {
    format!("{value:?}")
}

/// Whether a value is another, or has it as a part.
fn has_part(whole: View<'_>, part: View<'_>) -> bool {
    let mut left = vec![whole];
    for _ in 0..PARTS_MAX {
        let Some(value) = left.pop() else { return false };
        if value.as_bytes() == part.as_bytes() {
            return true;
        }
        left.extend(value.parts());
    }
    false
}
