//! A record as JSON: members all the way down, with values in the form that policy gives them.
//!
//! INVARIANT: no value is text of another notation inside a string.
//! It does not choose what is shown. Read next: `runtime/src/gate/payload.rs`.

use std::collections::BTreeMap;

use duet_journal::{CommitTime, Record};
use duet_runtime::action::Action;
use duet_runtime::model::codec::{Codec, label_of};
use duet_runtime::model::failure::{Failure, Frame, FramePlace};
use duet_runtime::record::{Attempt, Body, Outcome, TurnRecord};
use duet_runtime::state::event::{Cause, Event};
use preserves::{IOValue, ValueImpl};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::program_name;
use crate::text::render::SourceTexts;
use crate::text::value_json;

/// A record.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct TurnForm {
    run: String,
    turn: u64,
    /// The hash of the record.
    record: String,
    /// The hash of the one before.
    parent: Option<String>,
    /// The branch on which it was written.
    written_on: String,
    /// The hash of the snapshot after it, if there is one.
    snapshot: Option<String>,
    /// When it became durable, in milliseconds since 1970, if that is known.
    stamp_ms: Option<u64>,
    #[serde(flatten)]
    what: WhatForm,
}

/// What a record has.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
enum WhatForm {
    /// The beginning of a run.
    Begins {
        program: String,
        /// What the program may do.
        granted: Vec<String>,
        /// The hashes of the blobs that the run needs.
        pinned: Vec<String>,
    },
    /// A turn.
    Taken(Box<TakenForm>),
}

/// A turn.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct TakenForm {
    /// The number of the actor.
    actor: u64,
    /// Its role; `main` for the main program.
    role: String,
    /// The name of the fiber that ran first, if it has one.
    strand: Option<String>,
    cause: CauseForm,
    /// What it received. In a log, an answer has `duration_ms`: how long its request took, from
    /// commit to commit, if that is known; of a timer, its name says so.
    events: Vec<Kinded>,
    /// The positions of the events that nobody was there to receive.
    dropped: Vec<u64>,
    actions: Vec<ActionForm>,
    attempts: Vec<AttemptForm>,
    fuel: u64,
    /// Why it failed; null if it did not.
    failure: Option<FailureForm>,
}

/// An event or an action: its kind, and its fields by name.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Kinded {
    kind: String,
    /// The fields, with values in the form that policy gives them.
    #[serde(flatten)]
    fields: Map<String, Value>,
}

/// An action, and why it was not performed.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct ActionForm {
    #[serde(flatten)]
    action: Kinded,
    denied: Option<String>,
}

/// Actions that the gate refused.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct AttemptForm {
    actions: Vec<Kinded>,
    /// The reason.
    denied: Option<String>,
}

/// The cause of a turn.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(crate) enum CauseForm {
    /// The run began.
    Start,
    /// Another turn.
    Turn { turn: u64 },
    /// An input from outside.
    Input,
}

/// A failure.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct FailureForm {
    /// The kind of the condition.
    kind: String,
    message: String,
    irritants: Vec<Value>,
    /// The text in which it was raised, and the first byte and the one after the last there.
    source: Option<String>,
    start: Option<u64>,
    end: Option<u64>,
    /// The line of the first byte, and the column in it in characters, both counted from 1, in the
    /// failure of a turn whose text is known.
    line: Option<usize>,
    column: Option<usize>,
    /// The active procedures, innermost first.
    backtrace: Vec<FrameForm>,
}

/// An active procedure.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct FrameForm {
    procedure: String,
    /// The text of the call that it had made.
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    /// The first byte of that call.
    #[serde(skip_serializing_if = "Option::is_none")]
    start: Option<u64>,
    /// The line of that byte, and the column.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<usize>,
    /// Whether it had called the one before by tail calls, which leave no frame.
    #[serde(skip_serializing_if = "Option::is_none")]
    is_gone: Option<bool>,
}

