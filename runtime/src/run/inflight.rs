//! Results that other branches recorded for calls that this branch waits for or repeats.
//!
//! A call belongs to every branch that contains the record which made it, and is executed once. The
//! branch that was current when the result came has recorded it, and the other branches copy it
//! from there; this covers calls in flight when a branch was left or forked. A branch that was
//! rewound and repeats calls of its past receives their recorded results.
//! INVARIANT: a result comes only from a branch that shares the record which made the call, or from
//! this branch's own past.
//! It does not decide about calls in flight without a known result; `recovery.rs` does, nor which
//! call repeats another; `past.rs` does. Read next: `past.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use duet_journal::store::one_by_one;
use duet_journal::{Blob, BranchName, Head, Record, Sequence, StoreError, Tip};
use preserves::{IOValue, Value, ValueImpl};

use crate::action::Action;
use crate::driver::{EffectKind, Input, ToolFailure};
use crate::model::identity::RequestId;
use crate::model::value::Fact;
use crate::record::{Body, TurnRecord};
use crate::run::error::RunError;
use crate::run::input::{CONFLICT, NOT_FOUND, answered, interrupted};
use crate::run::past::{Past, pasts};
use crate::run::source::{PORTION, Source};
use crate::state::RunState;
use crate::state::event::Event;
use crate::state::request::Question;

/// The recorded result of a call.
pub(crate) type Outcome = Result<IOValue, IOValue>;

/// What a run knows of calls that it may be repeating.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory {
    pub(super) lines: Lines,
    /// Tools that may be called again.
    pub(super) repeatable: BTreeSet<String>,
    /// Tools whose payload may say so of one call.
    pub(super) declaring: BTreeSet<String>,
    /// Calls that are made, whatever was made before.
    pub(super) afresh: BTreeSet<RequestId>,
    pub(super) recalled: Vec<Recalled>,
    /// Calls that are made again although other branches have recorded results, with these; and
    /// those that have reported what they replace.
    pub(super) resumed: BTreeMap<RequestId, Option<Outcome>>,
}

/// The branches that lead on from a run's position.
#[derive(Clone, Debug)]
pub(super) enum Lines {
    /// Branches beyond this tip, not looked up yet.
    From(Tip),
    /// The pasts that the branch has not contradicted.
    Known(Vec<Past>),
}

impl Default for Lines {
    fn default() -> Self {
        Self::Known(Vec::new())
    }
}

/// A call that the run did not make again, because it had made it before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recalled {
    /// The tool.
    pub tool: String,
    /// The turn that made it there.
    pub turn: Sequence,
    /// The branch that contains it.
    pub branch: BranchName,
    /// Whether the result was known; otherwise the call failed as interrupted.
    pub is_known: bool,
}

/// The fate of requests that were in flight when the run was last executed.
#[derive(Clone, Debug)]
pub struct Recovery {
    /// Tools that may be called again under the same key. A call of any other tool fails with
    /// `interrupted`.
    pub repeatable: BTreeSet<String>,
    /// Other tools, of whose calls those may be made again whose payload says so with the field
    /// [`REPEATABLE`].
    pub declaring: BTreeSet<String>,
    /// Those among the repeatable tools whose effect may have been undone since. They are called
    /// again even if another branch knows the result.
    pub reversible: BTreeSet<String>,
    /// Calls that are made, whatever was made before and whatever other branches know.
    pub afresh: BTreeSet<RequestId>,
    /// The deadlines of timers that have none on record, in milliseconds since 1970; a timer
    /// without one starts again.
    pub deadlines: BTreeMap<RequestId, u64>,
}

impl Default for Recovery {
    /// Allows repeating reads and writes of whole files.
    fn default() -> Self {
        let repeatable = ["workspace/list", "workspace/read", "workspace/write"]
            .map(str::to_owned)
            .into();
        let reversible = ["workspace/write".to_owned()].into();
        Self {
            repeatable,
            declaring: BTreeSet::new(),
            reversible,
            afresh: BTreeSet::new(),
            deadlines: BTreeMap::new(),
        }
    }
}

