//! A record as JSON: members all the way down, with values in the form that policy gives them.
//!
//! INVARIANT: no value is text of another notation inside a string.
//! It does not choose what is shown. Read next: `../../runtime/src/gate/payload.rs`.

use std::collections::BTreeMap;

use duet_journal::Record;
use duet_runtime::action::Action;
use duet_runtime::gate::payload::as_json;
use duet_runtime::model::codec::{Codec, label_of};
use duet_runtime::model::failure::{Failure, Frame, FramePlace};
use duet_runtime::record::{Attempt, Body, Outcome, TurnRecord};
use duet_runtime::state::event::{Cause, Event};
use preserves::{IOValue, ValueImpl};
use serde_json::{Map, Value, json};

use super::program_name;

/// Describes a record.
pub(crate) fn json_of(record: &Record, body: &Body) -> Value {
    let header = record.header();
    let mut value = json!({
        "run": header.run.as_str(),
        "turn": header.sequence.number(),
        "record": record.hash().to_string(),
        "parent": header.parent.map(|parent| parent.to_string()),
        "written_on": header.branch.as_str(),
        "snapshot": header.snapshot.map(|snapshot| snapshot.to_string()),
    });
    let more = match body {
        Body::Genesis(genesis) => json!({
            "program": program_name(genesis),
            "granted": genesis.manifest.grants_shown().collect::<Vec<_>>(),
            "pinned": genesis.pinned.iter().map(ToString::to_string).collect::<Vec<_>>(),
        }),
        Body::Turn(turn) => json_turn(turn),
    };
    if let (Value::Object(value), Value::Object(more)) = (&mut value, more) {
        value.extend(more);
    }
    value
}

fn json_turn(turn: &TurnRecord) -> Value {
    let actions = turn.actions.iter().zip(&turn.verdicts).map(|(action, verdict)| {
        let mut value = json_action(action);
        value["denied"] = verdict.reason().map(ToString::to_string).into();
        value
    });
    json!({
        "actor": turn.actor.0,
        "cause": json_cause(&turn.cause),
        "events": turn.events.iter().map(json_event).collect::<Vec<_>>(),
        "dropped": turn.dropped,
        "actions": actions.collect::<Vec<_>>(),
        "attempts": turn.attempts.iter().map(json_attempt).collect::<Vec<_>>(),
        "fuel": turn.fuel,
        "failure": match &turn.outcome {
            Outcome::Committed {} => Value::Null,
            Outcome::Failed { failure } => json_failure(failure),
        },
    })
}

/// Describes the cause of a turn.
pub(crate) fn json_cause(cause: &Cause) -> Value {
    match cause {
        Cause::Start {} => json!({ "kind": "start" }),
        Cause::Turn { sequence } => json!({ "kind": "turn", "turn": sequence.number() }),
        Cause::Input {} => json!({ "kind": "input" }),
    }
}

fn json_attempt(attempt: &Attempt) -> Value {
    json!({
        "actions": attempt.actions.iter().map(json_action).collect::<Vec<_>>(),
        "denied": attempt.verdict.reason().map(ToString::to_string),
    })
}

/// Describes an action: its kind, and its fields by name.
pub(crate) fn json_action(action: &Action) -> Value {
    let mut members = members(action);
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
            "failure": json_failure(&report.failed.failure),
        });
        members.insert("failed".to_owned(), of);
    }
    if let Action::Exit(exit) = action
        && let Some(failure) = &exit.failure
    {
        members.insert("failure".to_owned(), json_failure(failure));
    }
    if !action.parts().is_empty() {
        let parts = action.parts().iter().map(json_action);
        members.insert("attempts".to_owned(), parts.collect());
    }
    Value::Object(members)
}

/// Describes an event: its kind, and its fields by name. An answer has `ok`, or `text` if it is
/// bytes that are text, or `error`.
pub(crate) fn json_event(event: &Event) -> Value {
    let mut members = members(event);
    if let Event::Answered { outcome, .. } | Event::Orphaned { outcome, .. } = event {
        members.remove("outcome");
        let (name, value) = match outcome {
            Ok(value) => match value.as_bytestring().map(|bytes| String::from_utf8(bytes.into_owned())) {
                Some(Ok(text)) => ("text", text.into()),
                Some(Err(_)) | None => ("ok", as_json(value)),
            },
            Err(fault) => ("error", as_json(fault)),
        };
        members.insert(name.to_owned(), value);
    }
    if let Event::Failed { failure, .. } = event {
        members.insert("failure".to_owned(), json_failure(failure));
    }
    if let Event::Ended {
        failed: Some(failed), ..
    } = event
    {
        members.insert("failed".to_owned(), json_failure(&failed.failure));
    }
    Value::Object(members)
}

/// The fields of a record by their names, with its label as the kind.
fn members<T: Codec>(of: &T) -> Map<String, Value> {
    let value = of.encode();
    let kind = label_of(&value).unwrap_or_default();
    let fields = value.iter().map(|field| as_json(&IOValue::from(field)));
    let named = T::fields_of(&kind).iter().map(|name| (*name).to_owned()).zip(fields);
    let mut members: BTreeMap<String, Value> = named.collect();
    // A field of an action can be called so; the kind of the action is that of the table.
    if let Some(own) = members.remove("kind") {
        members.insert("of".to_owned(), own);
    }
    members.insert("kind".to_owned(), kind.into());
    members.into_iter().collect()
}

fn json_failure(failure: &Failure) -> Value {
    json!({
        "kind": failure.kind,
        "message": failure.message,
        "irritants": failure.irritants.iter().map(as_json).collect::<Vec<_>>(),
        "source": failure.origin.as_ref().map(|origin| &origin.source),
        "start": failure.origin.as_ref().map(|origin| origin.start),
        "end": failure.origin.as_ref().map(|origin| origin.end),
        "backtrace": failure.backtrace.iter().map(json_frame).collect::<Vec<_>>(),
    })
}

fn json_frame(frame: &Frame) -> Value {
    match &frame.at {
        FramePlace::Unknown => json!({ "procedure": frame.procedure }),
        FramePlace::Text { source, start } => json!({ "procedure": frame.procedure, "source": source, "start": start }),
        FramePlace::Gone => json!({ "procedure": frame.procedure, "is_gone": true }),
    }
}
