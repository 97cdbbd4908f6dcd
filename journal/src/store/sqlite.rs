//! The embedded store: one SQLite file for all runs of a workspace.
//!
//! Owns the connection; `sqlite/file.rs` opens, `sqlite/guard.rs` and `sqlite/tail.rs` check what
//! was opened, `sqlite/commit.rs` has the transactions, `sqlite/work.rs` the work in them,
//! `sqlite/schema.rs` the tables, `sqlite/row.rs`, `sqlite/chain.rs` and `sqlite/blobs.rs` read and
//! write them, `sqlite/recent.rs` remembers what the writer has read.
//! INVARIANT: any number of processes write and read at once; a run is written only under its
//! newest epoch. A read returns the bytes that were written, or an error. A journal without a file
//! is in memory until a commit has to be durable, which makes the file before it returns: so there
//! is no file without a commit, and the first one does not go through the write-ahead log.
//!
//! Read next: `store/sqlite/schema.rs`.
//!
//! Source: `journal/FORMAT.md`, "SQLite".

mod blobs;
mod chain;
mod commit;
mod file;
mod guard;
mod log;
mod moment;
mod presence;
mod recent;
mod row;
mod schema;
mod seal;
mod standby;
mod tail;
mod work;
mod writing;

pub use self::file::{has_damaged_header, missing_bytes};
pub(crate) use self::guard::{harden, has_schema};
pub(crate) use self::row::failed;
pub use self::seal::{check_seal, seal};
pub use self::tail::LostCommits;

use std::ops::Range;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use self::commit::InMemory;
use self::file::Linked;
use self::presence::Presence;
use self::recent::Recent;
use self::row::{Branch, Run};
use self::tail::{Durable, Tail};
use self::writing::Writing;
use super::batch;
use super::{Append, Claim, CommitTime, Head, HeadMove, Mark, Removal, Store, StoreError, open_record};
use crate::beside::beside;
use crate::identity::{BlobHash, BranchName, Epoch, RecordHash, RunId, Sequence};
use crate::inbox::{Letter, LetterId, Need, Ready, Taken};
use crate::parts::fetching;
use crate::record::{ClosedRecord, Record};

/// A store in one SQLite file.
pub struct SqliteStore {
    linked: Linked,
    path: PathBuf,
    /// `None` if the store only reads.
    writer: Option<Writer>,
    /// Whether a commit failed, so that it is unknown what is durable.
    in_doubt: bool,
}

struct Writer {
    recent: Recent,
    tail: Tail,
    /// A head that the last commit has set.
    last: Option<Durable>,
    /// `None` if the connection is to the file.
    memory: Option<InMemory>,
    /// The journal's files, once there are any.
    presence: Option<Presence>,
}

impl SqliteStore {
    /// Opens the journal at `path` to read and write it, together with any other process that does.
    /// If there is none, the first durable commit creates it, with `owner` for people, and until
    /// then this store alone sees what is in it.
    ///
    /// # Errors
    /// [`StoreError::NotAJournal`] and [`StoreError::UnsupportedVersion`] leave the file untouched.
    pub fn open(path: &Path, owner: &str) -> Result<Self, StoreError> {
        let file::Opened { path, linked, is_new } = file::open_to_write(path, owner)?;
        let writer = Some(Writer {
            recent: Recent::read(&linked.connection)?,
            tail: Tail::default(),
            last: None,
            presence: (!is_new).then(|| Presence::note(&path)).transpose()?,
            memory: is_new.then_some(InMemory { is_written: false }),
        });
        Ok(Self {
            linked,
            path,
            writer,
            in_doubt: false,
        })
    }

    /// Opens the journal at `path` to read it, also while other processes write it.
    ///
    /// # Errors
    /// As [`open`](Self::open); [`StoreError::Io`] if there is no file.
    pub fn open_to_read(path: &Path) -> Result<Self, StoreError> {
        Ok(Self {
            linked: file::open_to_read(path)?,
            path: path.to_owned(),
            writer: None,
            in_doubt: false,
        })
    }