/// The field of a payload by which a program declares that a call may be made again under the same
/// key, if nobody knows whether it happened.
pub const REPEATABLE: &str = "repeatable";

/// Says whether a payload declares that its call may be made again, to a tool that lets it.
pub(super) fn is_declared(declaring: &BTreeSet<String>, tool: &str, payload: &Fact) -> bool {
    if !declaring.contains(tool) {
        return false;
    }
    let payload = payload.value();
    let said = || payload.get(&Value::symbol(REPEATABLE))?.as_boolean();
    payload.is_dictionary() && said() == Some(true)
}

impl Memory {
    /// Returns what a run knows when it is opened at `tip`.
    pub(crate) fn at(tip: Option<Tip>, recovery: &Recovery) -> Self {
        Self {
            lines: tip.map_or_else(Lines::default, Lines::From),
            repeatable: recovery.repeatable.clone(),
            declaring: recovery.declaring.clone(),
            afresh: recovery.afresh.clone(),
            recalled: Vec::new(),
            resumed: BTreeMap::new(),
        }
    }

    /// Returns the result that a call has instead of a result from outside, if it has one.
    ///
    /// A call that is made again finds files as later turns of another branch, or somebody else,
    /// left them. It then has the result that it had there, or none.
    pub(super) fn instead(&mut self, result: &Input) -> Option<Input> {
        let Input::ToolResult { request, outcome } = result else {
            return None;
        };
        let known = self.resumed.remove(request)?;
        let is_changed = |failure: &ToolFailure| [CONFLICT, NOT_FOUND].contains(&&*failure.kind);
        let instead = || known.map_or_else(|| interrupted(*request), |outcome| answered(*request, outcome));
        outcome.as_ref().is_err_and(is_changed).then(instead)
    }
}

/// A call that another branch has made before.
pub(super) struct FoundCall {
    /// The turn that made it there.
    pub(super) turn: Sequence,
    /// The branch.
    pub(super) branch: BranchName,
    /// The call's result there, if there is one.
    pub(super) result: Option<RecordedResult>,
}

/// A result with the turn that received it.
pub(super) struct RecordedResult {
    pub(super) turn: Sequence,
    pub(super) outcome: Outcome,
}

impl Memory {
    /// Finds a past that made the call of a request before; one with a result before others.
    pub(super) fn find(&mut self, source: &Source<'_>, request: RequestId) -> Result<Option<FoundCall>, RunError> {
        if let Lines::From(tip) = self.lines {
            self.lines = Lines::Known(pasts(source, tip)?);
        }
        let Lines::Known(known) = &mut self.lines else {
            return Ok(None);
        };
        if known.is_empty() {
            return Ok(None);
        }
        let Some(Tip { sequence: turn, .. }) = made(source, request)? else {
            return Ok(None);
        };
        let mut repeated = Vec::new();
        for mut past in std::mem::take(known) {
            if past.follow(source, turn)? {
                repeated.push(past);
            }
        }
        *known = repeated;
        repeated_call(source, known, request)
    }
}

/// Finds the call that a request repeats on some pasts; one with a result before others.
fn repeated_call(source: &Source<'_>, pasts: &[Past], request: RequestId) -> Result<Option<FoundCall>, RunError> {
    let mut without = None;
    for past in pasts {
        let Some(call) = past.repeated(request) else { continue };
        let found = answered_ahead(source, std::slice::from_ref(&past.head), call.turn, call.request)?;
        if let Some((branch, result)) = found {
            return Ok(Some(FoundCall {
                turn: call.turn,
                branch,
                result: Some(result),
            }));
        }
        without.get_or_insert(FoundCall {
            turn: call.turn,
            branch: past.head.branch.clone(),
            result: None,
        });
    }
    Ok(without)
}

