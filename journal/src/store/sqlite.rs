//! The embedded store: one SQLite file for all runs of a workspace.
//!
//! Owns the transactions; `sqlite/file.rs` opens, `schema.rs` has the tables, `row.rs` and `segment.rs` read and write them.
//! INVARIANT: one process writes, under an operating system's lock that its death releases; others may read meanwhile. What
//! is read is what was written, or an error.
//!
//! Read next: `store/sqlite/schema.rs`.
//!
//! Source: `journal/FORMAT.md`, "SQLite".

mod file;
mod row;
mod schema;
mod segment;

use std::fs::File;
use std::ops::Range;
use std::path::Path;

use rusqlite::{Connection, params};

use self::row::{Branch, Run, Workspace, failed, optional};
use self::segment::Place;
use super::batch;
use super::{Append, Blob, Head, HeadMove, Store, StoreError, checked_blob};
use crate::identity::{BlobHash, BranchName, Epoch, RecordHash, RunId, Sequence};
use crate::record::Record;

/// A store in one SQLite file.
pub struct SqliteStore {
    connection: Connection,
    /// Held while the store may write; `None` if it only reads.
    lock: Option<File>,
    /// Whether a commit failed, so that it is unknown what is durable.
    in_doubt: bool,
}

impl SqliteStore {
    /// Opens the journal at `path` to read and write it, and creates it if there is none; `owner` tells people who does.
    ///
    /// # Errors
    /// [`StoreError::Locked`] while another process, or another store of this one, writes it;
    /// [`StoreError::NotAJournal`] and [`StoreError::UnsupportedVersion`] leave the file untouched.
    pub fn open(path: &Path, owner: &str) -> Result<Self, StoreError> {
        let (connection, lock) = file::open_to_write(path)?;
        let mut store = Self {
            connection,
            lock: Some(lock),
            in_doubt: false,
        };
        store.commit(|connection| {
            let workspace = Workspace::read(connection)?;
            Workspace {
                owner: owner.to_owned(),
                ..workspace
            }
            .write(connection)
        })?;
        Ok(store)
    }

    /// Opens the journal at `path` to read it, also while another process writes it.
    ///
    /// # Errors
    /// As [`open`](Self::open), but for the lock; [`StoreError::Io`] if there is no file.
    pub fn open_to_read(path: &Path) -> Result<Self, StoreError> {
        Ok(Self {
            connection: file::open_to_read(path)?,
            lock: None,
            in_doubt: false,
        })
    }

    /// Performs `work` in one durable transaction, or leaves the file as it was.
    fn commit<T>(&mut self, work: impl FnOnce(&Connection) -> Result<T, StoreError>) -> Result<T, StoreError> {
        if self.lock.is_none() {
            return Err(StoreError::ReadOnly);
        }
        if self.in_doubt {
            return Err(StoreError::InDoubt);
        }
        self.execute("BEGIN IMMEDIATE", "beginning a transaction")?;
        let result = work(&self.connection);
        if result.is_ok() {
            let committed = self.execute("COMMIT", "committing");
            self.in_doubt = committed.is_err();
            committed?;
        } else if !self.connection.is_autocommit() {
            let rolled_back = self.execute("ROLLBACK", "rolling back");
            self.in_doubt = rolled_back.is_err();
        }
        result
    }

    /// Performs `work` on one unchanging view of the file.
    fn view<T>(&self, work: impl FnOnce(&Connection) -> Result<T, StoreError>) -> Result<T, StoreError> {
        self.execute("BEGIN", "beginning to read")?;
        let result = work(&self.connection);
        self.execute("COMMIT", "ending to read")?;
        result
    }

    fn execute(&self, sql: &'static str, doing: &'static str) -> Result<(), StoreError> {
        let executed = self
            .connection
            .prepare_cached(sql)
            .and_then(|mut statement| statement.execute([]));
        executed.map(drop).map_err(failed(doing))
    }
}

