//! Which turns a log lists.
//!
//! INVARIANT: every condition that was given holds for a listed turn.
//! Read next: `../log.rs`.

use duet_journal::{Record, Sequence};
use duet_runtime::action::{Action, KINDS};
use duet_runtime::model::codec::{Codec, label_of};
use duet_runtime::record::{Body, TurnRecord};
use duet_runtime::run::source::Source;
use duet_runtime::state::event::Event;
use preserves::IOValue;

use super::Request;
use crate::history::journal::Place;
use crate::history::origins::{KnownOrigins, Origin, Origins};
use crate::history::turn;
use crate::history::turn::line::{self, did, heard, tells_of_failure};
use crate::text::error::CommandError;
use crate::text::exchange;
use crate::text::query::Query;
use crate::text::similar::nearest;
use crate::text::value_text::shown;
use crate::verb::project::ProjectReader;

/// The conditions.
#[derive(Default)]
pub(super) struct Filter {
    actor: Option<String>,
    kind: Option<String>,
    tool: Option<String>,
    grep: Option<String>,
    label: Option<String>,
    query: Option<Query>,
    is_failed: bool,
    is_refused: bool,
    since: Option<Sequence>,
    until: Option<Sequence>,
}

impl Filter {
    /// Reads the conditions of a request.
    pub(super) fn read(request: &Request, look: &ProjectReader<'_>, place: &Place) -> Result<Self, CommandError> {
        let turn = |option: Option<&str>| {
            let read = |text: &str| {
                let turn = text.strip_prefix('@').unwrap_or(text);
                let address = format!("{}/{}@{turn}", place.run, place.branch);
                Ok::<_, CommandError>(look.resolve(Some(&address))?.turn)
            };
            Ok::<_, CommandError>(option.map(read).transpose()?.flatten())
        };
        if let Some(kind) = &request.kind {
            require_kind(kind)?;
        }
        Ok(Self {
            actor: request.actor.clone(),
            kind: request.kind.clone(),
            tool: request.tool.clone(),
            grep: request.grep.clone(),
            label: request.label.clone(),
            query: request.pattern.as_deref().map(Query::read).transpose()?,
            is_failed: request.failed,
            is_refused: request.refused,
            since: turn(request.since.as_deref())?,
            until: turn(request.until.as_deref())?,
        })
    }

    /// Whether there is a condition.
    pub(super) fn is_any(&self) -> bool {
        self.concerns_turns() || self.since.is_some() || self.until.is_some()
    }

    /// The number of the oldest turn that may be listed.
    pub(super) fn first(&self) -> u64 {
        self.since.map_or(0, Sequence::number)
    }

    /// The number after that of the newest turn of a branch that may be listed.
    pub(super) fn end(&self, head: Sequence) -> u64 {
        self.until.map_or(head, |until| until.min(head)).number() + 1
    }

    fn concerns_turns(&self) -> bool {
        self.actor.is_some()
            || self.kind.is_some()
            || self.tool.is_some()
            || self.grep.is_some()
            || self.label.is_some()
            || self.query.is_some()
            || self.is_failed
            || self.is_refused
    }