/// Finds the result of a call that some branches have made in a turn: on one of them, else on a
/// branch that has the same record, because a branch that keeps a call may end before its result.
fn answered_ahead(
    source: &Source<'_>,
    lines: &[Head],
    turn: Sequence,
    request: RequestId,
) -> Result<Option<(BranchName, RecordedResult)>, RunError> {
    for line in lines {
        let result = recorded(source, &line.branch, turns_after(turn, line.sequence), request)?;
        if let Some(result) = result {
            return Ok(Some((line.branch.clone(), result)));
        }
    }
    let at_turn = |head: &Head| {
        let there = source.store.closed_at(source.run, &head.branch, turn)?;
        Ok::<_, RunError>(there.map(|record| record.hash()))
    };
    let made: BTreeSet<_> = lines.iter().map(at_turn).collect::<Result<_, _>>()?;
    if made.is_empty() {
        return Ok(None);
    }
    for head in source.store.heads(source.run)? {
        if head.sequence > turn
            && made.contains(&at_turn(&head)?)
            && let Some(result) = recorded(source, &head.branch, turns_after(turn, head.sequence), request)?
        {
            return Ok(Some((head.branch, result)));
        }
    }
    Ok(None)
}

/// The positions after `after` and up to `last`.
fn turns_after(after: Sequence, last: Sequence) -> Range<u64> {
    after.number() + 1..last.number() + 1
}

fn position(number: u64) -> Result<Sequence, RunError> {
    Sequence::new(number).map_err(|_| RunError::Full)
}

/// Finds the results that other branches have recorded for calls that are open in `state`.
///
/// # Errors
/// [`RunError::Store`], [`RunError::Decode`].
pub(crate) fn answers(source: &Source<'_>, state: &RunState) -> Result<BTreeMap<RequestId, Outcome>, RunError> {
    let open = state.requests.iter().filter(|(_, request)| request.answer.is_none());
    let calls = open.filter(|(_, request)| matches!(&request.question, Question::Tool { .. }));
    let calls: Vec<RequestId> = calls.map(|(id, _)| *id).collect();
    if calls.is_empty() {
        return Ok(BTreeMap::new());
    }
    let mut answers = BTreeMap::new();
    for request in calls {
        let Some(tip) = made(source, request)? else {
            continue;
        };
        let found = match answered_ahead(source, &sharing(source, tip)?, tip.sequence, request)? {
            Some((_, result)) => Some(result),
            None => repeated_before(source, tip, request)?,
        };
        answers.extend(found.map(|result| (request, result.outcome)));
    }
    Ok(answers)
}

/// Lists the other branches that lead on from a record.
fn sharing(source: &Source<'_>, tip: Tip) -> Result<Vec<Head>, RunError> {
    let mut sharing = Vec::new();
    for head in source.store.heads(source.run)? {
        let leads_on = head.branch != *source.branch && head.sequence > tip.sequence;
        if leads_on
            && source
                .store
                .closed_at(source.run, &head.branch, tip.sequence)?
                .is_some_and(|there| there.hash() == tip.hash)
        {
            sharing.push(head);
        }
    }
    Ok(sharing)
}

/// Finds the result of a call that a branch made in a turn, and before on a past that it repeats.
fn repeated_before(source: &Source<'_>, tip: Tip, request: RequestId) -> Result<Option<RecordedResult>, RunError> {
    let mut repeated = Vec::new();
    for mut past in pasts(source, tip)? {
        if past.follow(source, tip.sequence)? {
            repeated.push(past);
        }
    }
    Ok(repeated_call(source, &repeated, request)?.and_then(|found| found.result))
}

/// Finds the results of calls that are open in `state`, the state after turn `at`: in later turns
/// of the branch itself, else as [`answers`] does.
///
/// # Errors
/// As [`answers`].
pub(crate) fn later_answers(
    source: &Source<'_>,
    state: &RunState,
    at: Sequence,
) -> Result<BTreeMap<RequestId, Outcome>, RunError> {
    let mut found = answers(source, state)?;
    let head = source.store.head(source.run, source.branch)?;
    let Some(last) = head.map(|head| head.sequence).filter(|last| *last > at) else {
        return Ok(found);
    };
    for (id, request) in state.requests.iter().filter(|(_, request)| request.answer.is_none()) {
        if matches!(request.question, Question::Tool { .. })
            && let Some(result) = recorded(source, source.branch, turns_after(at, last), *id)?
        {
            found.insert(*id, result.outcome);
        }
    }
    Ok(found)
}