    /// Lists what the journal lacks of its last durable commit, which it noted beside its file. It
    /// has then lost that commit and maybe others before it: a write-ahead log with damage in its
    /// middle is read as far as the damage.
    ///
    /// # Errors
    /// As [`Store::heads`].
    pub fn lost(&self) -> Result<Vec<LostCommits>, StoreError> {
        if let Some(Writer { memory: Some(_), .. }) = &self.writer {
            return Ok(Vec::new());
        }
        let mut tail = tail::read(&self.path);
        loop {
            let lost = self.view(|connection| tail::lost(&tail, connection))?;
            if lost.is_empty() {
                return Ok(lost);
            }
            // Meanwhile a writer may have removed a branch, and has said so before.
            let now = tail::read(&self.path);
            if tail.iter().all(|durable| now.contains(durable)) {
                return Ok(lost);
            }
            tail.retain(|durable| now.contains(durable));
        }
    }

    /// Says whether a process has the journal's file open to write it.
    fn has_log(&self) -> bool {
        beside(&self.path, "-wal").exists()
    }

    /// Takes the journal as it is for whole, so that [`lost`](Self::lost) finds nothing.
    pub fn accept_loss(&mut self) {
        if let Some(writer) = &mut self.writer {
            writer.tail.clear(&self.path);
        }
    }

    /// Gives the space of removed rows back to the file system; this takes as long as copying the
    /// other rows.
    ///
    /// # Errors
    /// [`StoreError::ReadOnly`], [`StoreError::Database`]; the journal is as it was.
    pub fn compact(&mut self) -> Result<(), StoreError> {
        if self.writer.is_none() {
            return Err(StoreError::ReadOnly);
        }
        self.reach_file()?;
        self.check_presence()?;
        self.linked.budget.renew();
        let done = self
            .linked
            .connection
            .execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)");
        done.map_err(failed("giving space back"))?;
        let presence = self.writer.as_mut().and_then(|writer| writer.presence.as_mut());
        presence.map_or(Ok(()), Presence::renew)
    }
}

impl Store for SqliteStore {
    fn claim(&mut self, run: &RunId, owner: &str) -> Result<Epoch, StoreError> {
        // A crash may lose the claim, but then nothing else: all that is written under the claim
        // is written after it.
        self.commit_in_order(|connection, recent| work::claim(connection, recent, run, owner))
    }

    fn claimed(&self, run: &RunId) -> Result<Option<Claim>, StoreError> {
        self.view(|connection| Ok(Run::find(connection, run)?.as_ref().map(work::claim_of)))
    }

    fn check_claim(&mut self, run: &RunId, epoch: Epoch) -> Result<(), StoreError> {
        match &self.writer {
            // The journal is a moment old, and nobody has opened it since.
            Some(Writer { memory: Some(_), .. }) if !self.has_log() => return Ok(()),
            Some(Writer { memory: Some(_), .. }) => self.reach_file()?,
            Some(Writer { recent, .. }) if recent.is_sure(&self.linked.connection, run, epoch)? => return Ok(()),
            Some(_) | None => {}
        }
        let row = self.view(|connection| Run::read(connection, run))?;
        batch::check_epoch(run, epoch, row.epoch)
    }

    fn note_owner(&mut self, run: &RunId, epoch: Epoch, owner: &str) -> Result<(), StoreError> {
        self.commit_in_order(|connection, recent| {
            work::change_run(connection, recent, run, epoch, |row| owner.clone_into(&mut row.owner))
        })
    }

