//! The point where two branches part, and their first difference.
//!
//! INVARIANT: up to and including the last shared turn both branches have the same records; from
//! there to the first difference their turns are equal, but on different records.
//! It compares records, not states; to compare facts, compare two shadows.
//! Read next: `chain.rs`.

use duet_journal::{Record, Sequence};

use crate::record::divergence::{Divergence, difference};
use crate::record::{Body, TurnRecord};
use crate::run::error::RunError;
use crate::run::source::BranchPart;

/// The maximum number of turns that are read from each side at once.
const PORTION: u64 = 256;

/// The relation of two branches.
#[derive(Clone, Debug, PartialEq)]
pub struct BranchRelation {
    /// The newest turn whose record both have; `None` if they belong to different runs.
    pub shared: Option<Sequence>,
    /// The newest turn up to which both did the same, on the same records or not.
    pub alike: Option<Sequence>,
    /// The first difference between the turns; `None` if one side has no turn there.
    pub first: Option<Box<Divergence>>,
}

/// Finds the point where two branches part, up to a turn of each.
///
/// # Errors
/// [`RunError`] if a record cannot be read.
pub fn part(left: BranchPart<'_>, right: BranchPart<'_>) -> Result<BranchRelation, RunError> {
    let end = left.end.number().min(right.end.number()) + 1;
    let (left, right) = (left.source, right.source);
    let shared = left.count_shared(&right, end)?;
    let mut next = shared;
    while next < end {
        let to = end.min(next + PORTION);
        let from = position(next)?;
        for (one, other) in left.read(from, to)?.zip(right.read(from, to)?) {
            let (one, other) = (one?, other?);
            if one.body_bytes() != other.body_bytes()
                && let Some(first) = compare(&one, &other)?
            {
                return relation(shared, next, Some(first));
            }
            next += 1;
        }
    }
    relation(shared, end, None)
}

fn relation(shared: u64, alike: u64, first: Option<Box<Divergence>>) -> Result<BranchRelation, RunError> {
    let before = |count: u64| count.checked_sub(1).map(position).transpose();
    Ok(BranchRelation {
        shared: before(shared)?,
        alike: before(alike)?,
        first,
    })
}

fn position(number: u64) -> Result<Sequence, RunError> {
    Sequence::new(number).map_err(|_| RunError::Full)
}

/// Finds the first difference between two records; `None` if they are equal but for the version of
/// their bodies.
fn compare(one: &Record, other: &Record) -> Result<Option<Box<Divergence>>, RunError> {
    let sequence = one.header().sequence;
    let read = |record: &Record| Body::decode(&record.body()).map_err(|source| RunError::Decode { sequence, source });
    let (left, right) = (read(one)?, read(other)?);
    let first = match (&left, &right) {
        (Body::Turn(left), Body::Turn(right)) => difference(sequence, left, right),
        (Body::Genesis(left), Body::Genesis(right)) if left == right => None,
        (Body::Genesis(_), _) | (_, Body::Genesis(_)) => Some(Divergence {
            sequence,
            actor: actor_of(&left)
                .or(actor_of(&right))
                .unwrap_or(crate::action::exit::MAIN),
            part: "beginning",
            element: None,
            journal_says: Some(one.body()),
            program_did: Some(other.body()),
            span: None,
            versions: Vec::new(),
        }),
    };
    Ok(first.map(Box::new))
}

fn actor_of(body: &Body) -> Option<crate::model::identity::ActorId> {
    match body {
        Body::Turn(TurnRecord { actor, .. }) => Some(*actor),
        Body::Genesis(_) => None,
    }
}
