//! The source of a run: a store, the run's name, and one of its branches.
//!
//! INVARIANT: reading changes nothing; a missing record is an error, never a gap.
//! It does not replay; `replay.rs` does.
//! Read next: `replay.rs`.

use std::collections::VecDeque;

use duet_journal::store::Opener;
use duet_journal::{BranchName, ClosedRecord, Epoch, Record, RecordHash, RunId, Sequence, Store, StoreError};

use crate::model::codec::{Codec, DecodeError};
use crate::record::divergence::{Divergence, difference};
use crate::record::paths::ActorPaths;
use crate::record::{Body, Genesis, TurnRecord};
use crate::run::error::RunError;

/// The place from which to open a run.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// The store that has it.
    pub store: &'a dyn Store,
    /// The run.
    pub run: &'a RunId,
    /// One of its branches.
    pub branch: &'a BranchName,
}

impl<'a> Source<'a> {
    /// Returns the branch up to one of its turns.
    pub fn up_to(self, end: Sequence) -> BranchPart<'a> {
        BranchPart { source: self, end }
    }
}

/// A branch up to one of its turns.
#[derive(Clone, Copy)]
pub struct BranchPart<'a> {
    /// The branch.
    pub source: Source<'a>,
    /// The turn.
    pub end: Sequence,
}

/// A branch, and the owner that is to claim its run.
#[derive(Clone, Copy)]
pub struct BranchClaim<'a> {
    /// The run.
    pub run: &'a RunId,
    /// One of its branches.
    pub branch: &'a BranchName,
    /// The owner's name.
    pub owner: &'a str,
}

impl<'a> BranchClaim<'a> {
    /// A branch of a run, which `owner` is to claim.
    pub fn new(run: &'a RunId, branch: &'a BranchName, owner: &'a str) -> Self {
        Self { run, branch, owner }
    }

    /// Claims the run.
    ///
    /// # Errors
    /// As [`Store::claim`].
    pub(super) fn take(self, store: &mut dyn Store) -> Result<HeldBranch<'a>, StoreError> {
        let epoch = store.claim(self.run, self.owner)?;
        Ok(HeldBranch::new(self.run, self.branch, epoch))
    }
}

/// A branch of a run that its owner has claimed.
#[derive(Clone, Copy)]
pub struct HeldBranch<'a> {
    /// The run.
    pub run: &'a RunId,
    /// One of its branches.
    pub branch: &'a BranchName,
    /// The epoch of the claim.
    pub epoch: Epoch,
}

impl<'a> HeldBranch<'a> {
    /// A branch of a run that is held under an epoch.
    pub fn new(run: &'a RunId, branch: &'a BranchName, epoch: Epoch) -> Self {
        Self { run, branch, epoch }
    }
}

/// The maximum number of records in one read from the store.
pub(crate) const PORTION: u64 = 256;

/// The number of records in the first read in search of a snapshot, which a run that rests has at
/// its head; each further read is this many times as long.
const PORTION_MIN: u64 = 4;
const PORTION_GROWTH: u64 = 8;

/// The maximum number of portions that are kept from the search for a snapshot; a replay reads the
/// others again.
const PORTIONS_KEPT: usize = 32;

/// The newest snapshot before a turn.
#[derive(Default)]
pub(crate) struct Nearest {
    /// Its record, if there is one.
    pub(crate) snapshot: Option<ClosedRecord>,
    /// The records after that snapshot, or after the first record, as far as they were kept.
    pub(crate) after: Vec<ClosedRecord>,
}

impl<'a> Source<'a> {
    /// A branch of a run, as a store has it.
    pub fn new(store: &'a dyn Store, run: &'a RunId, branch: &'a BranchName) -> Self {
        Self { store, run, branch }
    }
}

