//! The work inside a transaction: appends, moves of heads, claims, removals, and reading a branch.
//!
//! INVARIANT: each piece of work checks the epoch on the view that it writes, so an owner that was
//! fenced off changes nothing.
//!
//! It neither begins nor ends a transaction; `commit.rs` does.
//! Read next: `store/sqlite/recent.rs`.

use std::collections::BTreeSet;
use std::ops::Range;

use rusqlite::{Connection, params};

use super::recent::{Recent, StoredTip};
use super::row::{self, Branch, Run, Workspace};
use super::writing::Writing;
use super::{blobs, chain, standby};
use crate::identity::{BranchName, Epoch, RunId};
use crate::inbox::Need;
use crate::owner;
use crate::record::ClosedRecord;
use crate::store::{Append, Claim, CommitTime, HeadMove, Removal, StoreError};
use crate::store::{Tip, batch};

/// Raises a run's epoch, unless it belongs to another process that lives.
pub(super) fn claim(
    connection: &Connection,
    recent: &mut Recent,
    run: &RunId,
    owner: &str,
) -> Result<Epoch, StoreError> {
    let found = Run::find(connection, run)?;
    let is_new = found.is_none();
    let mut claimed = found.unwrap_or_else(|| Run::unclaimed(run.clone()));
    batch::check_owner(run, &claim_of(&claimed), owner)?;
    if claimed.branches == 0 {
        // A run of that name was never begun, or has been removed whole.
        claimed.note.clear();
    }
    claimed.epoch = claimed.epoch.next()?;
    owner.clone_into(&mut claimed.owner);
    write_run(connection, &claimed, is_new)?;
    recent.note_run(claimed.clone());
    Ok(claimed.epoch)
}

/// The newest claim of a run.
pub(super) fn claim_of(run: &Run) -> Claim {
    Claim {
        epoch: run.epoch,
        owner: run.owner.clone(),
        read_ms: owner::now_ms(),
    }
}

/// Writes a run's row; a new one is counted in the workspace's.
fn write_run(connection: &Connection, run: &Run, is_new: bool) -> Result<(), StoreError> {
    run.write(connection)?;
    if !is_new {
        return Ok(());
    }
    let workspace = Workspace::read(connection)?;
    Workspace {
        runs: workspace.runs + 1,
        ..workspace
    }
    .write(connection)
}

/// Brings claims that were made in memory into a journal that another process has made meanwhile.
///
/// # Errors
/// [`StoreError::EpochFenced`] if somebody else has claimed one of the runs there.
pub(super) fn bring_claims(connection: &Connection, claimed: &[Run]) -> Result<(), StoreError> {
    for run in claimed {
        if let Some(found) = Run::find(connection, &run.name)? {
            return Err(StoreError::EpochFenced {
                run: run.name.clone(),
                held: run.epoch,
                current: found.epoch,
            });
        }
        let run = Run {
            id: None,
            ..run.clone()
        };
        write_run(connection, &run, true)?;
    }
    Ok(())
}

/// Changes the row of a run that the caller holds.
pub(super) fn change_run(
    connection: &Connection,
    recent: &mut Recent,
    run: &RunId,
    epoch: Epoch,
    change: impl FnOnce(&mut Run),
) -> Result<(), StoreError> {
    let mut row = Run::read(connection, run)?;
    batch::check_epoch(run, epoch, row.epoch)?;
    change(&mut row);
    row.write(connection)?;
    recent.note_run(row);
    Ok(())
}

/// Finds a branch; it trusts the absence of one only if the run's row counts as many branches as
/// there are rows.
pub(super) fn find_branch(
    connection: &Connection,
    run: &Run,
    branch: &BranchName,
) -> Result<Option<Branch>, StoreError> {
    let found = Branch::find(connection, run, branch)?;
    if found.is_none() {
        Branch::list(connection, run)?;
    }
    Ok(found)
}

pub(super) fn append<'a>(
    writing: &mut Writing<'a>,
    recent: &mut Recent,
    append: &Append<'a>,
    now: CommitTime,
) -> Result<(), StoreError> {
    let branch_state = recent.branch(writing, append.run, append.branch)?;
    batch::check_epoch(append.run, append.epoch, branch_state.epoch)?;
    let tip = batch::check(append, branch_state.tip.map(|stored| stored.tip))?;
    let mut brought = append.brought().peekable();
    if brought.peek().is_some() {
        let connection = writing.tables()?;
        brought.try_for_each(|blob| blobs::insert(connection, blob))?;
    }
    let mut key = branch_state.tip.map(|stored| stored.record);
    for (index, record) in append.records.iter().enumerate() {
        for blob in record.blobs() {
            if !blobs::has(writing.tables()?, &blob)? {
                return Err(StoreError::MissingBlob {
                    record: record.hash(),
                    blob,
                });
            }
        }
        key = Some(recent.insert(writing, key, record, append.time(index, now))?);
    }
    let record = key.expect("a checked append has records");
    recent.write_branch(writing, branch_state.run, append.branch, StoredTip { tip, record })?;
    recent.write_need(writing, branch_state.run, append.branch, append.need)?;
    if append.taken.is_empty() {
        return Ok(());
    }
    let connection = writing.tables()?;
    let run = recent.row(branch_state.run);
    let mut taken = append.taken.iter();
    taken.try_for_each(|taken| standby::take(connection, run, taken))
}

