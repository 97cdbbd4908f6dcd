//! What other branches know of calls that this one waits for, or makes again.
//!
//! A call belongs to every branch that stands on the record which made it, and is executed once: the branch that was there when its
//! result came has recorded it, and the others take it from there. So it is with calls in flight when a branch was left or forked. Where a
//! branch was taken back and does the same again, turn for turn, it makes the same calls, and is told what came of them.
//! INVARIANT: a result is taken only from a branch that shares the record which made the call, or that the same branch wrote with the same
//! turns from a shared record on.
//! It does not decide about calls in flight whose result nobody knows; `replay.rs` does.
//! Read next: `replay.rs`.

use std::collections::{BTreeMap, BTreeSet};

use duet_journal::{Blob, BranchName, Head, Record, RecordHash, Sequence};
use preserves::IOValue;

use crate::action::Action;
use crate::driver::EffectKind;
use crate::model::identity::RequestId;
use crate::record::{Body, TurnRecord};
use crate::run::error::RunError;
use crate::run::source::{PORTION, Source};
use crate::run::tip::Tip;
use crate::state::RunState;
use crate::state::event::Event;
use crate::state::request::Question;

/// What a call came back with, as a record tells it.
pub(crate) type Outcome = Result<IOValue, IOValue>;

/// What a run knows of the calls that it may be making again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory {
    pub(super) lines: Lines,
    /// Tools that may be called again.
    pub(super) repeatable: BTreeSet<String>,
    pub(super) recalled: Vec<Recalled>,
}

/// The branches that lead on from where a run stands.
#[derive(Clone, Debug)]
pub(super) enum Lines {
    /// Not looked for yet; those that lead on from here.
    From(Tip),
    /// These, which have the same turns as this one up to a point; once a branch has gone another way it does not come back.
    Known(Vec<Head>, Sequence),
}

impl Default for Lines {
    fn default() -> Self {
        Self::Known(Vec::new(), Sequence::FIRST)
    }
}

/// A call that was not made again, because the same turn had made it before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recalled {
    /// The tool.
    pub tool: String,
    /// The turn, which is the same on both branches.
    pub turn: Sequence,
    /// The branch that stands on it.
    pub branch: BranchName,
    /// Whether the result was known; otherwise the call failed as one that was interrupted.
    pub is_known: bool,
}

/// What becomes of requests that were in flight when the run was last executed.
#[derive(Clone, Debug)]
pub struct Recovery {
    /// Tools that may be called again under the same key; a call of any other is answered with the failure `interrupted`.
    pub repeatable: BTreeSet<String>,
    /// Those of them whose effect may have been taken back since: they are called again even if another branch knows the result.
    pub reversible: BTreeSet<String>,
}

impl Default for Recovery {
    /// Looking and writing whole files may be repeated.
    fn default() -> Self {
        let repeatable = ["workspace/list", "workspace/read", "workspace/write"]
            .map(str::to_owned)
            .into();
        let reversible = ["workspace/write".to_owned()].into();
        Self { repeatable, reversible }
    }
}

impl Memory {
    /// What a run knows that is opened at `tip`.
    pub(crate) fn at(tip: Option<Tip>, recovery: &Recovery) -> Self {
        Self {
            lines: tip.map_or_else(Lines::default, Lines::From),
            repeatable: recovery.repeatable.clone(),
            recalled: Vec::new(),
        }
    }
}

pub(super) type Found = (Sequence, BranchName, Option<Outcome>);

impl Memory {
    /// Finds another branch that made a call in the same turn, and what came of the call there.
    pub(super) fn find(&mut self, source: &Source<'_>, request: RequestId) -> Result<Option<Found>, RunError> {
        if let Lines::From(tip) = self.lines {
            self.lines = Lines::Known(ahead(source, tip)?, tip.sequence);
        }
        let Lines::Known(lines, alike) = &mut self.lines else {
            return Ok(None);
        };
        if lines.is_empty() {
            return Ok(None);
        }
        let Some((at, _)) = made(source, request)? else {
            return Ok(None);
        };
        if at > *alike {
            *lines = going_along(source, std::mem::take(lines), (*alike, at))?;
            *alike = at;
        }
        for line in &*lines {
            let outcome = answered(source, &line.branch, (at, line.sequence), request)?;
            if outcome.is_some() {
                return Ok(Some((at, line.branch.clone(), outcome)));
            }
        }
        Ok(lines.first().map(|line| (at, line.branch.clone(), None)))
    }
}

/// The other branches that lead on from a record.
fn ahead(source: &Source<'_>, tip: Tip) -> Result<Vec<Head>, RunError> {
    let mut ahead = Vec::new();
    for head in source.store.heads(source.run)? {
        if head.branch != *source.branch && head.sequence > tip.sequence {
            let there = source.store.record_at(source.run, &head.branch, tip.sequence)?;
            ahead.extend(there.filter(|record| record.hash() == tip.hash).map(|_| head));
        }
    }
    Ok(ahead)
}