impl Source<'_> {
    pub(crate) fn position(&self, at: Option<Sequence>) -> Result<Sequence, RunError> {
        let (run, branch) = (self.run.clone(), self.branch.clone());
        let head = self
            .store
            .head(self.run, self.branch)?
            .ok_or(RunError::NoRecord { run, branch })?
            .sequence;
        match at {
            Some(sequence) if sequence > head => Err(RunError::NoTurn {
                branch: self.branch.clone(),
                sequence,
            }),
            Some(sequence) => Ok(sequence),
            None => Ok(head),
        }
    }

    /// Counts the records that another branch has too among the first `end`, by binary search,
    /// because a hash names the whole history before it.
    ///
    /// # Errors
    /// [`RunError`] if a record cannot be read.
    pub fn count_shared(&self, other: &Source<'_>, end: u64) -> Result<u64, RunError> {
        let (mut low, mut high) = (0, end);
        while low < high {
            let middle = low + (high - low) / 2;
            let at = Sequence::new(middle).map_err(|_| RunError::Full)?;
            if self.name(at)? == other.name(at)? {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(low)
    }

    /// Returns the paths of names of the actors that a branch has made.
    ///
    /// # Errors
    /// [`RunError`] if a record cannot be read.
    pub fn actor_paths(&self) -> Result<ActorPaths, RunError> {
        let last = self.position(None)?.number();
        let mut paths = ActorPaths::default();
        let mut next = 1;
        while next <= last {
            let end = (last + 1).min(next + PORTION);
            for record in self.read(Sequence::new(next).map_err(|_| RunError::Full)?, end)? {
                paths.note(&decode_turn(&record?)?);
            }
            next = end;
        }
        Ok(paths)
    }

    /// Finds the newest snapshot not after `last`.
    pub(crate) fn nearest_snapshot(&self, last: Sequence) -> Result<Nearest, RunError> {
        let mut nearest = Nearest::default();
        let mut after: VecDeque<Vec<ClosedRecord>> = VecDeque::new();
        let mut end = last.number() + 1;
        let mut count = PORTION_MIN;
        while end > 1 && nearest.snapshot.is_none() {
            let start = end.saturating_sub(count).max(1);
            count = PORTION.min(count * PORTION_GROWTH);
            let from = Sequence::new(start).map_err(|_| RunError::Full)?;
            let mut portion = self.read_closed(from, end)?;
            let found = portion.iter().rposition(|record| record.header().snapshot.is_some());
            if let Some(place) = found {
                nearest.snapshot = portion.drain(..=place).next_back();
            }
            after.push_front(portion);
            after.truncate(PORTIONS_KEPT);
            end = start;
        }
        nearest.after = after.into_iter().flatten().collect();
        Ok(nearest)
    }

    /// Reads records; the body of each when its turn comes, because each may be large.
    pub(crate) fn read(
        &self,
        from: Sequence,
        end: u64,
    ) -> Result<impl DoubleEndedIterator<Item = Result<Record, RunError>>, RunError> {
        let closed = self.read_closed(from, end)?;
        let mut opener = Opener::new(self.store);
        Ok(closed.into_iter().map(move |record| Ok(opener.open(record)?)))
    }

    /// Reads records of turns that a replay repeats and compares with their bodies.
    pub(super) fn read_closed(&self, from: Sequence, end: u64) -> Result<Vec<ClosedRecord>, RunError> {
        let range = from..Sequence::new(end).map_err(|_| RunError::Full)?;
        self.all(from, end, self.store.read_closed(self.run, self.branch, range)?)
    }

    fn all<R>(&self, from: Sequence, end: u64, records: Vec<R>) -> Result<Vec<R>, RunError> {
        if records.len() as u64 == end - from.number() {
            Ok(records)
        } else {
            Err(RunError::NoTurn {
                branch: self.branch.clone(),
                sequence: from,
            })
        }
    }

    /// Names the record at a position, without a look into its body.
    pub(crate) fn name(&self, at: Sequence) -> Result<RecordHash, RunError> {
        let record = self.store.closed_at(self.run, self.branch, at)?;
        let record = record.ok_or(RunError::NoTurn {
            branch: self.branch.clone(),
            sequence: at,
        });
        Ok(record?.hash())
    }

    pub(crate) fn record(&self, at: Sequence) -> Result<Record, RunError> {
        let record = self.store.record_at(self.run, self.branch, at)?;
        record.ok_or(RunError::NoTurn {
            branch: self.branch.clone(),
            sequence: at,
        })
    }
}

/// Decodes the body of a turn's record that is still closed.
pub(crate) fn decode_closed_turn(record: &ClosedRecord) -> Result<TurnRecord, RunError> {
    let hash = record.hash();
    let opened = record.clone().open();
    decode_turn(&opened.map_err(|source| StoreError::BadRecord { hash, source })?)
}

/// Decodes the body of a turn's record.
///
/// # Errors
/// [`RunError::Decode`].
pub fn decode_turn(record: &Record) -> Result<TurnRecord, RunError> {
    let sequence = record.header().sequence;
    let body = record.body();
    TurnRecord::decode(&body).map_err(|source| RunError::Decode { sequence, source })
}

/// Decodes the body of a run's first record.
///
/// # Errors
/// [`RunError::NotARun`].
pub fn genesis(record: &Record) -> Result<Genesis, RunError> {
    match Body::decode(&record.body()) {
        Ok(Body::Genesis(genesis)) => Ok(genesis),
        Err(DecodeError::Version { found, .. }) => Err(RunError::NotARun { version: Some(found) }),
        Ok(Body::Turn(_)) | Err(_) => Err(RunError::NotARun { version: None }),
    }
}

/// Finds the first difference between a record and the turn that the program took in its place.
pub(crate) fn divergence(record: &ClosedRecord, program: &TurnRecord) -> Result<Divergence, RunError> {
    let sequence = record.header().sequence;
    difference(sequence, &decode_closed_turn(record)?, program).ok_or(RunError::Decode {
        sequence,
        source: DecodeError::Inconsistent {
            what: "equal turns have equal bodies and outlines",
        },
    })
}