/// A need that the holder of an epoch sets.
pub(super) struct NewNeed<'a> {
    pub(super) run: &'a RunId,
    pub(super) branch: &'a BranchName,
    pub(super) epoch: Epoch,
    pub(super) need: Need,
}

/// Sets what a branch needs, for the holder of an epoch.
pub(super) fn set_need(connection: &Connection, recent: &mut Recent, set: &NewNeed<'_>) -> Result<(), StoreError> {
    let NewNeed {
        run,
        branch,
        epoch,
        need,
    } = *set;
    let mut writing = Writing::begin(connection);
    let state = recent.branch(&mut writing, run, branch)?;
    batch::check_epoch(run, epoch, state.epoch)?;
    recent.write_need(&mut writing, state.run, branch, need)?;
    writing.tables().map(drop)
}

pub(super) fn move_head<'a>(
    writing: &mut Writing<'a>,
    recent: &mut Recent,
    head_move: &HeadMove<'a>,
) -> Result<(), StoreError> {
    let branch_state = recent.branch(writing, head_move.run, head_move.branch)?;
    batch::check_epoch(head_move.run, head_move.epoch, branch_state.epoch)?;
    batch::check_head(
        head_move.run,
        head_move.branch,
        head_move.expected_head,
        branch_state.tip.map(|stored| stored.tip),
    )?;
    let hash = head_move.to;
    let no_record = || StoreError::NoSuchRecord { hash };
    let connection = writing.tables()?;
    let record = recent.find(connection, &hash)?.ok_or_else(no_record)?;
    let target = chain::read(connection, record, hash)?;
    if target.header().run != *head_move.run {
        return Err(no_record());
    }
    let tip = Tip {
        hash,
        sequence: target.header().sequence,
    };
    recent.write_branch(writing, branch_state.run, head_move.branch, StoredTip { tip, record })?;
    recent.write_need(writing, branch_state.run, head_move.branch, Need::Nothing)
}

pub(super) fn remove(connection: &Connection, removal: &Removal<'_>) -> Result<(), StoreError> {
    let mut run = Run::read(connection, removal.run)?;
    batch::check_epoch(removal.run, removal.epoch, run.epoch)?;
    let (gone, stay): (Vec<Branch>, Vec<Branch>) = Branch::list(connection, &run)?
        .into_iter()
        .partition(|branch| removal.branches.contains(&branch.head.branch));
    let staying: BTreeSet<crate::identity::RecordHash> = stay.iter().map(|branch| branch.head.hash).collect();
    let going = chain::with_what_hangs_on(connection, removal.records)?;
    batch::check_removal(going.values(), &staying)?;
    let named = chain::blobs_named_since(connection, &removal.since)?;
    for branch in &gone {
        let sql = "DELETE FROM heads WHERE run = ?1 AND branch = ?2";
        row::change(
            connection,
            sql,
            params![run.id, branch.head.branch.as_str()],
            "removing a branch",
        )?;
        standby::forget_branch(connection, &run, &branch.head.branch)?;
        run.branches -= 1;
    }
    run.write(connection)?;
    going
        .iter()
        .try_for_each(|(key, hash)| chain::remove(connection, *key, hash))?;
    chain::settle(connection)?;
    removal
        .blobs
        .iter()
        .filter(|blob| !named.contains(blob))
        .try_for_each(|blob| blobs::remove(connection, blob))
}

/// Reads positions of a branch and checks that the records found belong there.
pub(super) fn read_range(
    connection: &Connection,
    run: &RunId,
    branch: &Branch,
    range: Range<u64>,
) -> Result<Vec<ClosedRecord>, StoreError> {
    let head = &branch.head;
    let range = range.start..range.end.min(head.sequence.number() + 1);
    let records = chain::read_range(connection, branch.record, head.hash, &range)?;
    let belongs =
        |record: &ClosedRecord, sequence| record.header().run == *run && record.header().sequence.number() == sequence;
    if records
        .iter()
        .zip(range)
        .all(|(record, sequence)| belongs(record, sequence))
    {
        Ok(records)
    } else {
        Err(StoreError::Inconsistent {
            what: "a record stands in another one's place",
        })
    }
}
