//! The embedded store: one SQLite file for all runs of a workspace.
//!
//! Owns the transactions; `sqlite/file.rs` opens, `sqlite/guard.rs` and `sqlite/tail.rs` check what
//! was opened, `sqlite/schema.rs` has the tables, `sqlite/row.rs`, `sqlite/chain.rs` and
//! `sqlite/blobs.rs` read and write them, `sqlite/recent.rs` remembers what the writer has read.
//! INVARIANT: one process writes, under an operating system's lock that its death releases; others
//! may read meanwhile. A read returns the bytes that were written, or an error. A journal without a
//! file is in memory until a commit has to be durable, which makes the file before it returns: so
//! there is no file without a commit, and the first one does not go through the write-ahead log.
//!
//! Read next: `store/sqlite/schema.rs`.
//!
//! Source: `journal/FORMAT.md`, "SQLite".

mod blobs;
mod chain;
mod file;
mod guard;
mod log;
mod presence;
mod recent;
mod row;
mod schema;
mod seal;
mod tail;
mod writing;

pub use self::file::{has_damaged_header, missing_bytes};
pub(crate) use self::row::failed;
pub(crate) use self::seal::seal;
pub use self::tail::LostCommits;

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, params};

use self::guard::Budget;
use self::presence::Presence;
use self::recent::Recent;
use self::row::{Branch, Run, Workspace};
use self::tail::Tail;
use self::writing::Writing;
use super::batch::{self, Tip};
use super::{Append, Head, HeadMove, Removal, Store, StoreError, open_record};
use crate::identity::{BlobHash, BranchName, Epoch, RecordHash, RunId, Sequence};
use crate::lock::Lock;
use crate::record::{ClosedRecord, Record};

/// A store in one SQLite file.
pub struct SqliteStore {
    connection: Connection,
    budget: Budget,
    path: PathBuf,
    /// `None` if the store only reads.
    writer: Option<Writer>,
    /// Whether a commit failed, so that it is unknown what is durable.
    in_doubt: bool,
}

struct Writer {
    recent: Recent,
    tail: Tail,
    /// `None` if the connection is to the file.
    memory: Option<InMemory>,
    /// The journal's files, once there are any.
    presence: Option<Presence>,
    /// Dropping it lets the next writer in.
    _lock: Lock,
}

/// A journal that was begun in memory, where the connection still is.
struct InMemory {
    path: PathBuf,
    /// Whether the file is there, and says the same.
    is_written: bool,
}

impl SqliteStore {
    /// Opens the journal at `path` to read and write it; `owner` tells people who does. If there is
    /// none, the first durable commit creates it, and until then this store alone sees what is in
    /// it.
    ///
    /// # Errors
    /// [`StoreError::Locked`] while another process, or another store of this one, writes it;
    /// [`StoreError::NotAJournal`] and [`StoreError::UnsupportedVersion`] leave the file untouched.
    pub fn open(path: &Path, owner: &str) -> Result<Self, StoreError> {
        let file::Opened {
            path,
            connection,
            budget,
            lock,
            is_new,
        } = file::open_to_write(path, owner)?;
        let writer = Some(Writer {
            recent: Recent::read(&connection)?,
            tail: Tail::default(),
            presence: (!is_new).then(|| Presence::note(&path)).transpose()?,
            memory: is_new.then(|| InMemory {
                path: path.clone(),
                is_written: false,
            }),
            _lock: lock,
        });
        let mut store = Self {
            connection,
            budget,
            path,
            writer,
            in_doubt: false,
        };
        if !is_new {
            store.commit_in_order(|connection, _| {
                let workspace = Workspace::read(connection)?;
                Workspace {
                    owner: owner.to_owned(),
                    ..workspace
                }
                .write(connection)
            })?;
        }
        Ok(store)
    }

