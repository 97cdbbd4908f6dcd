//! The cause of a turn: the turns before it that led to it, back to an input or to the beginning.
//!
//! INVARIANT: each link's turn was caused by the next link's turn, or answers that turn's request;
//! the cause of the last is an input or the start of the run.
//! It does not judge which of several events mattered; a turn has one cause.
//! Read next: `input.rs`.

use duet_journal::{Record, Sequence};
use preserves::IOValue;

use crate::action::Action;
use crate::driver::EffectKind;
use crate::model::identity::RequestId;
use crate::record::TurnRecord;
use crate::run::error::RunError;
use crate::run::input::tool_failure;
use crate::run::source::{Source, decode_turn};
use crate::state::event::{Cause, Event};

/// One turn of a chain of causes.
#[derive(Clone, Debug, PartialEq)]
pub struct CausalTurn {
    /// Its position.
    pub sequence: Sequence,
    /// The turn.
    pub turn: TurnRecord,
    /// The turn that made the request which this one's input answers, if there was one.
    pub asked: Option<Sequence>,
}

/// The number of records in the first read of the backward search, because most requests are
/// answered soon; each further read doubles it, up to the maximum.
const PORTION_MIN: u64 = 8;
const PORTION: u64 = 64;

/// Lists the turns that led to one, beginning with that turn. A tool's result leads back to the
/// turn that called the tool, and a timer to the turn that set it; a person's answer, or an input
/// without a request, ends the chain.
///
/// # Errors
/// Each link comes with [`RunError`] if a record cannot be read; none follows then.
pub fn causal_turns<'a>(
    source: &'a Source<'a>,
    from: Sequence,
) -> impl Iterator<Item = Result<CausalTurn, RunError>> + use<'a> {
    let mut next = Some(from).filter(|from| *from > Sequence::FIRST);
    let mut turns = TurnsBack {
        source,
        held: Vec::new(),
    };
    std::iter::from_fn(move || {
        let found = causal_turn(&mut turns, next.take()?);
        Some(found.map(|(link, cause)| {
            next = cause;
            link
        }))
    })
}

/// The turns of a branch for a walk back, of which many steps lead to the turn just before.
struct TurnsBack<'a> {
    source: &'a Source<'a>,
    /// Records one after the other.
    held: Vec<Record>,
}

impl TurnsBack<'_> {
    /// Reads a turn, and if the walk goes on where the held records begin, those before it, too.
    fn turn(&mut self, at: Sequence) -> Result<TurnRecord, RunError> {
        let first = |held: &[Record]| held.first().map(|record| record.header().sequence.number());
        let place = |held: &[Record]| first(held).and_then(|first| at.number().checked_sub(first));
        let held = |held: &[Record]| held.get(usize::try_from(place(held)?).ok()?).map(decode_turn);
        if let Some(turn) = held(&self.held) {
            return turn;
        }
        let is_step = first(&self.held) == Some(at.number() + 1);
        let count = if is_step {
            PORTION.min(2 * self.held.len() as u64)
        } else {
            1
        };
        let from = Sequence::new((at.number() + 1).saturating_sub(count).max(1)).map_err(|_| RunError::Full)?;
        self.held = self.source.read(from, at.number() + 1)?.collect::<Result<_, _>>()?;
        held(&self.held).unwrap_or(Err(RunError::NoTurn {
            branch: self.source.branch.clone(),
            sequence: at,
        }))
    }
}

/// Reads the turn at a position, and finds the position of the one that led to it.
fn causal_turn(turns: &mut TurnsBack<'_>, sequence: Sequence) -> Result<(CausalTurn, Option<Sequence>), RunError> {
    let turn = turns.turn(sequence)?;
    let source = turns.source;
    let asked = match turn.cause {
        Cause::Input {} => asked(source, &turn, sequence)?,
        Cause::Start {} | Cause::Turn { .. } => None,
    };
    let next = match turn.cause {
        Cause::Turn { sequence: cause } if cause < sequence && cause > Sequence::FIRST => Some(cause),
        Cause::Input {} => asked.as_ref().filter(|(_, wanted)| wanted.goes_on()).map(|(at, _)| *at),
        Cause::Turn { .. } | Cause::Start {} => None,
    };
    let asked = asked.map(|(at, _)| at);
    Ok((CausalTurn { sequence, turn, asked }, next))
}

/// Who has to answer a request.
#[derive(Clone, Debug, PartialEq)]
enum Answerer {
    /// The tool of this name.
    Tool(String),
    /// The clock.
    Time,
    /// Somebody or something outside, who had a reason of their own.
    Other,
}

impl Answerer {
    /// Whether the answer follows from the request, so that the request is the cause.
    fn goes_on(&self) -> bool {
        match self {
            Self::Tool(_) | Self::Time => true,
            Self::Other => false,
        }
    }