/// Who took a turn.
#[derive(Default)]
pub(crate) struct By {
    /// The role of the actor; `main` for the main program.
    pub(crate) role: String,
    /// The name of the fiber that ran first, if it has one.
    pub(crate) strand: Option<String>,
}

impl TurnForm {
    /// Whether the turn failed.
    pub(crate) fn is_failed(&self) -> bool {
        matches!(&self.what, WhatForm::Taken(taken) if taken.failure.is_some())
    }

    /// Adds the lines and columns of the turn's failure and of its frames.
    pub(crate) fn note_lines(&mut self, texts: &SourceTexts) {
        let WhatForm::Taken(taken) = &mut self.what else {
            return;
        };
        let Some(failure) = &mut taken.failure else { return };
        let position = |source: &Option<String>, start: Option<u64>| texts.position_of(source.as_deref()?, start?);
        if let Some(found) = position(&failure.source, failure.start) {
            (failure.line, failure.column) = (Some(found.line), Some(found.column));
        }
        for frame in &mut failure.backtrace {
            if let Some(found) = position(&frame.source, frame.start) {
                (frame.line, frame.column) = (Some(found.line), Some(found.column));
            }
        }
    }

    /// Adds how long the request took that each event answers, in milliseconds, if it answers one.
    pub(crate) fn note_durations(&mut self, durations: &[Option<u64>]) {
        let WhatForm::Taken(taken) = &mut self.what else {
            return;
        };
        for (event, duration_ms) in taken.events.iter_mut().zip(durations) {
            if let Some(duration_ms) = duration_ms {
                event.fields.insert("duration_ms".to_owned(), (*duration_ms).into());
            }
        }
    }
}

/// Describes a record, with who took its turn.
pub(crate) fn json_of(record: &Record, time: CommitTime, body: &Body, by: By) -> TurnForm {
    let header = record.header();
    TurnForm {
        run: header.run.to_string(),
        turn: header.sequence.number(),
        record: record.hash().to_string(),
        parent: header.parent.map(|parent| parent.to_string()),
        written_on: header.branch.to_string(),
        snapshot: header.snapshot.map(|snapshot| snapshot.to_string()),
        stamp_ms: time.ms(),
        what: match body {
            Body::Genesis(genesis) => WhatForm::Begins {
                program: program_name(genesis),
                granted: genesis.manifest.grants_shown().collect(),
                pinned: genesis.pinned.iter().map(ToString::to_string).collect(),
            },
            Body::Turn(turn) => WhatForm::Taken(Box::new(json_turn(turn, by))),
        },
    }
}

fn json_turn(turn: &TurnRecord, by: By) -> TakenForm {
    let actions = turn
        .actions
        .iter()
        .zip(&turn.verdicts)
        .map(|(action, verdict)| ActionForm {
            action: json_action(action),
            denied: verdict.reason().map(ToString::to_string),
        });
    TakenForm {
        actor: turn.actor.0,
        role: by.role,
        strand: by.strand,
        cause: json_cause(&turn.cause),
        events: turn.events.iter().map(json_event).collect(),
        dropped: turn.dropped.clone(),
        actions: actions.collect(),
        attempts: turn.attempts.iter().map(json_attempt).collect(),
        fuel: turn.fuel,
        failure: match &turn.outcome {
            Outcome::Committed {} => None,
            Outcome::Failed { failure } => Some(json_failure(failure)),
        },
    }
}

/// Describes the cause of a turn.
pub(crate) fn json_cause(cause: &Cause) -> CauseForm {
    match cause {
        Cause::Start {} => CauseForm::Start,
        Cause::Turn { sequence } => CauseForm::Turn {
            turn: sequence.number(),
        },
        Cause::Input {} => CauseForm::Input,
    }
}

fn json_attempt(attempt: &Attempt) -> AttemptForm {
    AttemptForm {
        actions: attempt.actions.iter().map(json_action).collect(),
        denied: attempt.verdict.reason().map(ToString::to_string),
    }
}