/// Those of the branches whose turns after one and up to another are the same as this one's, and written on this branch. Their records may
/// differ in whether there is a snapshot.
fn going_along(
    source: &Source<'_>,
    mut lines: Vec<Head>,
    (after, last): (Sequence, Sequence),
) -> Result<Vec<Head>, RunError> {
    let mut start = after.number() + 1;
    while start <= last.number() && !lines.is_empty() {
        let end = (last.number() + 1).min(start + PORTION);
        let ours = portion(source, source.branch, start, end)?;
        let mut along = Vec::new();
        for line in lines {
            let theirs = portion(source, &line.branch, start, end)?;
            let is_same = |(one, other): (&Record, &Record)| {
                one.header().branch == other.header().branch && one.body_bytes() == other.body_bytes()
            };
            if ours.len() == theirs.len() && ours.iter().zip(&theirs).all(is_same) {
                along.push(line);
            }
        }
        lines = along;
        start = end;
    }
    Ok(lines)
}

/// Finds the results that other branches have recorded for calls that are open in `state`, except those of `again`.
///
/// # Errors
/// [`RunError::Store`], [`RunError::Decode`].
pub(crate) fn answers(
    source: &Source<'_>,
    state: &RunState,
    again: &BTreeSet<String>,
) -> Result<BTreeMap<RequestId, Outcome>, RunError> {
    let open = state.requests.iter().filter(|(_, request)| request.answer.is_none());
    let calls =
        open.filter(|(_, request)| matches!(&request.question, Question::Tool { name, .. } if !again.contains(name)));
    let calls: Vec<RequestId> = calls.map(|(id, _)| *id).collect();
    if calls.is_empty() {
        return Ok(BTreeMap::new());
    }
    let heads = source.store.heads(source.run)?;
    let others: Vec<_> = heads.into_iter().filter(|head| head.branch != *source.branch).collect();
    let mut answers = BTreeMap::new();
    for request in calls {
        if others.is_empty() {
            break;
        }
        let Some((at, hash)) = made(source, request)? else {
            continue;
        };
        for other in others.iter().filter(|other| other.sequence > at) {
            let there = source.store.record_at(source.run, &other.branch, at)?;
            if there.is_some_and(|record| record.hash() == hash)
                && let Some(outcome) = answered(source, &other.branch, (at, other.sequence), request)?
            {
                answers.insert(request, outcome);
                break;
            }
        }
    }
    Ok(answers)
}

/// Makes the consents to calls that are open in `state` and have told what they replace.
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

/// Finds the record in which a call was made, from the newest backwards.
fn made(source: &Source<'_>, request: RequestId) -> Result<Option<(Sequence, RecordHash)>, RunError> {
    let head = source.store.head(source.run, source.branch)?;
    let mut end = head.map_or(0, |head| head.sequence.number() + 1);
    let is_it = |action: &Action| {
        let mut effects = action.effects();
        effects.any(|(made, kind)| made == request && matches!(kind, EffectKind::Tool { .. }))
    };
    while end > 0 {
        let start = end.saturating_sub(PORTION);
        for record in portion(source, source.branch, start, end)?.into_iter().rev() {
            let turn = turn(&record)?;
            if turn.is_some_and(|turn| turn.actions.iter().any(is_it)) {
                return Ok(Some((record.header().sequence, record.hash())));
            }
        }
        end = start;
    }
    Ok(None)
}

/// Finds the answer to a request among the records of a branch that follow `range.0`.
fn answered(
    source: &Source<'_>,
    branch: &BranchName,
    (after, last): (Sequence, Sequence),
    wanted: RequestId,
) -> Result<Option<Outcome>, RunError> {
    let mut start = after.number() + 1;
    while start <= last.number() {
        let end = (last.number() + 1).min(start + PORTION);
        for record in portion(source, branch, start, end)? {
            let Some(turn) = turn(&record)? else { continue };
            let found = turn.events.into_iter().find_map(|event| {
                if let Event::Answered { request, outcome } = event {
                    (request == wanted).then_some(outcome)
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

fn portion(source: &Source<'_>, branch: &BranchName, from: u64, to: u64) -> Result<Vec<Record>, RunError> {
    let position = |number| Sequence::new(number).map_err(|_| RunError::Full);
    Ok(source.store.read(source.run, branch, position(from)?..position(to)?)?)
}

fn turn(record: &Record) -> Result<Option<TurnRecord>, RunError> {
    let sequence = record.header().sequence;
    match Body::decode(&record.body()).map_err(|source| RunError::Decode { sequence, source })? {
        Body::Turn(turn) => Ok(Some(turn)),
        Body::Genesis(_) => Ok(None),
    }
}
