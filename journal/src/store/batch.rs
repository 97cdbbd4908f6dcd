//! The checks on appends and removals that every store makes alike.
//!
//! INVARIANT: after `check`, the first record stands on the head that was found, and each other on
//! the one before it.
//! It reads nothing from a store; stores say what they found.
//! Read next: `store/memory.rs`.

use std::collections::BTreeSet;

use super::{Append, Claim, StoreError, Tip};
use crate::identity::{BranchName, Epoch, RecordHash, RunId, Sequence};
use crate::owner::Owner;
use crate::record::Record;

/// Checks an append against the head found, and returns the head to come.
///
/// # Errors
/// [`StoreError::HeadMoved`], [`StoreError::NoRecords`], [`StoreError::NotAChild`].
pub fn check(append: &Append<'_>, found: Option<Tip>) -> Result<Tip, StoreError> {
    check_head(append.run, append.branch, append.expected_head, found)?;
    let Some((first, rest)) = append.records.split_first() else {
        return Err(StoreError::NoRecords {
            run: append.run.clone(),
            branch: append.branch.clone(),
        });
    };
    let mut tip = check_child(append, first, found)?;
    for record in rest {
        tip = check_child(append, record, Some(tip))?;
    }
    debug_assert!(append.records.last().is_some_and(|last| last.hash() == tip.hash));
    Ok(tip)
}

fn check_child(append: &Append<'_>, record: &Record, before: Option<Tip>) -> Result<Tip, StoreError> {
    let header = record.header();
    let parent = before.map(|tip| tip.hash);
    let position = before.map_or(Some(Sequence::FIRST), |tip| tip.sequence.next());
    let is_child = header.parent == parent && Some(header.sequence) == position;
    if is_child && header.run == *append.run && header.branch == *append.branch {
        return Ok(Tip {
            hash: record.hash(),
            sequence: header.sequence,
        });
    }
    Err(StoreError::NotAChild {
        record: record.hash(),
        expected_parent: parent,
    })
}

/// Checks that a branch is where the caller believes.
///
/// # Errors
/// [`StoreError::HeadMoved`].
pub fn check_head(
    run: &RunId,
    branch: &BranchName,
    expected: Option<RecordHash>,
    found: Option<Tip>,
) -> Result<(), StoreError> {
    let found = found.map(|tip| tip.hash);
    if expected == found {
        return Ok(());
    }
    Err(StoreError::HeadMoved {
        run: run.clone(),
        branch: branch.clone(),
        expected,
        found,
    })
}

/// Checks that nobody has claimed the run since the caller did.
///
/// # Errors
/// [`StoreError::EpochFenced`].
pub fn check_epoch(run: &RunId, held: Epoch, current: Epoch) -> Result<(), StoreError> {
    if held == current {
        Ok(())
    } else {
        Err(StoreError::EpochFenced {
            run: run.clone(),
            held,
            current,
        })
    }
}

/// Checks that a run does not belong to another process that lives.
///
/// # Errors
/// [`StoreError::Owned`].
pub fn check_owner(run: &RunId, found: &Claim, claimant: &str) -> Result<(), StoreError> {
    let Some(by) = found.living() else { return Ok(()) };
    if claimant.parse().is_ok_and(|claimant: Owner| claimant.is_same(&by)) {
        return Ok(());
    }
    Err(StoreError::Owned {
        run: run.clone(),
        by: Box::new(by),
    })
}

/// Checks that no record goes that a staying branch needs: since all that hangs on a record goes
/// with it, one would take the branch's head along.
///
/// # Errors
/// [`StoreError::Inconsistent`].
pub fn check_removal<'a>(
    mut going: impl Iterator<Item = &'a RecordHash>,
    staying: &BTreeSet<RecordHash>,
) -> Result<(), StoreError> {
    if going.any(|record| staying.contains(record)) {
        return Err(StoreError::Inconsistent {
            what: "a record that is to be removed is on the way to a branch that stays",
        });
    }
    Ok(())
}