    /// Opens the journal at `path` to read it, also while another process writes it.
    ///
    /// # Errors
    /// As [`open`](Self::open), but for the lock; [`StoreError::Io`] if there is no file.
    pub fn open_to_read(path: &Path) -> Result<Self, StoreError> {
        let (connection, budget) = file::open_to_read(path)?;
        Ok(Self {
            connection,
            budget,
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
        match &self.writer {
            Some(Writer { memory: Some(_), .. }) => Ok(Vec::new()),
            Some(_) | None => self.view(|connection| tail::lost(&self.path, connection)),
        }
    }

    /// Takes the journal as it is for whole, so that [`lost`](Self::lost) finds nothing.
    pub fn accept_loss(&mut self) {
        if let Some(writer) = &mut self.writer {
            writer.tail.note(&self.path, &[]);
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
        self.budget.renew();
        let done = self.connection.execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)");
        done.map_err(failed("giving space back"))?;
        let presence = self.writer.as_mut().and_then(|writer| writer.presence.as_mut());
        presence.map_or(Ok(()), Presence::renew_cut)
    }

    /// Checks that the journal's files are those that the store has open.
    fn check_presence(&mut self) -> Result<(), StoreError> {
        let presence = self.writer.as_mut().and_then(|writer| writer.presence.as_mut());
        let checked = presence.map_or(Ok(()), |presence| presence.check(&self.connection));
        self.in_doubt |= checked.is_err();
        checked
    }

    /// Checks the same after a commit, which is lost if the files are others by now.
    fn renew_presence(&mut self) -> Result<(), StoreError> {
        let presence = self.writer.as_mut().and_then(|writer| writer.presence.as_mut());
        let renewed = presence.map_or(Ok(()), Presence::renew);
        self.in_doubt |= renewed.is_err();
        renewed
    }

    /// Notes beside the file where the branches stand that a durable commit has set. The first
    /// commit needs no note, because it does not go through the log.
    fn note_tail<'a>(&mut self, set: impl Iterator<Item = (&'a RunId, &'a BranchName)>) {
        if let Some(Writer {
            recent,
            tail,
            memory: None,
            ..
        }) = &mut self.writer
        {
            tail.note(&self.path, &recent.standing(set));
        }
    }

    /// Performs `work` in one durable transaction, or leaves the journal as it was.
    fn commit<T>(
        &mut self,
        work: impl FnOnce(&Connection, &mut Recent) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.reach_file()?;
        let value = self.transact(work)?;
        self.write_file()?;
        self.renew_presence()?;
        Ok(value)
    }

    /// Writes a database that is only in memory to a durable file. The store needs the file only
    /// when it commits again, and many never do.
    fn write_file(&mut self) -> Result<(), StoreError> {
        if let Some(Writer {
            memory: Some(memory),
            presence,
            ..
        }) = &mut self.writer
            && !memory.is_written
        {
            // If this fails, the commit is in memory and not in the file.
            self.in_doubt = true;
            file::create(&memory.path, &self.connection)?;
            memory.is_written = true;
            *presence = Some(Presence::note(&memory.path)?);
            self.in_doubt = false;
        }
        Ok(())
    }

    /// Leaves the memory, if the journal has a file by now; before anything is written.
    fn reach_file(&mut self) -> Result<(), StoreError> {
        self.check_presence()?;
        if let Some(Writer { recent, memory, .. }) = &mut self.writer
            && let Some(InMemory { path, is_written: true }) = memory
        {
            let (connection, budget) = file::connect_to_write(path)?;
            *recent = Recent::read(&connection)?;
            (self.connection, self.budget) = (connection, budget);
            *memory = None;
        }
        Ok(())
    }

    /// Performs `work` in one transaction, which is as durable as the connection makes it, or
    /// leaves the journal as it was.
    fn transact<T>(
        &mut self,
        work: impl FnOnce(&Connection, &mut Recent) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        if self.in_doubt {
            return Err(StoreError::InDoubt);
        }
        let Some(Writer { recent, .. }) = &mut self.writer else {
            return Err(StoreError::ReadOnly);
        };
        let connection = &self.connection;
        self.budget.renew();
        execute(connection, "BEGIN IMMEDIATE", "beginning a transaction")?;
        let result = recent.refresh(connection).and_then(|()| work(connection, recent));
        let committed = result.is_ok().then(|| execute(connection, "COMMIT", "committing"));
        if let Some(Ok(())) = committed {
            return result;
        }
        let rolled_back = roll_back(connection);
        self.in_doubt = committed.is_some() || rolled_back.is_err();
        match Recent::read(connection) {
            Ok(read) => *recent = read,
            Err(_) => self.in_doubt = true,
        }
        committed.unwrap_or(Ok(())).and(result)
    }

    /// Performs `work` in one transaction, or leaves the journal as it was. The transaction does
    /// not wait for the disk; it is durable as soon as any later one is. This suits rows that mean
    /// nothing until other rows follow them.
    fn commit_in_order<T>(
        &mut self,
        work: impl FnOnce(&Connection, &mut Recent) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.reach_file()?;
        // Not by statements that are kept: this pragma takes effect when it is compiled.
        let set = |connection: &Connection, sql| connection.execute_batch(sql).map_err(failed("choosing when to sync"));
        set(&self.connection, "PRAGMA synchronous = NORMAL")?;
        let result = self.transact(work);
        let result = result.and_then(|value| self.renew_presence().map(|()| value));
        // A store that does not wait for the disk must not go on.
        let restored = set(&self.connection, file::SYNCHRONOUS);
        self.in_doubt |= restored.is_err();
        result.and_then(|value| restored.map(|()| value))
    }

    /// Performs `work` on one unchanging view of the file.
    fn view<T>(&self, work: impl FnOnce(&Connection) -> Result<T, StoreError>) -> Result<T, StoreError> {
        self.budget.renew();
        execute(&self.connection, "BEGIN", "beginning to read")?;
        let result = work(&self.connection);
        let ended = roll_back(&self.connection);
        result.and_then(|value| ended.map(|()| value))
    }
}

/// Ends a transaction without a trace; a grave failure may have ended it already.
fn roll_back(connection: &Connection) -> Result<(), StoreError> {
    if connection.is_autocommit() {
        Ok(())
    } else {
        execute(connection, "ROLLBACK", "rolling back")
    }
}

fn execute(connection: &Connection, sql: &'static str, doing: &'static str) -> Result<(), StoreError> {
    let executed = connection
        .prepare_cached(sql)
        .and_then(|mut statement| statement.execute([]));
    executed.map(drop).map_err(failed(doing))
}

impl Store for SqliteStore {
    fn claim(&mut self, run: &RunId, owner: &str) -> Result<Epoch, StoreError> {
        // A crash may lose the claim, but then nothing else: all that is written under the claim
        // is written after it.
        self.commit_in_order(|connection, recent| {
            let found = Run::find(connection, run)?;
            let is_new = found.is_none();
            let mut claimed = found.unwrap_or_else(|| Run::unclaimed(run.clone()));
            if claimed.branches == 0 {
                // A run of that name was never begun, or has been removed whole.
                claimed.note.clear();
            }
            claimed.epoch = claimed.epoch.next()?;
            owner.clone_into(&mut claimed.owner);
            claimed.write(connection)?;
            recent.note_run(claimed.clone());
            if is_new {
                let workspace = Workspace::read(connection)?;
                Workspace {
                    runs: workspace.runs + 1,
                    ..workspace
                }
                .write(connection)?;
            }
            Ok(claimed.epoch)
        })
    }

