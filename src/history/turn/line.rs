//! A turn in one line: what the actor received, and what it did, in words.
//!
//! INVARIANT: the words repeat the record; they compute nothing again. A piece is a line without
//! control characters, and bounded.
//! It does not fit the line to a width; `verb/log/line.rs` does.
//! Read next: `history/origins.rs`.

use duet_drivers::text;
use duet_drivers::tool::workspace::change::changes;
use duet_journal::Sequence;
use duet_runtime::action::Action;
use duet_runtime::action::exit::MAIN;
use duet_runtime::driver::Stream;
use duet_runtime::model::codec::Codec;
use duet_runtime::model::counted::counted;
use duet_runtime::model::identity::{ActorId, RequestId};
use duet_runtime::record::{Outcome, TurnRecord};
use duet_runtime::run::tool_failure;
use duet_runtime::state::RunState;
use duet_runtime::state::event::Event;
use preserves::{IOValue, ValueImpl};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{describe, granted, is_failed_turn};
use crate::history::origins::{Origin, Origins};
use crate::text::error::CommandError;
use crate::text::exchange::{self, field, list, text_field};
use crate::text::value_text::abbreviated;

/// The maximum length of a piece, in characters.
const PIECE_CHARACTERS: usize = 1_000;

/// How a piece stands out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Tone {
    Plain,
    /// It only moves the program along.
    Structural,
    /// Something failed or was refused.
    Failed,
    /// A person said it.
    Person,
    /// A model is asked, or said it.
    Model,
}

/// A cause or an effect, in words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Piece {
    /// The kind of the event or action.
    pub(crate) kind: String,
    pub(crate) tone: Tone,
    pub(crate) text: String,
    /// How long the request took that this answers, from commit to commit, if that is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) duration_ms: Option<u64>,
    /// The request that it asks or answers, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) request: Option<u64>,
}

impl Piece {
    fn new(kind: &str, tone: Tone, text: &str) -> Self {
        Self {
            kind: kind.to_owned(),
            tone,
            text: text::line(&super::short(text, PIECE_CHARACTERS)).into_owned(),
            duration_ms: None,
            request: None,
        }
    }

    fn of_request(self, request: RequestId) -> Self {
        Self {
            request: Some(request.0),
            ..self
        }
    }

    fn plain(kind: &str, text: &str) -> Self {
        Self::new(kind, Tone::Plain, text)
    }
}

/// The name of an actor for people: its role and its number.
pub(crate) fn actor(id: ActorId, role: Option<&str>) -> String {
    match role {
        None if id == MAIN => "main".to_owned(),
        Some(role) if !role.is_empty() => format!("{role} {}", id.0),
        None | Some(_) => id.to_string(),
    }
}

/// The name of a living actor for people.
pub(crate) fn actor_in(state: &RunState, id: ActorId) -> String {
    actor(id, state.actor(id).and_then(|actor| actor.role.as_deref()))
}

/// The name of a fiber of an actor for people: that of the actor, and its own if it has one.
pub(crate) fn strand(actor: String, name: Option<&str>) -> String {
    match name {
        Some(name) => format!("{actor}/{name}"),
        None => actor,
    }
}

/// Tells what the actor received in a turn.
///
/// # Errors
/// If the journal cannot be read.
pub(crate) fn heard(turn: &TurnRecord, at: Sequence, origins: &mut Origins<'_>) -> Result<Vec<Piece>, CommandError> {
    let told = turn.events.iter().map(|event| one_heard(event, at, origins));
    told.collect()
}

fn one_heard(event: &Event, at: Sequence, origins: &mut Origins<'_>) -> Result<Piece, CommandError> {
    let label = event.encode().value().label();
    let kind = label.as_symbol().unwrap_or_default().into_owned();
    if let Event::Answered { request, outcome } = event {
        let origin = origins.request(*request, at)?;
        return Ok(answered(&kind, &origin, outcome).of_request(*request));
    }
    if let Event::Ended {
        actor: id,
        code,
        failed,
    } = event
    {
        let role = origins.role(*id, at)?;
        let name = actor(*id, role.as_deref());
        return Ok(match failed {
            Some(failed) => Piece::new(
                &kind,
                Tone::Failed,
                &format!("{name} failed: {}", describe(&failed.failure)),
            ),
            None => Piece::plain(&kind, &format!("{name} ended with {code}")),
        });
    }
    if let Event::Restarted { actor: id } = event {
        let role = origins.role(*id, at)?;
        return Ok(Piece::plain(
            &kind,
            &format!("{} began anew", actor(*id, role.as_deref())),
        ));
    }
    Ok(of_event(&kind, event))
}

