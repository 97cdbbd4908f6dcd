//! Rows of records and heads on their way into the tables: gathered while a commit is prepared, and
//! written many at a time.
//!
//! INVARIANT: the tables receive the gathered rows before anything reads the tables, and before the
//! transaction ends. A statement for each row costs half as much again as the rows themselves.
//!
//! It chooses no keys. Read next: `store/sqlite/recent.rs`.

use rusqlite::{Connection, Statement, ToSql};

use super::chain::Link;
use super::row::failed;
use super::seal::seal;
use crate::identity::BranchName;
use crate::record::Record;
use crate::store::StoreError;
use crate::store::Tip;

/// The number of rows in one statement.
const ROWS: usize = 16;

/// The values of a row of each table.
const RECORD: &str = "(?,?,?,?,?,?,?)";
const HEAD: &str = "(?,?,?,?,?,?,?)";

/// A head's row to be written.
pub(super) struct HeadRow<'a> {
    /// `runs.id`.
    pub(super) run: Option<i64>,
    pub(super) branch: &'a BranchName,
    pub(super) tip: Tip,
    pub(super) record: i64,
    /// `heads.commits`.
    pub(super) commits: i64,
    pub(super) seal: [u8; 8],
}

/// The rows that a commit is going to write.
pub(super) struct Writing<'a> {
    connection: &'a Connection,
    records: Vec<(Link, &'a Record)>,
    heads: Vec<HeadRow<'a>>,
}

impl<'a> Writing<'a> {
    /// Nothing yet.
    pub(super) fn begin(connection: &'a Connection) -> Self {
        Self {
            connection,
            records: Vec::new(),
            heads: Vec::new(),
        }
    }

    /// Writes a record with its row.
    pub(super) fn record(&mut self, link: Link, record: &'a Record) {
        self.records.push((link, record));
    }

    /// Writes the row of a branch that has one already.
    pub(super) fn head(&mut self, row: HeadRow<'a>) {
        self.heads.push(row);
    }

    /// The tables, with all that was to be written.
    pub(super) fn tables(&mut self) -> Result<&'a Connection, StoreError> {
        // FAIL: whatever fails ends the transaction, so one statement's part of it need not be
        // undone first. Without keys, which the database gives out by ones above the greatest: so
        // it need not look whether there is such a row.
        let insert = "INSERT OR FAIL INTO records (sequence, parent, jump, time, hash, seal, bytes) VALUES ";
        write(self.connection, insert, RECORD, &self.records, |(link, record), row| {
            row.bind(link.sequence)?;
            row.bind(link.parent)?;
            row.bind(link.jump)?;
            row.bind(link.time)?;
            row.bind(link.hash.as_bytes())?;
            row.bind(link.with_fields(seal))?;
            row.bind(record.as_bytes())
        })
        .map_err(failed("writing records"))?;
        let last = self.records.drain(..).next_back();
        if last.is_some_and(|(link, _)| link.key != self.connection.last_insert_rowid()) {
            return Err(StoreError::Inconsistent {
                what: "a record stands under another key than was chosen",
            });
        }
        // A row that has one's key is the row of the same branch: `Recent` has seen it, and nobody
        // else has written since. Of two rows of a branch the later stays.
        let replace = "REPLACE INTO heads (run, branch, commits, sequence, record, hash, seal) VALUES ";
        write(self.connection, replace, HEAD, &self.heads, |head, row| {
            row.bind(head.run)?;
            row.bind(head.branch.as_str())?;
            row.bind(head.commits)?;
            row.bind(head.tip.sequence.number().cast_signed())?;
            row.bind(head.record)?;
            row.bind(head.tip.hash.as_bytes())?;
            row.bind(head.seal)
        })
        .map_err(failed("writing heads"))?;
        self.heads.clear();
        Ok(self.connection)
    }
}

/// The parameters of a row.
struct Parameters<'a, 'c> {
    statement: &'a mut Statement<'c>,
    next: usize,
}

impl Parameters<'_, '_> {
    fn bind(&mut self, value: impl ToSql) -> rusqlite::Result<()> {
        self.next += 1;
        self.statement.raw_bind_parameter(self.next, value)
    }
}

/// Executes a statement, given up to its rows and with the form of a row, for all of them, `ROWS`
/// at a time while at least that many are left.
fn write<T>(
    connection: &Connection,
    statement: &str,
    row: &str,
    rows: &[T],
    bind: impl Fn(&T, &mut Parameters<'_, '_>) -> rusqlite::Result<()>,
) -> rusqlite::Result<()> {
    let prepare = |values: &str| connection.prepare_cached(&[statement, values].concat());
    let execute = |statement: &mut Statement<'_>, rows: &[T]| {
        let mut parameters = Parameters { statement, next: 0 };
        rows.iter().try_for_each(|row| bind(row, &mut parameters))?;
        parameters.statement.raw_execute().map(drop)
    };
    let (many, few) = rows.as_chunks::<ROWS>();
    if !many.is_empty() {
        let mut statement = prepare(&[row; ROWS].join(","))?;
        for rows in many {
            execute(&mut statement, rows)?;
        }
    }
    if !few.is_empty() {
        let mut statement = prepare(row)?;
        for one in few.chunks(1) {
            execute(&mut statement, one)?;
        }
    }
    Ok(())
}
