//! The contract of a store of records.
//!
//! Owns the [`Store`] trait and the values it takes and gives; `error.rs` has the errors.
//! INVARIANT: an append is compare-and-append: it happens whole, on the expected head, under the
//! newest epoch, and is durable when it returns; or nothing happens.
//!
//! A store does not decide when to commit, nor what can be given up; `collect.rs` does.
//! Read next: `store/memory.rs`, the smallest complete store.

pub mod batch;
mod boxed;
pub mod memory;
mod opening;
pub mod sqlite;

pub use crate::blob::Blob;
pub use crate::error::{Displacement, Object, StoreError};
pub use crate::identity::MAX_BLOB_BYTES;
pub use opening::{Opener, checked_blob, checked_record, one_by_one, open_record};

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use crate::identity::{BlobHash, BranchName, Epoch, RecordHash, RunId, Sequence};
use crate::inbox::{Letter, LetterId, Need, Ready, Taken};
use crate::owner::{self, Owner};
use crate::parts::fetching;
use crate::record::{ClosedRecord, Record};

/// The newest record of a branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// The branch.
    pub branch: BranchName,
    /// The record's position.
    pub sequence: Sequence,
    /// The record.
    pub hash: RecordHash,
}

impl Head {
    /// Returns the head without its branch's name.
    pub fn tip(&self) -> Tip {
        Tip {
            hash: self.hash,
            sequence: self.sequence,
        }
    }
}

/// The newest record of a chain: through its hash it names the record's whole history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tip {
    /// The record.
    pub hash: RecordHash,
    /// Its position.
    pub sequence: Sequence,
}

/// When a store committed a record: milliseconds since 1970 (UTC) by the clock that the owners of
/// its runs share. It stands beside the record and is no part of it: nothing depends on it, no
/// replay sees it, and a clock that goes back makes times go back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct CommitTime(u64);

impl CommitTime {
    /// Takes a time in milliseconds since 1970; 0 if nobody knows it.
    pub const fn from_ms(ms: u64) -> Self {
        Self(ms)
    }

    /// Reads the clock.
    pub fn now() -> Self {
        Self(owner::now_ms())
    }

    /// Returns the time in milliseconds since 1970, if it is known.
    pub fn ms(self) -> Option<u64> {
        (self.0 > 0).then_some(self.0)
    }
}

/// Records to add at the end of one branch, in order, each the parent of the next.
#[derive(Clone, Debug)]
pub struct Append<'a> {
    /// The run.
    pub run: &'a RunId,
    /// The branch; the first append creates it.
    pub branch: &'a BranchName,
    /// The epoch that the writer's claim returned.
    pub epoch: Epoch,
    /// The head on which the first record stands; `None` if the branch does not exist yet.
    pub expected_head: Option<RecordHash>,
    /// At least one record.
    pub records: &'a [Record],
    /// The blobs the records refer to, as far as the store does not have them, without the parts
    /// that the records bring themselves.
    pub blobs: &'a [Blob],
    /// When another store committed each of the records; `None` if this store is the first.
    pub times: Option<&'a [CommitTime]>,
    /// What the branch needs after the last record.
    pub need: Need,
    /// The letters that the records have heard.
    pub taken: &'a [Taken],
}

impl Append<'_> {
    /// Lists the blobs that come with the records, also as parts of their bodies.
    pub fn brought(&self) -> impl Iterator<Item = &Blob> {
        let parts = self.records.iter().flat_map(|record| record.added_parts());
        self.blobs.iter().chain(parts)
    }

    /// Returns when a record was committed: at `now`, if this store is the first to commit it.
    pub fn time(&self, index: usize, now: CommitTime) -> CommitTime {
        self.times
            .map_or(now, |times| times.get(index).copied().unwrap_or_default())
    }
}

/// Creates a branch, or moves its head to any record of the run.
#[derive(Clone, Debug)]
pub struct HeadMove<'a> {
    /// The run.
    pub run: &'a RunId,
    /// The branch.
    pub branch: &'a BranchName,
    /// The epoch that the writer's claim returned.
    pub epoch: Epoch,
    /// The head as the caller knows it; `None` if the branch should not exist.
    pub expected_head: Option<RecordHash>,
    /// The new head.
    pub to: RecordHash,
}

