//! The sealed rows: the workspace, the runs and their owners, the heads of branches.
//!
//! INVARIANT: a row read here matches its seal, and a list of rows is as long as the sealed row
//! above it says; so neither a changed nor a vanished row goes unnoticed.
//!
//! It knows nothing of records.
//! Read next: `store/sqlite/chain.rs`.

use std::io;

use rusqlite::{Connection, ErrorCode, OptionalExtension, Row, params};

use super::seal::{check_seal, seal};
use crate::identity::{BranchName, Epoch, RecordHash, RunId, Sequence};
use crate::lock::io_error;
use crate::store::Tip;
use crate::store::{Head, StoreError};

/// Wraps a failure of the database.
pub(crate) fn failed(doing: &'static str) -> impl Fn(rusqlite::Error) -> StoreError {
    move |source| match source.sqlite_error_code() {
        Some(ErrorCode::OperationInterrupted) => StoreError::Inconsistent {
            what: "reading it takes far more steps than its size explains",
        },
        Some(ErrorCode::DatabaseBusy) => StoreError::Locked,
        Some(ErrorCode::ReadOnly) => {
            let why = "its file or its folder may only be read";
            io_error(doing)(io::Error::new(io::ErrorKind::PermissionDenied, why))
        }
        Some(_) | None => StoreError::Database { doing, source },
    }
}

/// The row about the workspace as a whole.
#[derive(Clone, Debug, Default)]
pub(super) struct Workspace {
    /// Who made the journal, for people.
    pub(super) owner: String,
    pub(super) runs: i64,
    /// The names of records up to this key are indexed.
    pub(super) indexed: i64,
}

impl Workspace {
    fn with_fields<T>(&self, then: impl FnOnce(&[&[u8]]) -> T) -> T {
        then(&[
            b"workspace",
            self.owner.as_bytes(),
            &self.runs.to_le_bytes(),
            &self.indexed.to_le_bytes(),
        ])
    }

    /// Inserts the row; there is one.
    pub(super) fn create(&self, connection: &Connection) -> rusqlite::Result<()> {
        let sql = "INSERT INTO workspace (id, owner, runs, indexed, seal) VALUES (1, ?1, ?2, ?3, ?4)";
        connection
            .prepare_cached(sql)?
            .execute(params![self.owner, self.runs, self.indexed, self.with_fields(seal)])
            .map(drop)
    }

    /// Reads the row.
    pub(super) fn read(connection: &Connection) -> Result<Self, StoreError> {
        let failed = failed("reading the workspace's row");
        let sql = "SELECT owner, runs, indexed, seal FROM workspace";
        let mut statement = connection.prepare_cached(sql).map_err(&failed)?;
        let read = |row: &Row<'_>| {
            let workspace = Self {
                owner: row.get(0)?,
                runs: row.get(1)?,
                indexed: row.get(2)?,
            };
            Ok((workspace, row.get::<_, Vec<u8>>(3)?))
        };
        let (workspace, found) = statement.query_one([], read).map_err(&failed)?;
        let what = "the workspace's row does not match its seal";
        workspace.with_fields(|fields| check_seal(&found, fields, what))?;
        Ok(workspace)
    }

    /// Writes the row.
    pub(super) fn write(&self, connection: &Connection) -> Result<(), StoreError> {
        let failed = failed("writing the workspace's row");
        let mut statement = connection
            .prepare_cached("UPDATE workspace SET owner = ?1, runs = ?2, indexed = ?3, seal = ?4")
            .map_err(&failed)?;
        statement
            .execute(params![self.owner, self.runs, self.indexed, self.with_fields(seal)])
            .map(drop)
            .map_err(&failed)
    }
}

/// The row of a run.
#[derive(Clone, Debug)]
pub(super) struct Run {
    /// `None` until the row is inserted.
    pub(super) id: Option<i64>,
    pub(super) name: RunId,
    pub(super) epoch: Epoch,
    pub(super) owner: String,
    pub(super) branches: i64,
    pub(super) note: Vec<u8>,
}

impl Run {
    /// A run that nobody has claimed.
    pub(super) fn unclaimed(name: RunId) -> Self {
        Self {
            id: None,
            name,
            epoch: Epoch(0),
            owner: String::new(),
            branches: 0,
            note: Vec::new(),
        }
    }