    fn append_group(&mut self, appends: &[Append<'_>]) -> Result<(), StoreError> {
        self.commit(|connection, recent| {
            let (mut writing, now) = (Writing::begin(connection), CommitTime::now());
            appends
                .iter()
                .try_for_each(|append| work::append(&mut writing, recent, append, now))?;
            recent.index_names(writing.tables()?)
        })?;
        self.note_tail(appends.first().map(|append| (append.run, append.branch)));
        Ok(())
    }

    fn set_heads(&mut self, moves: &[HeadMove<'_>]) -> Result<(), StoreError> {
        self.commit(|connection, recent| {
            let mut writing = Writing::begin(connection);
            moves
                .iter()
                .try_for_each(|head_move| work::move_head(&mut writing, recent, head_move))?;
            recent.index_names(writing.tables()?)
        })?;
        self.note_tail(moves.first().map(|head_move| (head_move.run, head_move.branch)));
        Ok(())
    }

    fn set_need(&mut self, run: &RunId, branch: &BranchName, epoch: Epoch, need: Need) -> Result<(), StoreError> {
        let set = work::NewNeed {
            run,
            branch,
            epoch,
            need,
        };
        self.commit_in_order(|connection, recent| work::set_need(connection, recent, &set))
    }

    fn need(&self, run: &RunId, branch: &BranchName) -> Result<Need, StoreError> {
        self.view(|connection| standby::need(connection, &Run::read(connection, run)?, branch))
    }

    fn ready(&self, now_ms: u64, max: usize) -> Result<Vec<Ready>, StoreError> {
        self.view(|connection| standby::ready(connection, now_ms, max))
    }

    fn put(&mut self, run: &RunId, letter: &Letter) -> Result<(), StoreError> {
        self.commit(|connection, _| standby::put(connection, run, letter))
    }

    fn letters(&self, run: &RunId, branch: &BranchName) -> Result<Vec<Letter>, StoreError> {
        self.view(|connection| standby::letters(connection, run, branch))
    }

    fn refuse(&mut self, run: &RunId, epoch: Epoch, taken: &Taken) -> Result<(), StoreError> {
        self.commit(|connection, _| standby::refuse(connection, run, epoch, taken))
    }

    fn reply(&self, run: &RunId, letter: LetterId) -> Result<Option<Vec<u8>>, StoreError> {
        self.view(|connection| standby::reply(connection, run, letter))
    }

    fn replace_reply(&mut self, run: &RunId, taken: &Taken) -> Result<bool, StoreError> {
        self.commit_in_order(|connection, _| standby::replace_reply(connection, run, taken))
    }

    fn forget_reply(&mut self, run: &RunId, letter: LetterId) -> Result<(), StoreError> {
        self.commit_in_order(|connection, _| standby::forget_reply(connection, run, letter))
    }

    fn note_worker(&mut self, name: &str, told: &str) -> Result<(), StoreError> {
        self.commit_in_order(|connection, _| standby::note_worker(connection, name, told))
    }

    fn workers(&self) -> Result<Vec<String>, StoreError> {
        self.view(standby::workers)
    }

    fn remove(&mut self, removal: &Removal<'_>) -> Result<(), StoreError> {
        // A branch that goes must not be missed.
        if let Some(writer) = &mut self.writer {
            writer.tail.forget(&self.path, removal.run);
            writer.last = None;
        }
        self.commit(|connection, recent| {
            work::remove(connection, removal)?;
            *recent = Recent::read(connection)?;
            Ok(())
        })
    }

    fn mark(&self) -> Result<Mark, StoreError> {
        self.view(chain::mark)
    }

    fn runs(&self) -> Result<Vec<RunId>, StoreError> {
        self.view(|connection| {
            let begun = Run::list(connection)?.into_iter().filter(|run| run.branches > 0);
            Ok(begun.map(|run| run.name).collect())
        })
    }

    fn has_run(&self, run: &RunId) -> Result<bool, StoreError> {
        self.view(|connection| Ok(Run::find(connection, run)?.is_some_and(|run| run.branches > 0)))
    }

    fn heads(&self, run: &RunId) -> Result<Vec<Head>, StoreError> {
        self.view(|connection| {
            let run = Run::read(connection, run)?;
            Ok(Branch::list(connection, &run)?
                .into_iter()
                .map(|branch| branch.head)
                .collect())
        })
    }

    fn head(&self, run: &RunId, branch: &BranchName) -> Result<Option<Head>, StoreError> {
        self.view(|connection| {
            let run = Run::read(connection, run)?;
            Ok(work::find_branch(connection, &run, branch)?.map(|branch| branch.head))
        })
    }

    fn read(&self, run: &RunId, branch: &BranchName, range: Range<Sequence>) -> Result<Vec<Record>, StoreError> {
        self.view(|connection| {
            let records = closed(connection, run, branch, range)?;
            records.into_iter().map(|record| open(connection, record)).collect()
        })
    }

    fn read_closed(
        &self,
        run: &RunId,
        branch: &BranchName,
        range: Range<Sequence>,
    ) -> Result<Vec<ClosedRecord>, StoreError> {
        self.view(|connection| closed(connection, run, branch, range))
    }

    fn times(&self, run: &RunId, branch: &BranchName, range: Range<Sequence>) -> Result<Vec<CommitTime>, StoreError> {
        self.view(|connection| moment::read_range(connection, &known_branch(connection, run, branch)?, &range))
    }

    fn record(&self, hash: &RecordHash) -> Result<Record, StoreError> {
        self.view(|connection| {
            let key = chain::find(connection, hash)?.ok_or(StoreError::NoSuchRecord { hash: *hash })?;
            open(connection, chain::read(connection, key, *hash)?)
        })
    }

    fn blob(&self, hash: &BlobHash) -> Result<Vec<u8>, StoreError> {
        blobs::read(&self.linked.connection, hash)
    }

    fn join(&self, record: ClosedRecord) -> Result<ClosedRecord, StoreError> {
        if !record.is_in_parts() {
            return Ok(record);
        }
        self.view(|connection| record.join(&mut fetching(|hash| blobs::read(connection, hash))))
    }

    fn has_blob(&self, hash: &BlobHash) -> Result<bool, StoreError> {
        blobs::has(&self.linked.connection, hash)
    }

    fn note(&self, run: &RunId) -> Result<Option<Vec<u8>>, StoreError> {
        self.view(|connection| {
            let note = Run::find(connection, run)?.map(|run| run.note);
            Ok(note.filter(|note| !note.is_empty()))
        })
    }

    fn set_note(&mut self, run: &RunId, epoch: Epoch, note: &[u8]) -> Result<(), StoreError> {
        let set = |connection: &Connection, recent: &mut Recent| {
            work::change_run(connection, recent, run, epoch, |row| note.clone_into(&mut row.note))
        };
        if self.has_run(run)? {
            self.commit(set)
        } else {
            self.commit_in_order(set)
        }
    }

    fn save_copy(&self, path: &Path) -> Result<(), StoreError> {
        file::create(path, &self.linked.connection)
    }
}

/// Reads records of a branch without looking into their bodies.
fn closed(
    connection: &Connection,
    run: &RunId,
    branch: &BranchName,
    range: Range<Sequence>,
) -> Result<Vec<ClosedRecord>, StoreError> {
    let found = known_branch(connection, run, branch)?;
    work::read_range(connection, run, &found, range.start.number()..range.end.number())
}

/// Finds a branch that a reader has named.
fn known_branch(connection: &Connection, run: &RunId, branch: &BranchName) -> Result<Branch, StoreError> {
    let row = Run::read(connection, run)?;
    let no_branch = || StoreError::NoSuchBranch {
        run: run.clone(),
        branch: branch.clone(),
    };
    work::find_branch(connection, &row, branch)?.ok_or_else(no_branch)
}

/// Looks into a record, whose parts are read in the same view.
fn open(connection: &Connection, record: ClosedRecord) -> Result<Record, StoreError> {
    open_record(record, &mut fetching(|hash| blobs::read(connection, hash)))
}