/// Branches to give up, with what only they lead to.
#[derive(Clone, Debug)]
pub struct Removal<'a> {
    /// The run.
    pub run: &'a RunId,
    /// The epoch that the caller's claim returned.
    pub epoch: Epoch,
    /// Branches of the run.
    pub branches: &'a [BranchName],
    /// Records that no other branch leads to. The store also removes their descendants, which a
    /// rewind has left without a branch.
    pub records: &'a [RecordHash],
    /// Blobs that no other record names.
    pub blobs: &'a [BlobHash],
    /// Where the store stood before the caller looked for all this. The store keeps blobs that
    /// records of other runs have named since.
    pub since: Mark,
}

/// How far a store had grown at some time: its newest record, if the store has one order for the
/// records of all runs; else the number that each run's next record would have had.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    pub(crate) newest: Option<(i64, RecordHash)>,
    next: BTreeMap<RunId, i64>,
}

impl Mark {
    /// Makes a mark of the numbers that the next records of runs will have.
    pub fn of_runs(next: BTreeMap<RunId, i64>) -> Self {
        Self { newest: None, next }
    }

    /// Returns the number that each run's next record would have had; a missing run had none.
    pub fn next_numbers(&self) -> &BTreeMap<RunId, i64> {
        &self.next
    }
}

/// Who holds a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The newest epoch.
    pub epoch: Epoch,
    /// Who claimed it, as [`Owner`] writes it; empty if that one has given it up, any other text if
    /// nobody can tell whether it lives.
    pub owner: String,
    /// When the claim was read, in milliseconds since 1970, by the clock that the store's owners
    /// are described by.
    pub read_ms: u64,
}

impl Claim {
    /// Returns the owner, if it lives.
    pub fn living(&self) -> Option<Owner> {
        let owner: Owner = self.owner.parse().ok()?;
        owner.is_alive(self.read_ms).then_some(owner)
    }
}

/// Keeps runs: their records, the heads of their branches, and blobs.
///
/// Several stores may look at the same runs; a claim decides which of them may write a run.
pub trait Store: Send {
    /// Makes the caller the owner of `run`, which comes into being if need be, and fences off
    /// earlier owners.
    ///
    /// `owner` says who holds the run from now on, as [`Owner`] writes it. A store that several
    /// processes can open leaves a run to another process that lives; whoever wants to take it all
    /// the same has that owner [forgotten](Self::note_owner) first. The store may forget a claim
    /// when it is dropped before anything was written; one on a server gives its runs up when it
    /// is dropped.
    ///
    /// # Errors
    /// [`StoreError::Owned`]; [`StoreError::ReadOnly`] or a failure of the medium.
    fn claim(&mut self, run: &RunId, owner: &str) -> Result<Epoch, StoreError>;

    /// Returns the newest claim of a run; `None` if nobody has claimed it.
    ///
    /// # Errors
    /// A failure of the medium.
    fn claimed(&self, run: &RunId) -> Result<Option<Claim>, StoreError>;

    /// Checks that nobody has claimed a run since `epoch`, before an effect leaves.
    ///
    /// # Errors
    /// [`StoreError::EpochFenced`], [`StoreError::NoSuchRun`]; a failure of the medium.
    fn check_claim(&mut self, run: &RunId, epoch: Epoch) -> Result<(), StoreError>;

    /// Checks that nobody has claimed a run since `epoch`, before an effect leaves that the newest
    /// commit of this store has released. The process may have been stopped since the commit; a
    /// store whose owners have leases need not ask anybody while the one lasts that the commit has
    /// renewed.
    ///
    /// # Errors
    /// As [`check_claim`](Self::check_claim).
    fn check_lease(&mut self, run: &RunId, epoch: Epoch) -> Result<(), StoreError> {
        self.check_claim(run, epoch)
    }

    /// Changes how the holder of `epoch` is described: to renew its lease, or with an empty text to
    /// give the run up.
    ///
    /// # Errors
    /// As [`check_claim`](Self::check_claim), and [`StoreError::ReadOnly`].
    fn note_owner(&mut self, run: &RunId, epoch: Epoch, owner: &str) -> Result<(), StoreError>;

