//! What the memory store knows of its log: where records and blobs are, who owns runs, where heads stand.
//!
//! INVARIANT: it is a function of the log's frames; recovery and commit fill it through the same door, except that commit need not decode
//! the records that it has just written.
//! It holds no bytes.
//! Read next: `store/memory.rs`.

use std::collections::BTreeMap;
use std::ops::Range;

use super::log::Entry;
use crate::identity::{BlobHash, BranchName, Epoch, RecordHash, RunId, Sequence};
use crate::record::Record;
use crate::store::batch::Tip;
use crate::store::{Head, StoreError};

/// Where a record is, and the way to its ancestors.
pub(super) struct Place {
    pub(super) bytes: Range<usize>,
    sequence: Sequence,
    pub(super) parent: Option<RecordHash>,
    /// A remoter ancestor, so placed that every ancestor is a logarithmic number of steps away; the record itself if it
    /// has no parent.
    ///
    /// Source: Myers, "An applicative random-access stack" (1983).
    jump: RecordHash,
}

/// A run.
#[derive(Default)]
pub(super) struct Run {
    pub(super) epoch: Epoch,
    pub(super) heads: BTreeMap<BranchName, Head>,
}

impl Run {
    /// Where a branch stands.
    pub(super) fn tip(&self, branch: &BranchName) -> Option<Tip> {
        self.heads.get(branch).map(|head| Tip {
            hash: head.hash,
            sequence: head.sequence,
        })
    }
}

/// Everything that can be looked up.
#[derive(Default)]
pub(super) struct Index {
    pub(super) runs: BTreeMap<RunId, Run>,
    pub(super) records: BTreeMap<RecordHash, Place>,
    pub(super) blobs: BTreeMap<BlobHash, Range<usize>>,
}

impl Index {
    /// Takes in one entry of a complete frame.
    ///
    /// # Errors
    /// [`StoreError::BadRecord`], [`StoreError::Inconsistent`].
    pub(super) fn apply(&mut self, log: &[u8], entry: Entry<'_>) -> Result<(), StoreError> {
        match entry {
            Entry::Claim { run, epoch, owner: _ } => self.runs.entry(run).or_default().epoch = epoch,
            Entry::Record { bytes } => {
                let content = log[bytes.clone()].to_vec();
                let record = Record::decode(content).map_err(|source| StoreError::BadRecord {
                    hash: RecordHash::of(&log[bytes.clone()]),
                    source,
                })?;
                self.add_record(&record, bytes)?;
            }
            Entry::Blob { hash, bytes } => {
                self.blobs.entry(hash).or_insert(bytes);
            }
            Entry::Head { run, branch, hash } => {
                let sequence = self.place(&hash)?.sequence;
                let head = Head {
                    branch: branch.clone(),
                    sequence,
                    hash,
                };
                self.runs.entry(run).or_default().heads.insert(branch, head);
            }
        }
        Ok(())
    }

    /// Takes in a record whose bytes stand at `bytes` of the log.
    ///
    /// # Errors
    /// [`StoreError::Inconsistent`].
    pub(super) fn add_record(&mut self, record: &Record, bytes: Range<usize>) -> Result<(), StoreError> {
        let (header, hash) = (record.header(), record.hash());
        let jump = match header.parent {
            None => hash,
            Some(parent) if self.place(&parent)?.sequence.next() == Some(header.sequence) => self.jump_from(parent)?,
            Some(_) => {
                return Err(StoreError::Inconsistent {
                    what: "a record's position does not follow its parent's",
                });
            }
        };
        let place = Place {
            bytes,
            sequence: header.sequence,
            parent: header.parent,
            jump,
        };
        self.records.entry(hash).or_insert(place);
        Ok(())
    }

    /// Where a child of `parent` jumps: two equal jumps in a row become one.
    fn jump_from(&self, parent: RecordHash) -> Result<RecordHash, StoreError> {
        let near = self.place(&parent)?;
        let far = self.place(&near.jump)?;
        let farther = self.place(&far.jump)?;
        let length = |from: &Place, to: &Place| from.sequence.number() - to.sequence.number();
        Ok(if length(near, far) == length(far, farther) {
            far.jump
        } else {
            parent
        })
    }

    fn place(&self, hash: &RecordHash) -> Result<&Place, StoreError> {
        self.records.get(hash).ok_or(StoreError::NoSuchRecord { hash: *hash })
    }

    /// Finds the ancestor of `from` at position `at`, or `from` itself.
    fn ancestor(&self, from: RecordHash, at: Sequence) -> Result<RecordHash, StoreError> {
        let mut hash = from;
        loop {
            let place = self.place(&hash)?;
            if place.sequence <= at {
                return Ok(hash);
            }
            let jumps_past = self.place(&place.jump)?.sequence < at;
            hash = place.parent.filter(|_| jumps_past).unwrap_or(place.jump);
        }
    }

    /// Names the records of a chain at the positions in `range`, oldest first, as far as they exist.
    pub(super) fn chain(&self, head: &Head, range: &Range<Sequence>) -> Result<Vec<RecordHash>, StoreError> {
        let mut hashes = Vec::new();
        let Some(last) = range
            .end
            .number()
            .checked_sub(1)
            .map(|last| last.min(head.sequence.number()))
        else {
            return Ok(hashes);
        };
        let mut next = Some(self.ancestor(head.hash, Sequence::new(last).unwrap_or(head.sequence))?);
        while let Some(hash) = next {
            let place = self.place(&hash)?;
            if place.sequence < range.start {
                break;
            }
            hashes.push(hash);
            next = place.parent;
        }
        hashes.reverse();
        Ok(hashes)
    }
}
