//! Copies branches of a run from one store to another, record for record.
//!
//! INVARIANT: what arrives has the same names; a head is set only when everything that it leads to
//! is there, so a copy that is cut short can be made again.
//! It does not look into records, and it moves no branch that has gone another way.
//! Read next: `verify.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::identity::{BlobHash, BranchName, Epoch, RecordHash, RunId, Sequence};
use crate::record::{Record, RecordError};
use crate::store::{Append, Blob, CommitTime, Head, HeadMove, Store, StoreError, one_by_one};

/// Records are copied in portions of at most this many, and of few more bytes.
const PORTION: u64 = 256;
const PORTION_BYTES: usize = 16 << 20;

/// Makes the record that arrives in place of one: given that one, and the name of the one before it
/// as it arrived.
pub type Change<'a> = &'a mut dyn FnMut(&Record, Option<RecordHash>) -> Result<Record, RecordError>;

/// What to copy.
#[derive(Clone, Copy, Debug)]
pub struct Task<'a> {
    /// The run.
    pub run: &'a RunId,
    /// The heads of the branches.
    pub heads: &'a [Head],
    /// Who claims the run in the target, for people.
    pub owner: &'a str,
    /// What the target notes on the run before anything arrives.
    pub note: Option<&'a [u8]>,
}

/// Copies branches of a run, with the branches that their records were made on; returns how many
/// records arrived.
///
/// With a change, each record arrives as that makes it, and `to` must not have the run.
///
/// # Errors
/// [`StoreError::HeadMoved`] if the run is there and has a branch that `from` does not know;
/// nothing was changed then. Other failures of the stores.
pub fn copy(
    from: &dyn Store,
    to: &mut dyn Store,
    task: Task<'_>,
    change: Option<Change<'_>>,
) -> Result<u64, StoreError> {
    let Task {
        run,
        heads,
        owner,
        note,
    } = task;
    for head in known_heads(to, run)? {
        if let Err(StoreError::NoSuchRecord { .. }) = from.record(&head.hash) {
            return Err(StoreError::HeadMoved {
                run: run.clone(),
                branch: head.branch,
                expected: None,
                found: Some(head.hash),
            });
        }
    }
    let epoch = to.claim(run, owner)?;
    if let Some(note) = note {
        to.set_note(run, epoch, note)?;
    }
    let mut copying = Copying {
        from,
        to,
        run,
        epoch,
        change,
        names: BTreeMap::new(),
        copied: 0,
    };
    for head in heads {
        copying.branch(head)?;
    }
    for head in heads {
        let arrived = copying.names.get(&head.hash).copied().unwrap_or(head.hash);
        copying.stand(&head.branch, Some(arrived))?;
    }
    Ok(copying.copied)
}

fn known_heads(store: &dyn Store, run: &RunId) -> Result<Vec<Head>, StoreError> {
    match store.heads(run) {
        Err(StoreError::NoSuchRun { .. }) => Ok(Vec::new()),
        heads => heads,
    }
}

struct Copying<'a, 'c> {
    from: &'a dyn Store,
    to: &'a mut dyn Store,
    run: &'a RunId,
    epoch: Epoch,
    change: Option<Change<'c>>,
    /// The names of changed records: in the source, and in the target.
    names: BTreeMap<RecordHash, RecordHash>,
    copied: u64,
}

impl Copying<'_, '_> {
    fn branch(&mut self, head: &Head) -> Result<(), StoreError> {
        let mut next = if self.change.is_some() { 0 } else { self.known(head)? };
        let end = head.sequence.number() + 1;
        while next < end {
            let to = end.min(next + PORTION);
            let range = position(next)..position(to);
            let records = self.portion(head, range.clone())?;
            if records.is_empty() {
                break;
            }
            next += records.len() as u64;
            let times = self.from.times(self.run, &head.branch, range)?;
            let times = times.into_iter().chain(std::iter::repeat(CommitTime::default()));
            let (records, times): (Vec<_>, Vec<_>) = self.changed(records.into_iter().zip(times))?.into_iter().unzip();
            let mut times = times.as_slice();
            for made_together in records.chunk_by(|one, other| one.header().branch == other.header().branch) {
                let (theirs, others) = times.split_at(made_together.len());
                self.append(made_together, theirs)?;
                times = others;
            }
        }
        Ok(())
    }

