//! The records and blobs that can be removed together with some branches.
//!
//! INVARIANT: every record on the way to a branch that stays, and every blob that such a record
//! names, stays, in all runs of the store.
//! It does not choose the branches, and records that no branch leads to are not looked for.
//! Read next: `copy.rs`.

use std::collections::BTreeSet;

use crate::identity::{BlobHash, BranchName, Epoch, RecordHash, RunId, Sequence};
use crate::record::Record;
use crate::store::{Head, Mark, Removal, Store, StoreError};

/// Records are read in portions of this many.
const PORTION: u64 = 256;

/// What can be removed together with some branches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Garbage {
    /// The branches.
    pub branches: Vec<BranchName>,
    /// The records that only they lead to.
    pub records: Vec<RecordHash>,
    /// The bytes of these records.
    pub record_bytes: u64,
    /// The blobs that only these records name.
    pub blobs: Vec<BlobHash>,
    /// The bytes of these blobs.
    pub blob_bytes: u64,
    /// Where the store stood before the search began.
    pub since: Mark,
}

impl Garbage {
    /// Finds what only the branches of `run` lead to for which `is_given_up` says yes.
    ///
    /// # Errors
    /// If a record cannot be read: a damaged branch is to be repaired first.
    pub fn find(
        store: &dyn Store,
        run: &RunId,
        mut is_given_up: impl FnMut(&Head) -> bool,
    ) -> Result<Self, StoreError> {
        let since = store.mark()?;
        let (given_up, kept): (Vec<Head>, Vec<Head>) =
            store.heads(run)?.into_iter().partition(|head| is_given_up(head));
        let mut staying = Walk::default();
        for head in &kept {
            staying.walk(store, run, head, |_| ())?;
        }
        let mut garbage = Self {
            since,
            ..Self::default()
        };
        let mut going = Walk {
            seen: staying.seen,
            blobs: BTreeSet::new(),
        };
        for head in &given_up {
            going.walk(store, run, head, |record| {
                garbage.records.push(record.hash());
                garbage.record_bytes += record.as_bytes().len() as u64;
            })?;
            garbage.branches.push(head.branch.clone());
        }
        let mut blobs: BTreeSet<BlobHash> = going.blobs.difference(&staying.blobs).copied().collect();
        for other in store.runs()?.iter().filter(|other| *other != run) {
            if blobs.is_empty() {
                break;
            }
            let mut there = Walk::default();
            for head in store.heads(other)? {
                there.walk(store, other, &head, |_| ())?;
            }
            blobs = blobs.difference(&there.blobs).copied().collect();
        }
        for blob in blobs {
            garbage.blob_bytes += store.blob(&blob)?.len() as u64;
            garbage.blobs.push(blob);
        }
        Ok(garbage)
    }

    /// The removal of all this from its run.
    pub fn removal<'a>(&'a self, run: &'a RunId, epoch: Epoch) -> Removal<'a> {
        let Self {
            branches,
            records,
            blobs,
            since,
            ..
        } = self;
        Removal {
            run,
            epoch,
            branches,
            records,
            blobs,
            since: since.clone(),
        }
    }
}

/// The records that were met on the way back from heads, and the blobs that they name.
#[derive(Default)]
struct Walk {
    seen: BTreeSet<RecordHash>,
    blobs: BTreeSet<BlobHash>,
}

impl Walk {
    /// Goes from a head back to the beginning, or to a record that was met before.
    fn walk(
        &mut self,
        store: &dyn Store,
        run: &RunId,
        head: &Head,
        mut meet: impl FnMut(&Record),
    ) -> Result<(), StoreError> {
        let mut end = head.sequence.number() + 1;
        while end > 0 {
            let start = end.saturating_sub(PORTION);
            let position = |number| Sequence::new(number).unwrap_or(head.sequence);
            for record in store
                .read(run, &head.branch, position(start)..position(end))?
                .iter()
                .rev()
            {
                if !self.seen.insert(record.hash()) {
                    return Ok(());
                }
                self.blobs.extend(record.blobs());
                meet(record);
            }
            end = start;
        }
        Ok(())
    }
}
