//! The cause of a turn: the turns before it that led to it, back to an input or to the beginning.
//!
//! INVARIANT: each link's turn was caused by the next link's turn, or answers that turn's request;
//! the cause of the last is an input or the start of the run.
//! It does not judge which of several events mattered; a turn has one cause.
//! Read next: `input.rs`.

use duet_journal::Sequence;

use crate::action::Action;
use crate::driver::EffectKind;
use crate::record::TurnRecord;
use crate::run::error::RunError;
use crate::run::input::tool_failure;
use crate::run::source::{Source, decode_turn};
use crate::state::event::{Cause, Event};

/// One turn of a chain of causes.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Its position.
    pub sequence: Sequence,
    /// The turn.
    pub turn: TurnRecord,
    /// The turn that made the request which this one's input answers, if there was one.
    pub asked: Option<Sequence>,
}

/// The maximum number of records in one read of the backward search.
const PORTION: u64 = 64;

/// Lists the turns that led to one, beginning with that turn. A tool's result leads back to the
/// turn that called the tool; a person's answer, or an input without a request, ends the chain.
///
/// # Errors
/// [`RunError`] if a record cannot be read.
pub fn chain(source: &Source<'_>, from: Sequence) -> Result<Vec<Link>, RunError> {
    let mut chain = Vec::new();
    let mut next = Some(from).filter(|from| *from > Sequence::FIRST);
    while let Some(sequence) = next {
        let turn = decode_turn(&source.record(sequence)?)?;
        let asked = match turn.cause {
            Cause::Input {} => asked(source, &turn, sequence)?,
            Cause::Start {} | Cause::Turn { .. } => None,
        };
        next = match turn.cause {
            Cause::Turn { sequence: cause } if cause < sequence && cause > Sequence::FIRST => Some(cause),
            Cause::Input {} => asked.filter(|(_, is_tool)| *is_tool).map(|(at, _)| at),
            Cause::Turn { .. } | Cause::Start {} => None,
        };
        let asked = asked.map(|(at, _)| at);
        chain.push(Link { sequence, turn, asked });
    }
    Ok(chain)
}

/// A call whose failure led to a turn.
#[derive(Clone, Debug, PartialEq)]
pub struct FailedCall {
    /// The turn that made it.
    pub turn: Sequence,
    /// The tool.
    pub tool: String,
    /// The kind of its failure.
    pub kind: String,
}

/// The maximum number of turns between the answer to a call and a turn to which it led.
const LINKS_MAX: usize = 1_000;

/// Finds the failed call that led to a turn, if the input that led to it is the answer to one.
///
/// # Errors
/// [`RunError`] if a record cannot be read.
pub fn failed_call(source: &Source<'_>, from: Sequence) -> Result<Option<FailedCall>, RunError> {
    let mut next = from;
    for _ in 0..LINKS_MAX {
        if next <= Sequence::FIRST {
            return Ok(None);
        }
        let turn = decode_turn(&source.record(next)?)?;
        match turn.cause {
            Cause::Turn { sequence } if sequence < next => next = sequence,
            Cause::Input {} => return failed_answer(source, &turn, next),
            Cause::Turn { .. } | Cause::Start {} => return Ok(None),
        }
    }
    Ok(None)
}

#[expect(clippy::wildcard_enum_match_arm, reason = "one kind of event answers")]
fn failed_answer(source: &Source<'_>, turn: &TurnRecord, at: Sequence) -> Result<Option<FailedCall>, RunError> {
    let failed = turn.events.iter().find_map(|event| match event {
        Event::Answered {
            request,
            outcome: Err(fault),
        } => Some((*request, tool_failure(fault)?.kind)),
        _ => None,
    });
    let (Some((request, kind)), Some((asked, true))) = (failed, asked(source, turn, at)?) else {
        return Ok(None);
    };
    let actions = decode_turn(&source.record(asked)?)?.actions;
    let mut calls = actions.iter().filter_map(Action::call);
    let call = calls.find(|call| call.request == request);
    Ok(call.map(|call| FailedCall {
        turn: asked,
        tool: call.tool.clone(),
        kind,
    }))
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "one kind of event answers, one kind of action calls a tool"
)]
/// Finds the turn that made the request which a turn's events answer, and whether it called a tool.
fn asked(source: &Source<'_>, turn: &TurnRecord, before: Sequence) -> Result<Option<(Sequence, bool)>, RunError> {
    let answered = turn.events.iter().find_map(|event| match event {
        Event::Answered { request, .. } => Some(*request),
        _ => None,
    });
    let Some(request) = answered else { return Ok(None) };
    let mut end = before.number();
    while end > 1 {
        let start = end.saturating_sub(PORTION).max(1);
        let from = Sequence::new(start).map_err(|_| RunError::Full)?;
        for record in source.read(from, end)?.rev() {
            let record = record?;
            let made = |action: &Action| match action {
                Action::InvokeTool(call) => (call.request == request).then_some(true),
                _ => action.effects().find_map(|(made, kind)| {
                    let is_tool = matches!(kind, EffectKind::Tool { .. });
                    (made == request && kind != EffectKind::Withdraw).then_some(is_tool)
                }),
            };
            if let Some(is_tool) = decode_turn(&record)?.actions.iter().find_map(made) {
                return Ok(Some((record.header().sequence, is_tool)));
            }
        }
        end = start;
    }
    Ok(None)
}