    fn tool(self) -> Option<String> {
        match self {
            Self::Tool(name) => Some(name),
            Self::Time | Self::Other => None,
        }
    }
}

/// A call of a tool whose answer led to a turn.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The turn that made it.
    pub turn: Sequence,
    /// The tool.
    pub tool: String,
    /// The kind of its failure, if it failed.
    pub failed: Option<String>,
}

/// The maximum number of turns between the answer to a call and a turn to which it led.
const LINKS_MAX: usize = 1_000;

/// Finds the call that led to a turn, if the input that led to it is the answer to one.
///
/// # Errors
/// [`RunError`] if a record cannot be read.
pub fn leading_call(source: &Source<'_>, from: Sequence) -> Result<Option<Call>, RunError> {
    let mut next = from;
    for _ in 0..LINKS_MAX {
        if next <= Sequence::FIRST {
            return Ok(None);
        }
        let turn = decode_turn(&source.record(next)?)?;
        match turn.cause {
            Cause::Turn { sequence } if sequence < next => next = sequence,
            Cause::Input {} => return answered_call(source, &turn, next),
            Cause::Turn { .. } | Cause::Start {} => return Ok(None),
        }
    }
    Ok(None)
}

fn answered_call(source: &Source<'_>, turn: &TurnRecord, at: Sequence) -> Result<Option<Call>, RunError> {
    let Some((request, outcome)) = answer(turn) else {
        return Ok(None);
    };
    let failed = outcome.as_ref().err();
    let failed = failed.map(|fault| tool_failure(fault).map_or_else(String::new, |failure| failure.kind));
    let made = maker(source, request, at)?;
    let called = made.and_then(|made| Some((made.turn, made.wanted.tool()?)));
    Ok(called.map(|(turn, tool)| Call { turn, tool, failed }))
}

/// Finds the tool that a request called, if it called one before a turn.
///
/// # Errors
/// [`RunError`] if a record cannot be read.
pub fn called(source: &Source<'_>, request: RequestId, before: Sequence) -> Result<Option<String>, RunError> {
    Ok(maker(source, request, before)?.and_then(|made| made.wanted.tool()))
}

/// Finds the turn that made the request which a turn's events answer, and of whom.
fn asked(source: &Source<'_>, turn: &TurnRecord, before: Sequence) -> Result<Option<(Sequence, Answerer)>, RunError> {
    let Some((request, _)) = answer(turn) else {
        return Ok(None);
    };
    Ok(maker(source, request, before)?.map(|made| (made.turn, made.wanted)))
}

/// The first answer that a turn received.
#[expect(clippy::wildcard_enum_match_arm, reason = "one kind of event answers")]
fn answer(turn: &TurnRecord) -> Option<(RequestId, &Result<IOValue, IOValue>)> {
    turn.events.iter().find_map(|event| match event {
        Event::Answered { request, outcome } => Some((*request, outcome)),
        _ => None,
    })
}

/// The action that made a request.
pub(super) struct Maker {
    pub(super) turn: Sequence,
    /// Its position in the turn.
    pub(super) action: usize,
    wanted: Answerer,
}

/// Finds the action that made a request before a turn.
#[expect(clippy::wildcard_enum_match_arm, reason = "one kind of action calls a tool")]
pub(super) fn maker(source: &Source<'_>, request: RequestId, before: Sequence) -> Result<Option<Maker>, RunError> {
    let made = |action: &Action| match action {
        // The effect would copy the payload.
        Action::InvokeTool(call) => (call.request == request).then(|| Answerer::Tool(call.tool.clone())),
        _ => action.effects().find_map(|(made, kind)| match kind {
            _ if made != request || kind == EffectKind::Withdraw => None,
            EffectKind::Tool { name, .. } => Some(Answerer::Tool(name)),
            EffectKind::Timer { .. } | EffectKind::Alarm { .. } => Some(Answerer::Time),
            _ => Some(Answerer::Other),
        }),
    };
    let (mut end, mut count) = (before.number(), PORTION_MIN);
    while end > 1 {
        let start = end.saturating_sub(count).max(1);
        let from = Sequence::new(start).map_err(|_| RunError::Full)?;
        for record in source.read(from, end)?.rev() {
            let record = record?;
            let turn = decode_turn(&record)?;
            let found = (0..)
                .zip(&turn.actions)
                .find_map(|(at, action)| Some((at, made(action)?)));
            if let Some((action, wanted)) = found {
                let turn = record.header().sequence;
                return Ok(Some(Maker { turn, action, wanted }));
            }
        }
        (end, count) = (start, PORTION.min(count * 2));
    }
    Ok(None)
}