    fn append_group(&mut self, appends: &[Append<'_>]) -> Result<(), StoreError> {
        self.commit(|connection, recent| {
            let mut writing = Writing::begin(connection);
            appends
                .iter()
                .try_for_each(|append| append_one(&mut writing, recent, append))?;
            recent.index_names(writing.tables()?)
        })?;
        self.note_tail(appends.iter().map(|append| (append.run, append.branch)));
        Ok(())
    }

    fn set_heads(&mut self, moves: &[HeadMove<'_>]) -> Result<(), StoreError> {
        self.commit(|connection, recent| {
            let mut writing = Writing::begin(connection);
            moves
                .iter()
                .try_for_each(|head_move| move_head(&mut writing, recent, head_move))?;
            writing.tables().map(drop)
        })?;
        self.note_tail(moves.iter().map(|head_move| (head_move.run, head_move.branch)));
        Ok(())
    }

    fn remove(&mut self, removal: &Removal<'_>) -> Result<(), StoreError> {
        // A branch that goes must not be missed.
        self.accept_loss();
        self.commit(|connection, recent| {
            remove(connection, removal)?;
            *recent = Recent::read(connection)?;
            Ok(())
        })
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
            Ok(find_branch(connection, &run, branch)?.map(|branch| branch.head))
        })
    }

    fn read(&self, run: &RunId, branch: &BranchName, range: Range<Sequence>) -> Result<Vec<Record>, StoreError> {
        let records = self.read_closed(run, branch, range)?;
        records.into_iter().map(open_record).collect()
    }

    fn read_closed(
        &self,
        run: &RunId,
        branch: &BranchName,
        range: Range<Sequence>,
    ) -> Result<Vec<ClosedRecord>, StoreError> {
        self.view(|connection| {
            let row = Run::read(connection, run)?;
            let no_branch = || StoreError::NoSuchBranch {
                run: run.clone(),
                branch: branch.clone(),
            };
            let found = find_branch(connection, &row, branch)?.ok_or_else(no_branch)?;
            read_range(connection, run, &found, range.start.number()..range.end.number())
        })
    }

    fn record(&self, hash: &RecordHash) -> Result<Record, StoreError> {
        self.view(|connection| {
            let key = chain::find(connection, hash)?.ok_or(StoreError::NoSuchRecord { hash: *hash })?;
            chain::read(connection, key, *hash).and_then(open_record)
        })
    }