/// Makes the consents to open calls in `state` that have reported what they replace.
///
/// # Errors
/// [`RunError::Store`] if a content is missing.
pub(crate) fn contents(source: &Source<'_>, state: &RunState) -> Result<BTreeMap<RequestId, EffectKind>, RunError> {
    let mut consents = BTreeMap::new();
    for (id, request) in state.requests.iter().filter(|(_, request)| request.answer.is_none()) {
        let Some(kept) = &request.kept else { continue };
        let content = |hash| Ok::<Blob, RunError>(Blob::new(source.store.blob(hash)?)?);
        let contents = kept.contents.iter().map(content).collect::<Result<_, _>>()?;
        let note = kept.note.clone();
        consents.insert(*id, EffectKind::Proceed { note, contents });
    }
    Ok(consents)
}

/// Finds the record that made a call.
fn made(source: &Source<'_>, request: RequestId) -> Result<Option<Tip>, RunError> {
    let head = source.store.head(source.run, source.branch)?;
    let end = head.map_or(0, |head| head.sequence.number() + 1);
    let made = request_before(source, request, end)?;
    Ok(made
        .filter(|made| matches!(made.kind, EffectKind::Tool { .. }))
        .map(|made| made.record))
}

/// A request, and the record that made it.
pub(super) struct MadeRequest {
    record: Tip,
    pub(super) kind: EffectKind,
}

/// Finds the newest record before a position that made a request.
///
/// # Errors
/// [`RunError::Store`], [`RunError::Decode`].
pub(super) fn request_before(
    source: &Source<'_>,
    request: RequestId,
    mut end: u64,
) -> Result<Option<MadeRequest>, RunError> {
    let of_action = |action: &Action| {
        let mut effects = action.effects();
        effects.find(|(made, kind)| *made == request && kind.is_request())
    };
    while end > 0 {
        let start = end.saturating_sub(PORTION);
        for record in portion(source, source.branch, start..end)?.rev() {
            let record = record?;
            let Some(turn) = turn(&record)? else { continue };
            if let Some((_, kind)) = turn.actions.iter().find_map(of_action) {
                let (hash, sequence) = (record.hash(), record.header().sequence);
                let record = Tip { hash, sequence };
                return Ok(Some(MadeRequest { record, kind }));
            }
        }
        end = start;
    }
    Ok(None)
}

/// Finds the answer to a request among the records of a branch at some positions.
fn recorded(
    source: &Source<'_>,
    branch: &BranchName,
    positions: Range<u64>,
    wanted: RequestId,
) -> Result<Option<RecordedResult>, RunError> {
    let mut start = positions.start;
    while start < positions.end {
        let end = positions.end.min(start + PORTION);
        for record in portion(source, branch, start..end)? {
            let record = record?;
            let Some(turn) = turn(&record)? else { continue };
            let sequence = record.header().sequence;
            let found = turn.events.into_iter().find_map(|event| {
                if let Event::Answered { request, outcome } = event {
                    (request == wanted).then_some(RecordedResult {
                        turn: sequence,
                        outcome,
                    })
                } else {
                    None
                }
            });
            if found.is_some() {
                return Ok(found);
            }
        }
        start = end;
    }
    Ok(None)
}

pub(super) fn portion<'a>(
    source: &Source<'a>,
    branch: &BranchName,
    positions: Range<u64>,
) -> Result<impl DoubleEndedIterator<Item = Result<Record, StoreError>> + use<'a>, RunError> {
    Ok(one_by_one(
        source.store,
        source.run,
        branch,
        position(positions.start)?..position(positions.end)?,
    )?)
}

pub(super) fn turn(record: &Record) -> Result<Option<TurnRecord>, RunError> {
    let sequence = record.header().sequence;
    match Body::decode(&record.body()).map_err(|source| RunError::Decode { sequence, source })? {
        Body::Turn(turn) => Ok(Some(turn)),
        Body::Genesis(_) => Ok(None),
    }
}
