//! What other branches know of calls that were in flight when this one was left or forked.
//!
//! A call that was made before a fork belongs to every branch that stands on it. It is executed once: the branch that was there when its
//! result came has recorded it, and the others take it from there.
//! INVARIANT: a result is taken only from a branch that shares the very record which made the call.
//! It does not decide about calls whose result nobody knows; `replay.rs` does.
//! Read next: `replay.rs`.

use std::collections::{BTreeMap, BTreeSet};

use duet_journal::{Blob, BranchName, RecordHash, Sequence};
use preserves::IOValue;

use crate::action::Action;
use crate::codec::Codec;
use crate::driver::{EffectKind, RequestId};
use crate::event::Event;
use crate::record::{Body, TurnRecord};
use crate::replay::Source;
use crate::run::RunError;
use crate::state::{Question, RunState};

/// Records are read from the store in portions of this many.
const PORTION: u64 = 256;

/// What a call came back with, as a record tells it.
pub(crate) type Outcome = Result<IOValue, IOValue>;

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
    let is_it = |action: &Action| matches!(action, Action::InvokeTool(call) if call.request == request);
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

fn portion(
    source: &Source<'_>,
    branch: &BranchName,
    from: u64,
    to: u64,
) -> Result<Vec<duet_journal::Record>, RunError> {
    let position = |number| Sequence::new(number).map_err(|_| RunError::Full);
    Ok(source.store.read(source.run, branch, position(from)?..position(to)?)?)
}

fn turn(record: &duet_journal::Record) -> Result<Option<TurnRecord>, RunError> {
    let sequence = record.header().sequence;
    match Body::decode(&record.body()).map_err(|source| RunError::Decode { sequence, source })? {
        Body::Turn(turn) => Ok(Some(turn)),
        Body::Genesis(_) => Ok(None),
    }
}
