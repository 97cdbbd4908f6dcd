//! The embedded store: one SQLite file for all runs of a workspace.
//!
//! Owns the transactions; `sqlite/file.rs` opens, `sqlite/schema.rs` has the tables,
//! `sqlite/row.rs` and `sqlite/chain.rs` read and write them, `sqlite/recent.rs` remembers what the
//! writer has read.
//! INVARIANT: one process writes, under an operating system's lock that its death releases; others
//! may read meanwhile. A read returns the bytes that were written, or an error. A journal without a
//! file is in memory until a commit has to be durable, which makes the file before it returns: so
//! there is no file without a commit, and the first one does not go through the write-ahead log.
//!
//! Read next: `store/sqlite/schema.rs`.
//!
//! Source: `journal/FORMAT.md`, "SQLite".

mod chain;
mod file;
mod presence;
mod recent;
mod row;
mod schema;
mod seal;
mod writing;

pub use self::file::missing_bytes;
pub(crate) use self::row::failed;
pub(crate) use self::seal::seal;

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, params};

use self::presence::Presence;
use self::recent::Recent;
use self::row::{Branch, Run, Workspace, optional};
use self::writing::Writing;
use super::batch::{self, Tip};
use super::{Append, Blob, Head, HeadMove, Removal, Store, StoreError, checked_blob, open_record};
use crate::identity::{BlobHash, BranchName, Epoch, RecordHash, RunId, Sequence};
use crate::lock::Lock;
use crate::record::{ClosedRecord, Record};

/// A store in one SQLite file.
pub struct SqliteStore {
    connection: Connection,
    /// `None` if the store only reads.
    writer: Option<Writer>,
    /// Whether a commit failed, so that it is unknown what is durable.
    in_doubt: bool,
}

struct Writer {
    recent: Recent,
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
            lock,
            is_new,
        } = file::open_to_write(path, owner)?;
        let writer = Some(Writer {
            recent: Recent::read(&connection)?,
            presence: (!is_new).then(|| Presence::note(&path)).transpose()?,
            memory: is_new.then_some(InMemory {
                path,
                is_written: false,
            }),
            _lock: lock,
        });
        let mut store = Self {
            connection,
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
        Ok(Self {
            connection: file::open_to_read(path)?,
            writer: None,
            in_doubt: false,
        })
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
            let connection = file::connect_to_write(path)?;
            *recent = Recent::read(&connection)?;
            self.connection = connection;
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
        })
    }

    fn set_heads(&mut self, moves: &[HeadMove<'_>]) -> Result<(), StoreError> {
        self.commit(|connection, recent| {
            let mut writing = Writing::begin(connection);
            moves
                .iter()
                .try_for_each(|head_move| move_head(&mut writing, recent, head_move))?;
            writing.tables().map(drop)
        })
    }

    fn remove(&mut self, removal: &Removal<'_>) -> Result<(), StoreError> {
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
        let sql = "SELECT bytes FROM blobs WHERE hash = ?1";
        let bytes: Option<Vec<u8>> = optional(&self.connection, sql, [hash.as_bytes()], "reading a blob")?;
        checked_blob(*hash, bytes.ok_or(StoreError::NoSuchBlob { hash: *hash })?)
    }

    fn has_blob(&self, hash: &BlobHash) -> Result<bool, StoreError> {
        has_blob(&self.connection, hash)
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
        append.blobs.iter().try_for_each(|blob| insert_blob(connection, blob))?;
    }
    let mut key = standing.tip.map(|(_, key)| key);
    for record in append.records {
        for blob in record.blobs() {
            if !has_blob(writing.tables()?, &blob)? {
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
    removal.blobs.iter().try_for_each(|blob| {
        let sql = "DELETE FROM blobs WHERE hash = ?1";
        row::change(connection, sql, [blob.as_bytes()], "removing a blob")
    })
}

fn insert_blob(connection: &Connection, blob: &Blob) -> Result<(), StoreError> {
    let sql = "INSERT INTO blobs (hash, bytes) VALUES (?1, ?2) ON CONFLICT (hash) DO NOTHING";
    let hash = blob.hash();
    let fields = params![hash.as_bytes(), blob.as_bytes()];
    let inserted = connection
        .prepare_cached(sql)
        .and_then(|mut statement| statement.execute(fields));
    inserted.map(drop).map_err(failed("writing a blob"))
}

fn has_blob(connection: &Connection, hash: &BlobHash) -> Result<bool, StoreError> {
    let sql = "SELECT 1 FROM blobs WHERE hash = ?1";
    Ok(optional::<i64>(connection, sql, [hash.as_bytes()], "looking for a blob")?.is_some())
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
