//! What the world once said, said again: recorded events as inputs for another branch.
//!
//! INVARIANT: an input made here leads to the event that it was made of, wherever the request that it answers has the same number.
//! It does not find the request that asks the same on another branch; whoever drives the run does, by the question.
//! Read next: `run/input.rs`.

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

/// Something that the world said in a turn.
#[derive(Clone, Debug, PartialEq)]
pub enum RecordedInput {
    /// It answered a request.
    Answer {
        /// The request, as that branch numbers it.
        request: RequestId,
        /// The answer, or the condition that stands for a failure.
        outcome: Result<IOValue, IOValue>,
    },
    /// It spoke of its own accord.
    Unasked(Input),
}

/// Something that the world said in a turn of a branch, with what it was asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// The turn.
    pub turn: Sequence,
    /// What it was.
    pub what: What,
}

/// What the world said.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// The answer to a question.
    Answer {
        /// The request, as that branch numbers it.
        request: RequestId,
        /// What was asked.
        question: EffectKind,
        /// The answer, or the condition that stands for a failure.
        outcome: Result<IOValue, IOValue>,
    },
    /// Something that nobody had asked for.
    Unasked(Input),
}

/// Records are read from the store in portions of this many.
const PORTION: u64 = 256;

/// Lists what the world said on a branch in turns `first` to `last`.
///
/// # Errors
/// [`RunError`] if a record cannot be read.
pub fn recorded(source: &Source<'_>, (first, last): (Sequence, Sequence)) -> Result<Vec<Recorded>, RunError> {
    let mut questions: BTreeMap<RequestId, EffectKind> = BTreeMap::new();
    let mut found = Vec::new();
    let mut next = 1;
    while next <= last.number() {
        let end = (last.number() + 1).min(next + PORTION);
        for record in source.read(Sequence::new(next).map_err(|_| RunError::Full)?, end)? {
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

/// Lists what the world said in a turn; nothing if the turn has another cause.
pub fn said(turn: &TurnRecord) -> Vec<RecordedInput> {
    if turn.cause != (Cause::Input {}) {
        return Vec::new();
    }
    turn.events.iter().filter_map(said_by).collect()
}

fn said_by(event: &Event) -> Option<RecordedInput> {
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
        Event::Boot {}
        | Event::Added { .. }
        | Event::Removed { .. }
        | Event::Message { .. }
        | Event::Closed { .. }
        | Event::Direct { .. }
        | Event::Resume { .. }
        | Event::Settled { .. }
        | Event::Sync { .. }
        | Event::Ended { .. }
        | Event::Kept { .. }
        | Event::Due { .. }
        | Event::Reconsider { .. }
        | Event::Orphaned { .. }
        | Event::Terminate {}
        // A merge concerns the branch that it was made on.
        | Event::Merged { .. } => None,
    }
}

/// Makes the input that answers `request`, which asked `question`, with a recorded outcome.
///
/// `None` if no such question is ever answered so: bytes that are none, or a failure where only tools fail.
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
        (
            EffectKind::Read { .. } | EffectKind::Ask { .. } | EffectKind::Timer { .. } | EffectKind::Alarm { .. },
            Err(_),
        )
        | (
            EffectKind::Proceed { .. }
            | EffectKind::Write { .. }
            | EffectKind::Withdraw
            | EffectKind::Log { .. }
            | EffectKind::Progress { .. },
            _,
        ) => {
            return None;
        }
    })
}
