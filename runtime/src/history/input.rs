//! Recorded inputs, made again as inputs for another branch.
//!
//! INVARIANT: an input made here leads to the event that it was made from, wherever the request
//! that it answers has the same number.
//! It does not find the request that asks the same question on another branch; the caller does, by
//! its key.
//! Read next: `../run/input.rs`.

use std::collections::BTreeMap;

use duet_journal::Sequence;
use preserves::IOValue;

use crate::action::Action;
use crate::driver::{EffectKind, Input};
use crate::model::identity::RequestId;
use crate::record::TurnRecord;
use crate::run::error::RunError;
use crate::run::input::tool_failure;
use crate::run::source::{Source, decode_turn};
use crate::state::event::{Cause, Event};

/// An input that a turn records.
#[derive(Clone, Debug, PartialEq)]
pub enum RecordedInput {
    /// The answer to a request.
    Answer {
        /// The request, by its number on that branch.
        request: RequestId,
        /// The answer, or the condition of a failure.
        outcome: Result<IOValue, IOValue>,
    },
    /// An input that no request asked for.
    Unasked(Input),
}

/// An input from a turn of a branch, with the question that it answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// The turn.
    pub turn: Sequence,
    /// The input.
    pub what: What,
}

/// An input and its question.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// The answer to a question.
    Answer {
        /// The request, by its number on that branch.
        request: RequestId,
        /// The question.
        question: EffectKind,
        /// The answer, or the condition of a failure.
        outcome: Result<IOValue, IOValue>,
    },
    /// An input that no request asked for.
    Unasked(Input),
}

/// The maximum number of records in one read from the store.
const PORTION: u64 = 256;

/// Lists the inputs on a branch in turns `first` to `last`.
///
/// # Errors
/// [`RunError`] if a record cannot be read.
pub fn recorded(source: &Source<'_>, first: Sequence, last: Sequence) -> Result<Vec<Recorded>, RunError> {
    let mut questions: BTreeMap<RequestId, EffectKind> = BTreeMap::new();
    let mut found = Vec::new();
    let mut next = 1;
    while next <= last.number() {
        let end = (last.number() + 1).min(next + PORTION);
        for record in source.read(Sequence::new(next).map_err(|_| RunError::Full)?, end)? {
            let record = record?;
            let (turn, at) = (decode_turn(&record)?, record.header().sequence);
            let said = if at >= first { said(&turn) } else { Vec::new() };
            found.extend(said.into_iter().filter_map(|said| {
                let what = match said {
                    RecordedInput::Unasked(input) => What::Unasked(input),
                    RecordedInput::Answer { request, outcome } => What::Answer {
                        question: questions.get(&request)?.clone(),
                        request,
                        outcome,
                    },
                };
                Some(Recorded { turn: at, what })
            }));
            questions.extend(turn.actions.iter().flat_map(Action::effects));
        }
        next = end;
    }
    Ok(found)
}

/// Lists the inputs of a turn; a turn with another cause has none.
pub fn said(turn: &TurnRecord) -> Vec<RecordedInput> {
    if turn.cause != (Cause::Input {}) {
        return Vec::new();
    }
    turn.events.iter().filter_map(said_by).collect()
}

pub(super) fn said_by(event: &Event) -> Option<RecordedInput> {
    match event {
        Event::Answered { request, outcome } => Some(RecordedInput::Answer {
            request: *request,
            outcome: outcome.clone(),
        }),
        Event::Evaluate { text, sources } => Some(RecordedInput::Unasked(Input::Evaluate {
            text: text.clone(),
            sources: sources.clone(),
        })),
        Event::Abandon {} => Some(RecordedInput::Unasked(Input::Abandon)),
        Event::Told { value, stays } => Some(RecordedInput::Unasked(Input::Tell {
            value: value.clone(),
            stays: *stays,
        })),
        Event::Granted { grant } => Some(RecordedInput::Unasked(Input::Grant { grant: grant.clone() })),
        // What took the place of one text says nothing about another, and the caller finds the
        // actor that begins anew.
        Event::Patched { .. }
        | Event::Restart {}
        | Event::Restarted { .. }
        | Event::Boot {}
        | Event::Added { .. }
        | Event::Removed { .. }
        | Event::Message { .. }
        | Event::Closed { .. }
        | Event::Direct { .. }
        | Event::Resume { .. }
        | Event::Settled { .. }
        | Event::Sync { .. }
        | Event::Ended { .. }
        | Event::Failed { .. }
        | Event::Kept { .. }
        | Event::Due { .. }
        | Event::Reconsider { .. }
        | Event::Orphaned { .. }
        // The answer says it all to another branch.
        | Event::Prepared { .. }
        | Event::Terminate {}
        // A merge concerns only the branch that it was made on, and so does a peer.
        | Event::Merged { .. }
        | Event::Joined { .. }
        | Event::Given { .. }
        | Event::Taken { .. }
        | Event::Said { .. } => None,
    }
}

/// Makes the input that answers `request`, which asked `question`, with a recorded outcome.
///
/// Returns `None` if the outcome cannot answer the question: a value that should be bytes and is
/// not, or a failure where only tools fail.
pub fn answer(request: RequestId, question: &EffectKind, outcome: &Result<IOValue, IOValue>) -> Option<Input> {
    use preserves::ValueImpl;
    Some(match (question, outcome) {
        (EffectKind::Tool { .. }, outcome) => Input::ToolResult {
            request,
            outcome: match outcome {
                Ok(value) => Ok(value.clone()),
                Err(fault) => Err(tool_failure(fault)?),
            },
        },
        (EffectKind::Read { .. }, Ok(bytes)) => Input::Chunk {
            request,
            bytes: bytes.as_bytestring()?.into_owned(),
        },
        (EffectKind::Timer { .. } | EffectKind::Alarm { .. }, Ok(_)) => Input::Elapsed { request },
        (EffectKind::Ask { .. }, Ok(value)) => Input::Answer {
            request,
            value: value.clone(),
        },
        (EffectKind::Ask { .. }, Err(fault)) => Input::ToolResult {
            request,
            outcome: Err(tool_failure(fault)?),
        },
        (EffectKind::Read { .. } | EffectKind::Timer { .. } | EffectKind::Alarm { .. }, Err(_))
        | (
            EffectKind::Proceed { .. }
            | EffectKind::Write { .. }
            | EffectKind::Withdraw
            | EffectKind::Log { .. }
            | EffectKind::Failure { .. }
            | EffectKind::Progress { .. }
            | EffectKind::Peer { .. },
            _,
        ) => {
            return None;
        }
    })
}