    fn with_fields<T>(&self, then: impl FnOnce(&[&[u8]]) -> T) -> T {
        let (epoch, branches) = (self.epoch.0.to_le_bytes(), self.branches.to_le_bytes());
        then(&[
            b"run",
            self.name.as_str().as_bytes(),
            &epoch,
            self.owner.as_bytes(),
            &branches,
            &self.note,
        ])
    }

    fn from_row(row: &Row<'_>) -> Result<Self, StoreError> {
        let failed = failed("reading a run's row");
        let name: String = row.get(1).map_err(&failed)?;
        let malformed = StoreError::Inconsistent {
            what: "a run's name is malformed",
        };
        let run = Self {
            id: Some(row.get(0).map_err(&failed)?),
            name: RunId::new(name).map_err(|_| malformed)?,
            epoch: Epoch(row.get::<_, i64>(2).map_err(&failed)?.cast_unsigned()),
            owner: row.get(3).map_err(&failed)?,
            branches: row.get(4).map_err(&failed)?,
            note: row.get(5).map_err(&failed)?,
        };
        let found: Vec<u8> = row.get(6).map_err(&failed)?;
        run.with_fields(|fields| check_seal(&found, fields, "a run's row does not match its seal"))?;
        Ok(run)
    }

    /// Finds a run.
    pub(super) fn find(connection: &Connection, name: &RunId) -> Result<Option<Self>, StoreError> {
        let failed = failed("reading a run's row");
        let sql = "SELECT id, name, epoch, owner, branches, note, seal FROM runs WHERE name = ?1";
        let mut statement = connection.prepare_cached(sql).map_err(&failed)?;
        let mut rows = statement.query([name.as_str()]).map_err(&failed)?;
        rows.next().map_err(&failed)?.map(Self::from_row).transpose()
    }

    /// Finds a run that must be there.
    pub(super) fn read(connection: &Connection, name: &RunId) -> Result<Self, StoreError> {
        Self::find(connection, name)?.ok_or_else(|| StoreError::NoSuchRun { run: name.clone() })
    }

    /// Lists all runs by name.
    pub(super) fn list(connection: &Connection) -> Result<Vec<Self>, StoreError> {
        let failed = failed("listing the runs");
        let sql = "SELECT id, name, epoch, owner, branches, note, seal FROM runs NOT INDEXED ORDER BY name";
        let mut statement = connection.prepare_cached(sql).map_err(&failed)?;
        let mut rows = statement.query([]).map_err(&failed)?;
        let mut runs = Vec::new();
        while let Some(row) = rows.next().map_err(&failed)? {
            runs.push(Self::from_row(row)?);
        }
        check_count(
            runs.len(),
            Workspace::read(connection)?.runs,
            "runs have vanished from their table",
        )?;
        Ok(runs)
    }

    /// Inserts or updates the row.
    pub(super) fn write(&self, connection: &Connection) -> Result<(), StoreError> {
        let failed = failed("writing a run's row");
        let sql = "INSERT INTO runs (id, name, epoch, owner, branches, note, seal) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
             ON CONFLICT (id) DO UPDATE SET epoch = ?3, owner = ?4, branches = ?5, note = ?6, seal = ?7";
        let mut statement = connection.prepare_cached(sql).map_err(&failed)?;
        let epoch = self.epoch.0.cast_signed();
        let fields = params![
            self.id,
            self.name.as_str(),
            epoch,
            self.owner,
            self.branches,
            self.note,
            self.with_fields(seal)
        ];
        statement.execute(fields).map(drop).map_err(&failed)
    }
}

fn check_count(found: usize, expected: i64, what: &'static str) -> Result<(), StoreError> {
    if i64::try_from(found) == Ok(expected) {
        Ok(())
    } else {
        Err(StoreError::Inconsistent { what })
    }
}

/// The row of a branch.
#[derive(Clone, Debug)]
pub(super) struct Branch {
    pub(super) head: Head,
    /// The key of the head's record.
    pub(super) record: i64,
    /// The number of commits that have set the head.
    pub(super) commits: i64,
}

impl Branch {
    /// Where the branch stands.
    pub(super) fn tip(&self) -> Tip {
        self.head.tip()
    }

