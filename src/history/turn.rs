//! The text of turns: in full, and in `turn/`, in one line and as JSON.
//!
//! INVARIANT: the text repeats the record; it computes nothing again.
//! It does not know how a turn is taken; the runtime does.
//! Read next: `turn/line.rs`.

pub(crate) mod json;
pub(crate) mod line;

use std::fmt::Write;

use duet_drivers::text;
use duet_journal::Record;
use duet_runtime::action::Action;
use duet_runtime::action::exit::MAIN;
use duet_runtime::driver::Stream;
use duet_runtime::gate::Verdict;
use duet_runtime::model::codec::Codec;
use duet_runtime::model::failure::{Failure as TurnFailure, Frame, FramePlace};
use duet_runtime::model::grant::Grant;
use duet_runtime::model::identity::{ActorId, RequestId};
use duet_runtime::record::{Body, Genesis, Outcome, TurnRecord};
use duet_runtime::state::event::{Cause, Event};
use preserves::IOValue;

use crate::settings::reach::Reach;
use crate::text::error::CommandError;
use crate::text::exchange::{self, ModelCall, ModelReply};
use crate::text::render::{SourceTexts, message_of};
use crate::text::terminal::Terminal;
use crate::text::value_text::{bounded, shown};

/// Decodes a record.
///
/// # Errors
/// If it is no record of a run of this version.
pub(crate) fn body(record: &Record) -> Result<Body, CommandError> {
    let sequence = record.header().sequence;
    Body::decode(&record.body())
        .map_err(|error| CommandError::caused(format!("the record of turn {sequence} cannot be understood"), &error))
}

/// Whether a turn may have an event, action or text of a name, by the bytes of its body, which has
/// names as they are spelled: decoding every turn of a long run takes as long as reading it.
pub(crate) fn may_have(body: &[u8], name: &str) -> bool {
    body.windows(name.len()).any(|part| part == name.as_bytes())
}

/// The name of an actor.
pub(crate) fn actor(actor: ActorId) -> String {
    if actor == MAIN {
        "main".to_owned()
    } else {
        actor.to_string()
    }
}

/// The name by which a run's program is known.
pub(crate) fn program_name(genesis: &Genesis) -> String {
    name_of(&genesis.program)
}

/// The name in the description of a program.
fn name_of(program: &IOValue) -> String {
    let has_name = program.is_record() && program.len() > 0;
    let name = has_name
        .then(|| program.index(0).as_string().map(|name| name.into_owned()))
        .flatten();
    name.unwrap_or_default()
}

/// The cause of a turn, in a word or two.
fn cause(cause: &Cause) -> String {
    match cause {
        Cause::Start {} => "start".to_owned(),
        Cause::Turn { sequence } => format!("turn {sequence}"),
        Cause::Input {} => "input".to_owned(),
    }
}

/// Says whether a request called a model.
pub(crate) type AskedModel<'a> = &'a dyn Fn(RequestId) -> bool;

/// Whether the record is of a turn that failed.
pub(crate) fn is_failed(body: &Body) -> bool {
    matches!(body, Body::Turn(turn) if is_failed_turn(turn))
}

pub(crate) fn is_failed_turn(turn: &TurnRecord) -> bool {
    matches!(turn.outcome, Outcome::Failed { .. })
}

/// The words of a model that an event brings.
pub(crate) fn heard(event: &Event, asked: AskedModel<'_>) -> Option<ModelReply> {
    let Event::Answered {
        request,
        outcome: Ok(result),
    } = event
    else {
        return None;
    };
    exchange::heard(result).filter(|_| asked(*request))
}

/// The values that a turn asserts, sends, or receives from the world.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "other actions and events carry no value of their own"
)]
pub(crate) fn values(turn: &TurnRecord) -> Vec<IOValue> {
    let told = turn.events.iter().filter_map(|event| match event {
        Event::Answered { outcome, .. } => Some(outcome.clone().unwrap_or_else(|fault| fault)),
        Event::Direct { payload, .. } => Some(payload.value()),
        _ => None,
    });
    let did = turn
        .actions
        .iter()
        .flat_map(Action::done)
        .filter_map(|action| match action {
            Action::Assert(assert) => Some(assert.value.value()),
            Action::Message(message) => Some(message.value.value()),
            Action::Send(send) => Some(send.value.value()),
            Action::InvokeTool(call) => Some(call.payload.value()),
            Action::AskUser(question) => Some(question.prompt.clone()),
            _ => None,
        });
    told.chain(did).collect()
}

/// What a person grants, in words.
fn granted(grant: &Grant) -> String {
    let names = grant.manifest.grants_shown();
    let all: Vec<String> = names.chain(Reach::of_note(&grant.note).shown()).collect();
    all.join(", ")
}

/// Describes a failure in one line.
pub(crate) fn describe(failure: &TurnFailure) -> String {
    format!("{}: {}", failure.kind, message_of(failure))
}

pub(crate) fn short(text: &str, characters: usize) -> String {
    if text.chars().count() <= characters {
        return text.to_owned();
    }
    text.chars().take(characters - 1).chain(['…']).collect()
}

/// What a description of a record in full also needs.
pub(crate) struct Beside<'a> {
    pub(crate) asked: AskedModel<'a>,
    /// The texts of the program, if they are known.
    pub(crate) texts: Option<&'a SourceTexts>,
}