    /// Reads the first records of a range.
    fn portion(&self, head: &Head, range: Range<Sequence>) -> Result<Vec<Record>, StoreError> {
        let (mut records, mut bytes) = (Vec::new(), 0);
        for record in one_by_one(self.from, self.run, &head.branch, range)? {
            let record = record?;
            bytes += record.body_bytes().len();
            records.push(record);
            if bytes >= PORTION_BYTES {
                break;
            }
        }
        Ok(records)
    }

    /// Changes records, if they are to be, and leaves out those that have arrived.
    fn changed(
        &mut self,
        records: impl Iterator<Item = (Record, CommitTime)>,
    ) -> Result<Vec<(Record, CommitTime)>, StoreError> {
        let Some(change) = &mut self.change else {
            return Ok(records.collect());
        };
        let mut changed = Vec::new();
        for (record, time) in records {
            let hash = record.hash();
            if self.names.contains_key(&hash) {
                continue;
            }
            let parent = record
                .header()
                .parent
                .and_then(|parent| self.names.get(&parent))
                .copied();
            let made = change(&record, parent).map_err(|source| StoreError::BadRecord { hash, source })?;
            self.names.insert(hash, made.hash());
            changed.push((made, time));
        }
        Ok(changed)
    }

    /// Counts the records of a branch that are there; a record is there only with all before it.
    fn known(&self, head: &Head) -> Result<u64, StoreError> {
        let (mut low, mut high) = (0, head.sequence.number() + 1);
        while low < high {
            let middle = low + (high - low) / 2;
            let record = self.from.closed_at(self.run, &head.branch, position(middle))?;
            let is_known = match record.map(|record| self.to.record(&record.hash())) {
                Some(Ok(_)) => true,
                Some(Err(StoreError::NoSuchRecord { .. })) | None => false,
                Some(Err(error)) => return Err(error),
            };
            if is_known {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(low)
    }

    fn append(&mut self, records: &[Record], times: &[CommitTime]) -> Result<(), StoreError> {
        let Some(first) = records.first() else { return Ok(()) };
        let branch = &first.header().branch;
        self.stand(branch, first.header().parent)?;
        let mut blobs = BTreeMap::new();
        // A record that was changed brings its own parts.
        let made = records.iter().flat_map(|record| record.added_parts());
        let made: BTreeSet<BlobHash> = made.map(Blob::hash).collect();
        for hash in records.iter().flat_map(|record| record.blobs()) {
            if !made.contains(&hash) && !blobs.contains_key(&hash) && !self.to.has_blob(&hash)? {
                blobs.insert(hash, Blob::new(self.from.blob(&hash)?)?);
            }
        }
        let blobs: Vec<Blob> = blobs.into_values().collect();
        self.to.append(Append {
            run: self.run,
            branch,
            epoch: self.epoch,
            expected_head: first.header().parent,
            records,
            blobs: &blobs,
            times: Some(times),
            need: crate::Need::Nothing,
            taken: &[],
        })?;
        self.copied += records.len() as u64;
        Ok(())
    }

    /// Makes sure that a branch has a head there.
    fn stand(&mut self, branch: &BranchName, at: Option<RecordHash>) -> Result<(), StoreError> {
        let found = match self.to.head(self.run, branch) {
            Err(StoreError::NoSuchRun { .. }) => None,
            found => found?.map(|head| head.hash),
        };
        let Some(to) = at.filter(|at| Some(*at) != found) else {
            return Ok(());
        };
        self.to.set_head(&HeadMove {
            run: self.run,
            branch,
            epoch: self.epoch,
            expected_head: found,
            to,
        })
    }
}

/// The position with a number that a head was counted to.
fn position(number: u64) -> Sequence {
    Sequence::new(number).unwrap_or(Sequence::FIRST)
}