/// Describes an action: its kind, and its fields by name.
pub(crate) fn json_action(action: &Action) -> Kinded {
    let (kind, mut members) = members(action);
    if let Action::Write(write) = action
        && let Ok(text) = std::str::from_utf8(&write.bytes.0)
    {
        members.remove("bytes");
        members.insert("text".to_owned(), text.into());
    }
    if let Action::ReportFailure(report) = action {
        let of = json!({
            "actor": report.failed.actor.0,
            "role": report.failed.role,
            "turn": report.failed.turn.number(),
            "failure": as_value(&json_failure(&report.failed.failure)),
        });
        members.insert("failed".to_owned(), of);
    }
    if let Action::Exit(exit) = action
        && let Some(failure) = &exit.failure
    {
        members.insert("failure".to_owned(), as_value(&json_failure(failure)));
    }
    if !action.parts().is_empty() {
        let parts = action.parts().iter().map(|part| as_value(&json_action(part)));
        members.insert("attempts".to_owned(), parts.collect());
    }
    Kinded { kind, fields: members }
}

/// Describes an event: its kind, and its fields by name. An answer has `ok`, or `text` if it is
/// bytes that are text, or `error`.
pub(crate) fn json_event(event: &Event) -> Kinded {
    let (kind, mut members) = members(event);
    if let Event::Answered { outcome, .. } | Event::Orphaned { outcome, .. } = event {
        members.remove("outcome");
        let (name, value) = match outcome {
            Ok(value) => match value.as_bytestring().map(|bytes| String::from_utf8(bytes.into_owned())) {
                Some(Ok(text)) => ("text", text.into()),
                Some(Err(_)) | None => ("ok", value_json::of(value)),
            },
            Err(fault) => ("error", value_json::of(fault)),
        };
        members.insert(name.to_owned(), value);
    }
    if let Event::Failed { failure, .. } = event {
        members.insert("failure".to_owned(), as_value(&json_failure(failure)));
    }
    if let Event::Ended {
        failed: Some(failed), ..
    } = event
    {
        members.insert("failed".to_owned(), as_value(&json_failure(&failed.failure)));
    }
    Kinded { kind, fields: members }
}

/// The label of a record as the kind, and its fields by their names.
fn members<T: Codec>(of: &T) -> (String, Map<String, Value>) {
    let value = of.encode();
    let kind = label_of(&value).unwrap_or_default();
    let fields = value.iter().map(|field| value_json::of(&IOValue::from(field)));
    let named = T::fields_of(&kind).iter().map(|name| (*name).to_owned()).zip(fields);
    let mut members: BTreeMap<String, Value> = named.collect();
    // A field of an action can be called so; the kind of the action is that of the table.
    if let Some(own) = members.remove("kind") {
        members.insert("of".to_owned(), own);
    }
    (kind, members.into_iter().collect())
}

/// A part of a report as a value.
fn as_value<T: Serialize>(part: &T) -> Value {
    // It has texts, numbers and lists only.
    serde_json::to_value(part).unwrap_or_default()
}

fn json_failure(failure: &Failure) -> FailureForm {
    let origin = failure.origin.as_ref();
    FailureForm {
        kind: failure.kind.clone(),
        message: failure.message.clone(),
        irritants: failure.irritants.iter().map(value_json::of).collect(),
        source: origin.map(|origin| origin.source.clone()),
        start: origin.map(|origin| origin.start),
        end: origin.map(|origin| origin.end),
        line: None,
        column: None,
        backtrace: failure.backtrace.iter().map(json_frame).collect(),
    }
}

fn json_frame(frame: &Frame) -> FrameForm {
    let (source, start) = match &frame.at {
        FramePlace::Text { source, start } => (Some(source.clone()), Some(*start)),
        FramePlace::Unknown | FramePlace::Gone => (None, None),
    };
    FrameForm {
        procedure: frame.procedure.clone(),
        source,
        start,
        line: None,
        column: None,
        is_gone: (frame.at == FramePlace::Gone).then_some(true),
    }
}