/// Describes a record in full.
pub(crate) fn full(address: &str, record: &Record, body: &Body, beside: &Beside<'_>) -> String {
    let header = record.header();
    let mut text = format!("{address}\n");
    let mut row = |name: &str, value: &dyn std::fmt::Display| {
        // Writing to a string does not fail.
        let _ = writeln!(text, "  {name:<9} {}", text::line(&bounded(value.to_string())));
    };
    row("record", &record.hash());
    if let Some(parent) = header.parent {
        row("parent", &parent);
    }
    if let Some(snapshot) = header.snapshot {
        row("snapshot", &snapshot);
    }
    match body {
        Body::Genesis(genesis) => full_genesis(genesis, &mut row),
        Body::Turn(turn) => full_turn(turn, beside, &mut row),
    }
    text
}

fn full_genesis(genesis: &Genesis, row: &mut dyn FnMut(&str, &dyn std::fmt::Display)) {
    row("program", &program_name(genesis));
    let granted: Vec<String> = genesis.manifest.grants_shown().collect();
    row("granted", &granted.join(" "));
    let limits = &genesis.limits;
    row(
        "limits",
        &format!(
            "{} fuel a slice, {} a turn, {} bytes a heap, {} bytes all heaps",
            limits.slice_fuel, limits.turn_fuel, limits.heap_bytes_max, limits.run_bytes_max
        ),
    );
    for blob in &genesis.pinned {
        row("pinned", blob);
    }
}

fn full_turn(turn: &TurnRecord, beside: &Beside<'_>, row: &mut dyn FnMut(&str, &dyn std::fmt::Display)) {
    row("actor", &actor(turn.actor));
    row("cause", &cause(&turn.cause));
    for (position, told) in (0..).zip(&turn.events) {
        let dropped = if turn.dropped.contains(&position) {
            "  (no receiver)"
        } else {
            ""
        };
        match (heard(told, beside.asked), told) {
            (Some(heard), _) => exchange_rows(&heard.rows(), dropped, row),
            (None, Event::Granted { grant }) => row("granted", &format!("{}{dropped}", granted(grant))),
            (None, Event::Patched { text }) => row("patched", &format!("{}{dropped}", name_of(&text.program))),
            (None, told) => row("event", &format!("{}{dropped}", event(told))),
        }
    }
    for (action, verdict) in turn.actions.iter().zip(&turn.verdicts) {
        let verdict = match verdict {
            Verdict::Allow {} => String::new(),
            Verdict::Deny { reason } => format!("  (denied: {reason})"),
            Verdict::Defer { reason } => format!("  (deferred: {reason})"),
        };
        match question(action) {
            Some((asked, request)) => exchange_rows(&asked.rows(), &format!(", as {request}{verdict}"), row),
            None => row("action", &format!("{action}{verdict}")),
        }
    }
    for attempt in &turn.attempts {
        row("refused", attempt);
    }
    row("fuel", &turn.fuel);
    match &turn.outcome {
        Outcome::Committed {} => row("outcome", &"committed"),
        Outcome::Failed { failure } => {
            row("outcome", &format!("failed and undone: {}", describe(failure)));
            for frame in failure.backtrace.iter() {
                let how = if frame.at == FramePlace::Gone {
                    "tail call of"
                } else {
                    "in"
                };
                row(how, &format!("{}{}", frame.procedure, place_of(frame, beside.texts)));
            }
        }
    }
}

/// Where a frame stands, if that is known.
fn place_of(frame: &Frame, texts: Option<&SourceTexts>) -> String {
    let FramePlace::Text { source, start } = &frame.at else {
        return String::new();
    };
    let line = texts.and_then(|texts| texts.line_of(source, *start));
    line.map_or_else(String::new, |line| format!(" at {source}:{line}"))
}

/// The call of a model that an action is, and its id.
fn question(action: &Action) -> Option<(ModelCall, RequestId)> {
    let Action::InvokeTool(call) = action else {
        return None;
    };
    Some((exchange::asked(call)?, call.request))
}

/// Writes the rows of an exchange with a model, each line of a text on its own; the first row ends
/// with a note.
fn exchange_rows(rows: &[(&str, String)], note: &str, row: &mut dyn FnMut(&str, &dyn std::fmt::Display)) {
    for (position, (name, text)) in rows.iter().enumerate() {
        let note = if position == 0 { note } else { "" };
        let mut lines = text.lines();
        row(name, &format!("{}{note}", lines.next().unwrap_or_default()));
        lines.for_each(|line| row("", &line));
    }
}

fn event(event: &Event) -> String {
    shown(&event.encode())
}

/// Prints again what a turn has printed.
///
/// # Errors
/// If the record cannot be read, or standard output is closed.
pub(crate) fn show_printed(record: &Record, terminal: &mut Terminal) -> Result<(), CommandError> {
    let Body::Turn(turn) = body(record)? else {
        return Ok(());
    };
    for action in &turn.actions {
        if let Action::Write(write) = action {
            let text = String::from_utf8_lossy(&write.bytes.0).into_owned();
            match write.stream {
                Stream::Output => terminal.data(text)?,
                Stream::Error => terminal.message(text.trim_end_matches('\n').to_owned()),
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_by_characters() {
        assert_eq!(short("äöü", 3), "äöü");
        assert_eq!(short("äöüx", 3), "äö…");
    }
}