    /// Gives the fields that are sealed.
    pub(super) fn with_fields<T>(&self, run: &Run, then: impl FnOnce(&[&[u8]]) -> T) -> T {
        let (sequence, record) = (self.head.sequence.number().to_le_bytes(), self.record.to_le_bytes());
        let (run, branch) = (run.name.as_str().as_bytes(), self.head.branch.as_str().as_bytes());
        let commits = self.commits.to_le_bytes();
        then(&[
            b"head",
            run,
            branch,
            &commits,
            &sequence,
            &record,
            self.head.hash.as_bytes(),
        ])
    }

    fn from_row(run: &Run, row: &Row<'_>) -> Result<Self, StoreError> {
        let failed = failed("reading a head's row");
        let name: String = row.get(0).map_err(&failed)?;
        let hash: Vec<u8> = row.get(4).map_err(&failed)?;
        let sequence = row.get::<_, i64>(2).map_err(&failed)?.cast_unsigned();
        let head = || {
            let branch = BranchName::new(name).ok()?;
            Some(Head {
                branch,
                sequence: Sequence::new(sequence).ok()?,
                hash: RecordHash::from_slice(&hash)?,
            })
        };
        let malformed = StoreError::Inconsistent {
            what: "a head's row is malformed",
        };
        let branch = Self {
            head: head().ok_or(malformed)?,
            record: row.get(3).map_err(&failed)?,
            commits: row.get(1).map_err(&failed)?,
        };
        let found: Vec<u8> = row.get(5).map_err(&failed)?;
        branch.with_fields(run, |fields| {
            check_seal(&found, fields, "a head's row does not match its seal")
        })?;
        Ok(branch)
    }

    /// Finds a branch.
    pub(super) fn find(connection: &Connection, run: &Run, name: &BranchName) -> Result<Option<Self>, StoreError> {
        let failed = failed("reading a head's row");
        let sql = "SELECT branch, commits, sequence, record, hash, seal FROM heads WHERE run = ?1 AND branch = ?2";
        let mut statement = connection.prepare_cached(sql).map_err(&failed)?;
        let mut rows = statement.query(params![run.id, name.as_str()]).map_err(&failed)?;
        rows.next()
            .map_err(&failed)?
            .map(|row| Self::from_row(run, row))
            .transpose()
    }

    /// Lists the branches of a run by name.
    pub(super) fn list(connection: &Connection, run: &Run) -> Result<Vec<Self>, StoreError> {
        let failed = failed("listing the heads");
        let sql = "SELECT branch, commits, sequence, record, hash, seal FROM heads WHERE run = ?1 ORDER BY branch";
        let mut statement = connection.prepare_cached(sql).map_err(&failed)?;
        let mut rows = statement.query([run.id]).map_err(&failed)?;
        let mut branches = Vec::new();
        while let Some(row) = rows.next().map_err(&failed)? {
            branches.push(Self::from_row(run, row)?);
        }
        check_count(branches.len(), run.branches, "heads have vanished from their table")?;
        Ok(branches)
    }

    /// Inserts the row of a new branch; its run's row has to count it.
    pub(super) fn insert(&self, connection: &Connection, run: &Run) -> Result<(), StoreError> {
        let sql = "INSERT INTO heads (run, branch, commits, sequence, record, hash, seal)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        let Head { branch, sequence, hash } = &self.head;
        let sequence = sequence.number().cast_signed();
        let fields = params![
            run.id,
            branch.as_str(),
            self.commits,
            sequence,
            self.record,
            hash.as_bytes(),
            self.with_fields(run, seal)
        ];
        change(connection, sql, fields, "writing a head's row")
    }
}

/// Runs a statement that changes rows.
pub(super) fn change(
    connection: &Connection,
    sql: &'static str,
    parameters: impl rusqlite::Params,
    doing: &'static str,
) -> Result<(), StoreError> {
    let changed = connection
        .prepare_cached(sql)
        .and_then(|mut statement| statement.execute(parameters));
    changed.map(drop).map_err(failed(doing))
}

/// Runs a query that finds one value or none.
pub(super) fn optional<T: rusqlite::types::FromSql>(
    connection: &Connection,
    sql: &'static str,
    parameters: impl rusqlite::Params,
    doing: &'static str,
) -> Result<Option<T>, StoreError> {
    let found = connection
        .prepare_cached(sql)
        .and_then(|mut s| s.query_row(parameters, |row| row.get(0)).optional());
    found.map_err(failed(doing))
}