impl Store for SqliteStore {
    fn claim(&mut self, run: &RunId, owner: &str) -> Result<Epoch, StoreError> {
        self.commit(|connection| {
            let found = Run::find(connection, run)?;
            let is_new = found.is_none();
            let mut claimed = found.unwrap_or_else(|| Run::unclaimed(run.clone()));
            claimed.epoch = Epoch(claimed.epoch.0 + 1);
            owner.clone_into(&mut claimed.owner);
            claimed.write(connection)?;
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
        self.commit(|connection| appends.iter().try_for_each(|append| append_one(connection, append)))
    }

    fn set_head(&mut self, head_move: &HeadMove<'_>) -> Result<(), StoreError> {
        self.commit(|connection| move_head(connection, head_move))
    }

    fn runs(&self) -> Result<Vec<RunId>, StoreError> {
        self.view(|connection| Ok(Run::list(connection)?.into_iter().map(|run| run.name).collect()))
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
            let place = segment::find(connection, hash)?.ok_or(StoreError::NoSuchRecord { hash: *hash })?;
            segment::read(connection, place.key, *hash)
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
}

/// Finds a branch; that it is not there is believed only if the run's row counts no more than can be seen.
fn find_branch(connection: &Connection, run: &Run, branch: &BranchName) -> Result<Option<Branch>, StoreError> {
    let found = Branch::find(connection, run, branch)?;
    if found.is_none() {
        Branch::list(connection, run)?;
    }
    Ok(found)
}

fn append_one(connection: &Connection, append: &Append<'_>) -> Result<(), StoreError> {
    let run = Run::read(connection, append.run)?;
    batch::check_epoch(append.run, append.epoch, run.epoch)?;
    let found = find_branch(connection, &run, append.branch)?;
    let tip = batch::check(append, found.as_ref().map(Branch::tip))?;
    append.blobs.iter().try_for_each(|blob| insert_blob(connection, blob))?;
    let mut key = found.as_ref().map(|branch| branch.record);
    for record in append.records {
        for blob in record.blobs() {
            if !has_blob(connection, &blob)? {
                return Err(StoreError::MissingBlob {
                    record: record.hash(),
                    blob,
                });
            }
        }
        key = Some(segment::insert(connection, key, record)?);
    }
    let head = Head {
        branch: append.branch.clone(),
        sequence: tip.sequence,
        hash: tip.hash,
    };
    let record = key.expect("a checked append has records");
    Branch { head, record }.write(connection, &run, found.is_none())
}

fn move_head(connection: &Connection, head_move: &HeadMove<'_>) -> Result<(), StoreError> {
    let run = Run::read(connection, head_move.run)?;
    batch::check_epoch(head_move.run, head_move.epoch, run.epoch)?;
    let found = find_branch(connection, &run, head_move.branch)?;
    batch::check_head(
        head_move.run,
        head_move.branch,
        head_move.expected_head,
        found.as_ref().map(Branch::tip),
    )?;
    let hash = head_move.to;
    let no_record = || StoreError::NoSuchRecord { hash };
    let Place { key, .. } = segment::find(connection, &hash)?.ok_or_else(no_record)?;
    let target = segment::read(connection, key, hash)?;
    if target.header().run != *head_move.run {
        return Err(no_record());
    }
    let head = Head {
        branch: head_move.branch.clone(),
        sequence: target.header().sequence,
        hash,
    };
    Branch { head, record: key }.write(connection, &run, found.is_none())
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
) -> Result<Vec<Record>, StoreError> {
    let head = &branch.head;
    let range = range.start..range.end.min(head.sequence.number() + 1);
    let mut records: Vec<Record> = Vec::new();
    if range.is_empty() {
        return Ok(records);
    }
    let from = Place {
        key: branch.record,
        sequence: head.sequence.number(),
    };
    for keys in segment::stretches(connection, from, &range)? {
        records.extend(segment::read_stretch(connection, &keys)?);
    }
    let mut parent = None;
    for (record, sequence) in records.iter().zip(range.clone()) {
        let header = record.header();
        let is_linked = parent.is_none_or(|parent| header.parent == Some(parent));
        if header.run != *run || header.sequence.number() != sequence || !is_linked {
            return Err(StoreError::Inconsistent {
                what: "a record stands in another one's place",
            });
        }
        parent = Some(record.hash());
    }
    let missing = range.start + records.len() as u64;
    if missing < range.end {
        return Err(StoreError::Gap {
            run: run.clone(),
            branch: head.branch.clone(),
            sequence: missing,
        });
    }
    if range.end > head.sequence.number() && parent != Some(head.hash) {
        return Err(StoreError::Inconsistent {
            what: "the newest record of a branch is not its head",
        });
    }
    Ok(records)
}