    /// Performs all of `appends` or none, in one durable commit; several may go to one branch, in
    /// order.
    ///
    /// # Errors
    /// [`StoreError::HeadMoved`], [`StoreError::EpochFenced`], [`StoreError::NoSuchRun`],
    /// [`StoreError::NotAChild`], [`StoreError::MissingBlob`] and [`StoreError::NoRecords`] leave
    /// the store as it was. After any other error it is unknown whether the commit happened: open
    /// the store again and look at the heads.
    fn append_group(&mut self, appends: &[Append<'_>]) -> Result<(), StoreError>;

    /// Performs all of `moves` or none, in one durable commit; several may go to one branch, in
    /// order. Records that are no longer reachable stay where they are.
    ///
    /// # Errors
    /// As [`append_group`](Self::append_group), and [`StoreError::NoSuchRecord`] if `to` is not in
    /// the run.
    fn set_heads(&mut self, moves: &[HeadMove<'_>]) -> Result<(), StoreError>;

    /// Says what a branch needs from now on; to give a run up, before its owner is
    /// [forgotten](Self::note_owner). A head that moves leaves its branch needing nothing.
    ///
    /// # Errors
    /// As [`check_claim`](Self::check_claim), and [`StoreError::ReadOnly`].
    fn set_need(&mut self, run: &RunId, branch: &BranchName, epoch: Epoch, need: Need) -> Result<(), StoreError>;

    /// Returns what a branch needs.
    ///
    /// # Errors
    /// [`StoreError::NoSuchRun`].
    fn need(&self, run: &RunId, branch: &BranchName) -> Result<Need, StoreError>;

    /// Returns the time by the clock that all owners of the store's runs share, in milliseconds
    /// since 1970: this host's, or that of a server which several hosts use.
    ///
    /// # Errors
    /// A failure of the medium.
    fn now_ms(&self) -> Result<u64, StoreError> {
        Ok(owner::now_ms())
    }

    /// Lists at most `max` branches that can go on at a moment, in milliseconds since 1970, and
    /// whose runs no living process owns; those with the earliest moments first, then those with
    /// letters, which may take half of the places. The cost grows with the number of branches that
    /// are due, not with those that wait.
    ///
    /// # Errors
    /// A failure of the medium.
    fn ready(&self, now_ms: u64, max: usize) -> Result<Vec<Ready>, StoreError>;

    /// Puts a letter into the inbox of a run, durably; anyone may. One that is there stays.
    ///
    /// # Errors
    /// [`StoreError::NoSuchRun`] if the run has no such branch; [`StoreError::ReadOnly`].
    fn put(&mut self, run: &RunId, letter: &Letter) -> Result<(), StoreError>;

    /// Lists the letters for a branch that nobody has taken, in order of their sending.
    ///
    /// # Errors
    /// A failure of the medium.
    fn letters(&self, run: &RunId, branch: &BranchName) -> Result<Vec<Letter>, StoreError>;

    /// Takes a letter that leads to no record, because its owner refuses it.
    ///
    /// # Errors
    /// [`StoreError::NoSuchLetter`]; as [`check_claim`](Self::check_claim).
    fn refuse(&mut self, run: &RunId, epoch: Epoch, taken: &Taken) -> Result<(), StoreError>;

    /// Returns the reply to a letter, once its owner has taken it.
    ///
    /// # Errors
    /// A failure of the medium.
    fn reply(&self, run: &RunId, letter: LetterId) -> Result<Option<Vec<u8>>, StoreError>;

    /// Puts another reply in the place of that to a letter that its owner has taken: the sender
    /// waits for what the letter leads to. Returns whether there is still a reply, so that the
    /// sender may read this one.
    ///
    /// # Errors
    /// [`StoreError::ReadOnly`] or a failure of the medium.
    fn replace_reply(&mut self, run: &RunId, taken: &Taken) -> Result<bool, StoreError>;

    /// Removes a reply that the sender has read; stores remove others after
    /// [`REPLY_KEPT_MS`](crate::inbox::REPLY_KEPT_MS).
    ///
    /// # Errors
    /// [`StoreError::ReadOnly`] or a failure of the medium.
    fn forget_reply(&mut self, run: &RunId, letter: LetterId) -> Result<(), StoreError>;

    /// Sets what a worker says of itself, under a name of its own; an empty text removes it.
    ///
    /// # Errors
    /// [`StoreError::ReadOnly`] or a failure of the medium.
    fn note_worker(&mut self, name: &str, told: &str) -> Result<(), StoreError>;

    /// Lists what workers say of themselves, in order of their names.
    ///
    /// # Errors
    /// A failure of the medium.
    fn workers(&self) -> Result<Vec<String>, StoreError>;

    /// Removes branches, records and blobs, all of them or none, in one durable commit. It passes
    /// over those that are not there.
    ///
    /// The caller makes sure that nothing else led to them at the [`Mark`], as
    /// [`Garbage`](crate::collect::Garbage) does.
    ///
    /// # Errors
    /// [`StoreError::EpochFenced`], [`StoreError::NoSuchRun`]; [`StoreError::Inconsistent`] if a
    /// record to remove is the head of a branch that stays; [`StoreError::Overtaken`] if records
    /// have been removed since the mark. These leave the store as it was.
    fn remove(&mut self, removal: &Removal<'_>) -> Result<(), StoreError>;

    /// Says how far the store has grown.
    ///
    /// # Errors
    /// A failure of the medium.
    fn mark(&self) -> Result<Mark, StoreError>;

    /// Lists the runs that have a branch, in order of their names. A run that was claimed but never
    /// written to is not there yet.
    ///
    /// # Errors
    /// A failure of the medium.
    fn runs(&self) -> Result<Vec<RunId>, StoreError>;

    /// Says whether a run has a branch: whether [`runs`](Self::runs) lists it, at the cost of one
    /// look-up.
    ///
    /// # Errors
    /// A failure of the medium.
    fn has_run(&self, run: &RunId) -> Result<bool, StoreError>;

    /// Lists the heads of a run in order of the branches' names.
    ///
    /// # Errors
    /// [`StoreError::NoSuchRun`].
    fn heads(&self, run: &RunId) -> Result<Vec<Head>, StoreError>;

    /// Returns one head; `None` if there is no such branch.
    ///
    /// # Errors
    /// [`StoreError::NoSuchRun`].
    fn head(&self, run: &RunId, branch: &BranchName) -> Result<Option<Head>, StoreError>;

    /// Reads the records of a branch whose positions are in `range`, oldest first, as far as they
    /// exist.
    ///
    /// The records are whole and their hashes right; that each is the parent of the next, and the
    /// last the head, is for [`verify`](crate::verify::verify) to say.
    ///
    /// # Errors
    /// [`StoreError::NoSuchRun`], [`StoreError::NoSuchBranch`]; [`StoreError::ChecksumMismatch`]
    /// for a record that has changed, [`StoreError::NoSuchRecord`] for one that is gone,
    /// [`StoreError::Inconsistent`] for one that does not belong there.
    fn read(&self, run: &RunId, branch: &BranchName, range: Range<Sequence>) -> Result<Vec<Record>, StoreError>;

    /// Reads as [`read`](Self::read) does, but looks into no body, and leaves large ones in parts,
    /// for who compares the bodies with what they should be.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    fn read_closed(
        &self,
        run: &RunId,
        branch: &BranchName,
        range: Range<Sequence>,
    ) -> Result<Vec<ClosedRecord>, StoreError> {
        Ok(self.read(run, branch, range)?.into_iter().map(Record::close).collect())
    }

    /// Returns when the records that [`read`](Self::read) gives were committed, oldest first; fewer
    /// or none if the store does not know. A record that was there already keeps its time.
    ///
    /// # Errors
    /// As [`read`](Self::read), about the rows of the records.
    fn times(&self, run: &RunId, branch: &BranchName, range: Range<Sequence>) -> Result<Vec<CommitTime>, StoreError>;

    /// Reads a record by its name, whether or not a branch reaches it.
    ///
    /// # Errors
    /// [`StoreError::NoSuchRecord`], [`StoreError::ChecksumMismatch`].
    fn record(&self, hash: &RecordHash) -> Result<Record, StoreError>;

    /// Reads what it takes to open a branch, if that saves round trips: until this store writes,
    /// questions about the branch and its run may be answered by what was there then. A claim that
    /// comes next is of that state, or forgets it.
    ///
    /// # Errors
    /// As [`read`](Self::read); nothing happens if there is no such branch.
    fn read_ahead(&mut self, _run: &RunId, _branch: &BranchName) -> Result<(), StoreError> {
        Ok(())
    }

    /// Reads blobs that the caller is about to read, if that saves round trips; those that are not
    /// there are left out.
    ///
    /// # Errors
    /// [`StoreError::ChecksumMismatch`]; a failure of the medium.
    fn read_blobs_ahead(&self, _hashes: &[BlobHash]) -> Result<(), StoreError> {
        Ok(())
    }

    /// Reads a blob.
    ///
    /// # Errors
    /// [`StoreError::NoSuchBlob`], [`StoreError::ChecksumMismatch`].
    fn blob(&self, hash: &BlobHash) -> Result<Vec<u8>, StoreError>;

    /// Joins the parts of a record's body, if it is in parts.
    ///
    /// # Errors
    /// As [`blob`](Self::blob), and [`StoreError::Inconsistent`].
    fn join(&self, record: ClosedRecord) -> Result<ClosedRecord, StoreError> {
        record.join(&mut fetching(|hash| self.blob(hash)))
    }

    /// Says whether a blob is there, without reading it.
    ///
    /// # Errors
    /// A failure of the medium.
    fn has_blob(&self, hash: &BlobHash) -> Result<bool, StoreError>;

    /// Returns what this store alone says of a run: its own remark, which is no part of the run and
    /// which no copy takes along.
    ///
    /// # Errors
    /// A failure of the medium.
    fn note(&self, _run: &RunId) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(None)
    }

    /// Sets what this store alone says of a run; nothing with no bytes. For a run without a branch
    /// it becomes durable with the first one at the latest.
    ///
    /// # Errors
    /// [`StoreError::NoNotes`] if the store keeps none; [`StoreError::EpochFenced`],
    /// [`StoreError::NoSuchRun`].
    fn set_note(&mut self, _run: &RunId, _epoch: Epoch, _note: &[u8]) -> Result<(), StoreError> {
        Err(StoreError::NoNotes)
    }

    /// Writes all that the store has to a journal file of its own at `path`, where there is none;
    /// also when a commit has failed because the store's own files are
    /// [gone](StoreError::Displaced).
    ///
    /// # Errors
    /// [`StoreError::NoCopy`] if the store does not support it; [`StoreError::Io`],
    /// [`StoreError::Database`].
    fn save_copy(&self, _path: &Path) -> Result<(), StoreError> {
        Err(StoreError::NoCopy)
    }

    /// Performs one append; see [`append_group`](Self::append_group).
    ///
    /// # Errors
    /// As [`append_group`](Self::append_group).
    fn append(&mut self, append: Append<'_>) -> Result<(), StoreError> {
        self.append_group(&[append])
    }

    /// Appends, and gives the run up as [`note_owner`](Self::note_owner) does with an empty text; in
    /// one commit, if that saves one.
    ///
    /// # Errors
    /// As [`append`](Self::append), and as [`note_owner`](Self::note_owner) after a commit that has
    /// happened.
    fn append_last(&mut self, append: Append<'_>) -> Result<(), StoreError> {
        let (run, epoch) = (append.run, append.epoch);
        self.append(append)?;
        self.note_owner(run, epoch, "")
    }

    /// Moves or creates one head; see [`set_heads`](Self::set_heads).
    ///
    /// # Errors
    /// As [`set_heads`](Self::set_heads).
    fn set_head(&mut self, head_move: &HeadMove<'_>) -> Result<(), StoreError> {
        self.set_heads(std::slice::from_ref(head_move))
    }

    /// Reads the record at one position of a branch; `None` beyond the head.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    fn record_at(&self, run: &RunId, branch: &BranchName, at: Sequence) -> Result<Option<Record>, StoreError> {
        let end = at.next().unwrap_or(at);
        Ok(self.read(run, branch, at..end)?.pop())
    }

    /// Reads the record at a position of a branch, whose body may be in parts.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    fn closed_at(&self, run: &RunId, branch: &BranchName, at: Sequence) -> Result<Option<ClosedRecord>, StoreError> {
        let end = at.next().unwrap_or(at);
        Ok(self.read_closed(run, branch, at..end)?.pop())
    }
}