/// Tells of an element of a part of a turn, if that part is the events or the actions, in words
/// that need nothing but the element.
pub(crate) fn element(part: &str, value: &IOValue) -> Option<String> {
    match part {
        "events" => Event::decode(value).ok().map(|event| of_event("", &event).text),
        "actions" => Action::decode(value)
            .ok()
            .map(|action| Piece::plain("", &action.to_string()).text),
        _ => None,
    }
}

/// Tells of the events that need nothing but themselves.
fn of_event(kind: &str, event: &Event) -> Piece {
    let plain = |text: String| Piece::plain(kind, &text);
    let structural = |text: &str| Piece::new(kind, Tone::Structural, text);
    let person = |text: String| Piece::new(kind, Tone::Person, &text);
    match event {
        Event::Boot {} => plain("begins".to_owned()),
        Event::Added { captures, .. } => plain(format!("sees{}", captured(&captures.encode()))),
        Event::Removed { captures, .. } => plain(format!("no longer sees{}", captured(&captures.encode()))),
        Event::Message { captures, .. } => plain(format!("heard{}", captured(&captures.encode()))),
        Event::Direct { payload, .. } => plain(format!("heard {}", abbreviated(&payload.value()))),
        Event::Closed { .. } => structural("an observer ended"),
        Event::Resume { .. } => structural("goes on"),
        Event::Settled { .. } => structural("an answer was there"),
        Event::Sync { .. } => structural("caught up"),
        Event::Prepared { by, .. } => person(format!("prepared in {by}")),
        Event::Failed { failure, .. } => {
            Piece::new(kind, Tone::Failed, &format!("a fiber failed: {}", describe(failure)))
        }
        Event::Kept { note, .. } => plain(format!("about to change {}", changed(note))),
        Event::Due { .. } => structural("the timer has begun"),
        Event::Reconsider { .. } => plain("policy judges again".to_owned()),
        Event::Orphaned { outcome, .. } => plain(format!("too late: {}", outcome_words("", outcome).1)),
        Event::Terminate {} => plain("stopped with its facet".to_owned()),
        // `one_heard` knows more about these two.
        Event::Answered { outcome, .. } => plain(outcome_words("", outcome).1),
        Event::Ended { actor, .. } => plain(format!("{actor} ended")),
        Event::Evaluate { text, .. } => {
            let words: Vec<&str> = text.split_whitespace().collect();
            person(format!("typed {}", words.join(" ")))
        }
        Event::Abandon {} => person("cancelled".to_owned()),
        Event::Merged { asserted, retracted } => plain(format!("merged +{} -{}", asserted.len(), retracted.len())),
        Event::Told { value, stays: true } => person(format!("signal {}", abbreviated(&value.value()))),
        Event::Told { value, stays: false } => person(format!("message {}", abbreviated(&value.value()))),
        Event::Joined { name, .. } => plain(format!("{name} came in")),
        Event::Granted { grant } => person(format!("granted {}", granted(grant))),
        Event::Patched { .. } => person("gave a changed text".to_owned()),
        Event::Restart {} => person("asked to begin anew".to_owned()),
        // `one_heard` knows its role.
        Event::Restarted { actor } => plain(format!("{actor} began anew")),
        Event::Given { value, .. } => plain(format!("was given {}", abbreviated(&value.value()))),
        Event::Taken { handle } => plain(format!("{handle} was taken back")),
        Event::Said { what } => plain(format!("its peer: {}", abbreviated(&what.encode()))),
    }
}

/// The paths of files that a call is about to change.
fn changed(note: &IOValue) -> String {
    let paths = changes(note)
        .into_iter()
        .map(|change| change.path.display().to_string());
    paths.collect::<Vec<_>>().join(", ")
}

/// The captured parts of a fact; nothing if there are none.
fn captured(captures: &IOValue) -> String {
    let parts: Vec<String> = captures.iter().map(|part| abbreviated(&part.into())).collect();
    if parts.is_empty() {
        String::new()
    } else {
        format!(" {}", parts.join(" "))
    }
}