    fn blob(&self, hash: &BlobHash) -> Result<Vec<u8>, StoreError> {
        blobs::read(&self.connection, hash)
    }

    fn has_blob(&self, hash: &BlobHash) -> Result<bool, StoreError> {
        blobs::has(&self.connection, hash)
    }

    fn note(&self, run: &RunId) -> Result<Option<Vec<u8>>, StoreError> {
        self.view(|connection| {
            let note = Run::find(connection, run)?.map(|run| run.note);
            Ok(note.filter(|note| !note.is_empty()))
        })
    }

    fn set_note(&mut self, run: &RunId, epoch: Epoch, note: &[u8]) -> Result<(), StoreError> {
        let set = |connection: &Connection, recent: &mut Recent| {
            let mut row = Run::read(connection, run)?;
            batch::check_epoch(run, epoch, row.epoch)?;
            note.clone_into(&mut row.note);
            row.write(connection)?;
            recent.note_run(row);
            Ok(())
        };
        if self.has_run(run)? {
            self.commit(set)
        } else {
            self.commit_in_order(set)
        }
    }

    fn save_copy(&self, path: &Path) -> Result<(), StoreError> {
        file::create(path, &self.connection)
    }
}

/// Finds a branch; it trusts the absence of one only if the run's row counts as many branches as
/// there are rows.
fn find_branch(connection: &Connection, run: &Run, branch: &BranchName) -> Result<Option<Branch>, StoreError> {
    let found = Branch::find(connection, run, branch)?;
    if found.is_none() {
        Branch::list(connection, run)?;
    }
    Ok(found)
}

fn append_one<'a>(writing: &mut Writing<'a>, recent: &mut Recent, append: &Append<'a>) -> Result<(), StoreError> {
    let standing = recent.branch(writing, append.run, append.branch)?;
    batch::check_epoch(append.run, append.epoch, standing.epoch)?;
    let tip = batch::check(append, standing.tip.map(|(tip, _)| tip))?;
    if !append.blobs.is_empty() {
        let connection = writing.tables()?;
        append
            .blobs
            .iter()
            .try_for_each(|blob| blobs::insert(connection, blob))?;
    }
    let mut key = standing.tip.map(|(_, key)| key);
    for record in append.records {
        for blob in record.blobs() {
            if !blobs::has(writing.tables()?, &blob)? {
                return Err(StoreError::MissingBlob {
                    record: record.hash(),
                    blob,
                });
            }
        }
        key = Some(recent.insert(writing, key, record)?);
    }
    let key = key.expect("a checked append has records");
    recent.write_branch(writing, (standing.run, append.branch), (tip, key))
}

fn move_head<'a>(writing: &mut Writing<'a>, recent: &mut Recent, head_move: &HeadMove<'a>) -> Result<(), StoreError> {
    let standing = recent.branch(writing, head_move.run, head_move.branch)?;
    batch::check_epoch(head_move.run, head_move.epoch, standing.epoch)?;
    batch::check_head(
        head_move.run,
        head_move.branch,
        head_move.expected_head,
        standing.tip.map(|(tip, _)| tip),
    )?;
    let hash = head_move.to;
    let no_record = || StoreError::NoSuchRecord { hash };
    let connection = writing.tables()?;
    let key = recent.find(connection, &hash)?.ok_or_else(no_record)?;
    let target = chain::read(connection, key, hash)?;
    if target.header().run != *head_move.run {
        return Err(no_record());
    }
    let tip = Tip {
        hash,
        sequence: target.header().sequence,
    };
    recent.write_branch(writing, (standing.run, head_move.branch), (tip, key))
}

fn remove(connection: &Connection, removal: &Removal<'_>) -> Result<(), StoreError> {
    let mut run = Run::read(connection, removal.run)?;
    batch::check_epoch(removal.run, removal.epoch, run.epoch)?;
    let (gone, stay): (Vec<Branch>, Vec<Branch>) = Branch::list(connection, &run)?
        .into_iter()
        .partition(|branch| removal.branches.contains(&branch.head.branch));
    let staying: BTreeSet<RecordHash> = stay.iter().map(|branch| branch.head.hash).collect();
    let going = chain::with_what_hangs_on(connection, removal.records)?;
    batch::check_removal(going.values(), &staying)?;
    for branch in &gone {
        let sql = "DELETE FROM heads WHERE run = ?1 AND branch = ?2";
        row::change(
            connection,
            sql,
            params![run.id, branch.head.branch.as_str()],
            "removing a branch",
        )?;
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
        .try_for_each(|blob| blobs::remove(connection, blob))
}

/// Reads positions of a branch and checks that the records found belong there.
fn read_range(
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