    /// Whether all conditions hold for a record.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub(super) fn admits(&self, record: &Record, body: &Body, origins: &mut Origins<'_>) -> Result<bool, CommandError> {
        let at = record.header().sequence;
        if self.since.is_some_and(|since| at < since) || self.until.is_some_and(|until| at > until) {
            return Ok(false);
        }
        let Body::Turn(turn) = body else {
            return Ok(!self.concerns_turns());
        };
        Ok((!self.is_refused || !turn.attempts.is_empty())
            && (!self.is_failed || tells_of_failure(turn))
            && self.kind.as_ref().is_none_or(|kind| has_kind(turn, kind))
            && self.label.as_ref().is_none_or(|label| has_label(turn, label))
            && self.finds(turn)
            && self.is_by(turn, at, origins)?
            && self.concerns_tool(turn, at, origins)?
            && self.has_text(turn, at, origins)?)
    }

    fn finds(&self, turn: &TurnRecord) -> bool {
        let found = |query: &Query| turn::values(turn).iter().any(|value| query.finds(value));
        self.query.as_ref().is_none_or(found)
    }

    /// The origins that the filter looks at: whoever asks for one actor or one tool wants them all.
    pub(super) fn origins<'a>(&self, source: Source<'a>, known: KnownOrigins) -> Origins<'a> {
        let origins = Origins::knowing(source, known);
        if self.actor.is_some() || self.tool.is_some() {
            origins.thorough()
        } else {
            origins
        }
    }

    fn is_by(&self, turn: &TurnRecord, at: Sequence, origins: &mut Origins<'_>) -> Result<bool, CommandError> {
        let Some(wanted) = &self.actor else { return Ok(true) };
        let role = origins.role(turn.actor, at)?;
        let name = line::actor(turn.actor, role.as_deref());
        let number = wanted.strip_prefix("actor ").unwrap_or(wanted).parse();
        if name == *wanted || role.as_ref() == Some(wanted) || number == Ok(turn.actor.0) {
            return Ok(true);
        }
        if wanted.contains('/') && origins.path(turn.actor)? == wanted {
            return Ok(true);
        }
        let is_fiber = |fiber: &String| fiber == wanted || line::strand(name.clone(), Some(fiber)) == *wanted;
        if origins.strand(turn, at)?.as_ref().is_some_and(is_fiber) || begins_with_call(turn, &is_fiber) {
            return Ok(true);
        }
        calls_as(wanted, turn, at, origins)
    }

    fn concerns_tool(&self, turn: &TurnRecord, at: Sequence, origins: &mut Origins<'_>) -> Result<bool, CommandError> {
        let Some(wanted) = &self.tool else { return Ok(true) };
        let is_it = |tool: &str| match wanted.strip_suffix('*') {
            Some(begin) => tool.starts_with(begin),
            None => tool == wanted,
        };
        let proposed = turn.actions.iter().flat_map(Action::parts).filter_map(Action::call);
        if turn.calls().chain(proposed).any(|call| is_it(&call.tool)) {
            return Ok(true);
        }
        for event in &turn.events {
            if let Event::Answered { request, outcome } = event
                && let Origin::Tool { tool, .. } = origins.request(*request, at)?
                && (is_it(&tool) || wanted_calls(&tool, outcome).iter().any(|name| is_it(name)))
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn has_text(&self, turn: &TurnRecord, at: Sequence, origins: &mut Origins<'_>) -> Result<bool, CommandError> {
        let Some(text) = &self.grep else { return Ok(true) };
        let pieces = heard(turn, at, origins)?.into_iter().chain(did(turn, at, origins)?);
        let mut words = pieces.map(|piece| piece.text);
        let is_there = words.any(|words| words.contains(text.as_str()));
        Ok(is_there
            || turn::values(turn)
                .iter()
                .any(|value| shown(value).contains(text.as_str())))
    }
}

/// The names of the calls that an answer of a model asks for: those of an agent's own tools are in
/// no other record.
pub(super) fn wanted_calls(tool: &str, outcome: &Result<IOValue, IOValue>) -> Vec<String> {
    let heard = outcome.as_ref().ok().filter(|_| tool == exchange::TOOL);
    let calls = heard.and_then(exchange::heard).map(|heard| heard.calls);
    let calls = calls.unwrap_or_default().into_iter();
    calls.map(|call| call.name).collect()
}

/// Whether a fiber with a name begins in a turn, which somebody else began, and calls a tool there.
fn begins_with_call(turn: &TurnRecord, is_fiber: &dyn Fn(&String) -> bool) -> bool {
    let mut actions = turn.actions.iter().flat_map(Action::done);
    actions.any(|action| {
        let Action::SpawnFiber(spawned) = action else {
            return false;
        };
        spawned.name.as_ref().is_some_and(is_fiber) && turn.calls().any(|call| call.facet == spawned.facet)
    })
}

/// Whether a turn calls a tool in a role, such as an agent's, or receives the result of such a
/// call.
fn calls_as(role: &str, turn: &TurnRecord, at: Sequence, origins: &mut Origins<'_>) -> Result<bool, CommandError> {
    if turn.calls().any(|call| shown(&call.role) == role) {
        return Ok(true);
    }
    for event in &turn.events {
        if let Event::Answered { request, .. } = event
            && matches!(origins.request(*request, at)?, Origin::Tool { role: found, .. } if found == role)
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Requires that some event or action is of a kind.
fn require_kind(kind: &str) -> Result<(), CommandError> {
    let known = || {
        KINDS
            .iter()
            .map(|(name, _)| *name)
            .chain(Event::labels().iter().copied())
    };
    if known().any(|name| name == kind) {
        return Ok(());
    }
    let error = CommandError::usage(format!("`--kind {kind}`: no event or action is of this kind"));
    let advice = match nearest(kind, known()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the kinds are {}", known().collect::<Vec<_>>().join(", ")),
    };
    Err(error.advise(advice))
}

fn has_kind(turn: &TurnRecord, kind: &str) -> bool {
    let of_event = |event: &Event| label_of(&event.encode()).is_some_and(|label| label == *kind);
    turn.actions.iter().any(|action| action.name() == kind) || turn.events.iter().any(of_event)
}

fn has_label(turn: &TurnRecord, label: &str) -> bool {
    turn.actions.iter().any(|action| action.name() == label)
        || turn::values(turn)
            .iter()
            .any(|value| label_of(value).is_some_and(|found| found == *label))
}