fn answered(kind: &str, origin: &Origin, outcome: &Result<IOValue, IOValue>) -> Piece {
    let (tone, told) = match origin {
        Origin::Tool { tool, .. } => outcome_words(tool, outcome),
        Origin::Question | Origin::Approval | Origin::Timer(_) | Origin::Other => outcome_words("", outcome),
    };
    match origin {
        Origin::Tool { tool, .. } if tool == exchange::TOOL && outcome.is_ok() => Piece::new(kind, Tone::Model, &told),
        Origin::Tool { tool, payload, .. } if tool == exchange::TOOL => {
            Piece::new(kind, tone, &format!("model {told}; {payload}"))
        }
        Origin::Tool {
            tool, payload: words, ..
        } => {
            let gap = if words.is_empty() { "" } else { " " };
            Piece::new(kind, tone, &format!("{tool}{gap}{words} → {told}"))
        }
        Origin::Question => Piece::new(kind, Tone::Person, &format!("answer {told}")),
        Origin::Approval => Piece::new(kind, Tone::Person, &format!("approval: {told}")),
        Origin::Timer(delay_ms) => Piece::plain(kind, &format!("timer {delay_ms} ms")),
        Origin::Other => Piece::new(kind, tone, &format!("received {told}")),
    }
}

/// Tells how a call ended.
fn outcome_words(tool: &str, outcome: &Result<IOValue, IOValue>) -> (Tone, String) {
    let result = match outcome {
        Ok(result) => result,
        Err(fault) => {
            let told = tool_failure(fault).map_or_else(
                || abbreviated(fault),
                |failure| format!("{}: {}", failure.kind, failure.message),
            );
            return (Tone::Failed, format!("failed: {told}"));
        }
    };
    if tool == exchange::TOOL
        && let Some(heard) = exchange::heard(result)
    {
        return (Tone::Model, heard.line());
    }
    if let Some(exit) = field(result, "exit") {
        let is_well = exit.as_u64().is_some_and(|exit| exit.is_ok_and(|exit| exit == 0));
        let tone = if is_well { Tone::Plain } else { Tone::Failed };
        return match field(result, "signal").filter(|_| exit.as_boolean() == Some(false)) {
            Some(signal) => (tone, format!("signal {}", abbreviated(&signal))),
            None => (tone, format!("exit {}", abbreviated(&exit))),
        };
    }
    if let Some(status) = field(result, "status").filter(|status| status.as_signed_integer().is_some()) {
        return (Tone::Plain, format!("status {}", abbreviated(&status)));
    }
    if let Some(content) = field(result, "content").filter(|content| content.as_string().is_some()) {
        return (Tone::Plain, abbreviated(&content));
    }
    if let Some(bytes) = result.as_bytestring() {
        let read = match std::str::from_utf8(&bytes) {
            Ok(text) => format!("{text:?}"),
            Err(_) => counted(bytes.len(), "byte"),
        };
        return (Tone::Plain, read);
    }
    (Tone::Plain, abbreviated(result))
}

/// Says whether an answer tells of a failure, of the call or of the program that it ran.
pub(crate) fn is_failure(outcome: &Result<IOValue, IOValue>) -> bool {
    outcome_words("", outcome).0 == Tone::Failed
}

/// The payload of a call in words: the fields that say most, without their names.
pub(crate) fn payload_words(payload: &IOValue) -> String {
    if payload.as_boolean() == Some(false) {
        return String::new();
    }
    let words = field(payload, "arguments").and_then(|words| list(&words));
    if let Some(words) = words {
        let words = words.as_slice().iter().map(|word| match word.as_string() {
            Some(word) if !word.is_empty() && !word.contains(char::is_whitespace) => word.into_owned(),
            Some(_) | None => abbreviated(word),
        });
        return words.collect::<Vec<_>>().join(" ");
    }
    let named = ["method", "path", "url", "pattern", "query"];
    let told: Vec<String> = named.iter().filter_map(|name| text_field(payload, name)).collect();
    if told.is_empty() {
        return abbreviated(payload);
    }
    told.join(" ")
}

/// Actions that only move the program along.
const QUIET: [&str; 15] = [
    "resume",
    "wait",
    "yield",
    "observe",
    "unobserve",
    "spawn-facet",
    "spawn-fiber",
    "spawn-guarded",
    "stop-facet",
    "wake",
    "sync",
    "synced",
    "due",
    "cancel",
    "generate-request-id",
];

/// Tells what a turn did.
///
/// # Errors
/// If the journal cannot be read.
pub(crate) fn did(turn: &TurnRecord, at: Sequence, origins: &mut Origins<'_>) -> Result<Vec<Piece>, CommandError> {
    let refused = turn
        .attempts
        .iter()
        .map(|attempt| Piece::new("refused", Tone::Failed, &format!("refused {attempt}")));
    if let Outcome::Failed { failure } = &turn.outcome {
        let failed = Piece::new("failed", Tone::Failed, &format!("failed: {}", describe(failure)));
        return Ok(std::iter::once(failed).chain(refused).collect());
    }
    let done = turn.actions.iter().map(|action| one_done(action, at, origins));
    done.chain(refused.map(Ok)).collect()
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "other actions describe themselves briefly enough"
)]
fn one_done(action: &Action, at: Sequence, origins: &mut Origins<'_>) -> Result<Piece, CommandError> {
    let kind = action.name();
    let plain = |text: String| Piece::plain(kind, &text);
    Ok(match action {
        Action::Write(write) => {
            let text = format!("{:?}", String::from_utf8_lossy(&write.bytes.0));
            match write.stream {
                Stream::Output => plain(format!("write {text}")),
                Stream::Error => plain(format!("write to stderr {text}")),
            }
        }
        Action::InvokeTool(call) => match exchange::asked(call) {
            Some(asked) => Piece::new(kind, Tone::Model, &asked.line()),
            None => {
                let words = payload_words(&call.payload.value());
                plain(format!("call {} {words}", call.tool).trim_end().to_owned())
            }
        }
        .of_request(call.request),
        Action::Keep(keep) => plain(format!("keep {}", changed(&keep.kept.note))),
        Action::Exit(exit) => plain(format!("exit with code {}", exit.code)),
        Action::Widen(widen) => plain(format!("grant {}", granted(&widen.grant))),
        Action::Patch(_) => plain(action.to_string()),
        Action::Restart(begun) => plain(format!("begin anew, retracting {}", begun.handles.len())),
        Action::Resume(_) => Piece::new(kind, Tone::Structural, "go on"),
        Action::AskUser(question) => Piece::new(kind, Tone::Person, &format!("ask {}", abbreviated(&question.prompt)))
            .of_request(question.request),
        Action::Propose(proposal) => {
            let attempts = all_done(&proposal.attempts, at, origins)?;
            Piece::new(kind, Tone::Person, &format!("ask for approval of: {attempts}")).of_request(proposal.request)
        }
        Action::Approve(approved) => plain(format!("approved: {}", all_done(&approved.attempts, at, origins)?)),
        Action::Admit(admitted) => plain(format!("admitted: {}", all_done(&admitted.attempts, at, origins)?)),
        Action::Postpone(postponed) => plain(format!("put off: {}", all_done(&postponed.attempts, at, origins)?)),
        Action::Timer(timer) => plain(format!("timer {} ms", timer.delay_ms)).of_request(timer.request),
        Action::Assert(assert) => plain(format!("assert {}", abbreviated(&assert.value.value()))),
        Action::Message(message) => plain(format!("message {}", abbreviated(&message.value.value()))),
        Action::Send(send) => {
            let role = origins.role(send.to, at)?;
            let to = actor(send.to, role.as_deref());
            plain(format!("send {} to {to}", abbreviated(&send.value.value())))
        }
        Action::SpawnActor(spawned) => plain(format!("spawn {}", actor(spawned.actor, Some(&spawned.role)))),
        Action::ReportFailure(report) => {
            let (name, failure) = (report.failed.name(), describe(&report.failed.failure));
            Piece::new(kind, Tone::Failed, &format!("report that {name} failed: {failure}"))
        }
        other if QUIET.contains(&kind) => Piece::new(kind, Tone::Structural, &other.to_string()),
        other => plain(other.to_string()),
    })
}

fn all_done(attempts: &[Action], at: Sequence, origins: &mut Origins<'_>) -> Result<String, CommandError> {
    let told = attempts.iter().map(|attempt| Ok(one_done(attempt, at, origins)?.text));
    Ok(told.collect::<Result<Vec<_>, CommandError>>()?.join(" and "))
}

/// Says whether a turn failed, or received or reported a failure.
pub(crate) fn tells_of_failure(turn: &TurnRecord) -> bool {
    is_failed_turn(turn)
        || turn
            .actions
            .iter()
            .any(|action| matches!(action, Action::ReportFailure(_)))
        || turn.events.iter().any(|event| {
            matches!(event, Event::Failed { .. } | Event::Ended { failed: Some(_), .. })
                || matches!(event, Event::Answered { outcome, .. } if is_failure(outcome))
        })
}
