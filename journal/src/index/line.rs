//! The rows of an index: lines of turns, marks on them, and what the turns filed.
//!
//! A line is a stretch of turns of which each is the child of the one before; where a branch leaves
//! what is covered, another line begins, whose parent is the line it leaves. So what branches share
//! is filed once.
//! INVARIANT: a row read here matches its seal; a line's parent has a smaller key, so every path
//! ends.
//!
//! It neither begins nor ends a transaction. Read next: `index/file.rs`.

use std::ops::{ControlFlow, RangeInclusive};

use rusqlite::{Connection, OptionalExtension, params};

use super::{EntryPosition, Order};
use crate::identity::{RecordHash, RunId, Sequence};
use crate::store::StoreError;
use crate::store::sqlite::{failed, seal};

fn inconsistent(what: &'static str) -> StoreError {
    StoreError::Inconsistent { what }
}

/// Requires the seal that was found in a row to be the row's.
fn check_seal(found: &[u8], expected: [u8; 8]) -> Result<(), StoreError> {
    if found == expected {
        Ok(())
    } else {
        Err(inconsistent("a row of the index does not match its seal"))
    }
}

/// A part of a line.
#[derive(Clone, Debug)]
pub(super) struct Segment {
    pub(super) line: i64,
    pub(super) positions: RangeInclusive<i64>,
}

impl Segment {
    /// What of it lies in a range.
    pub(super) fn within(&self, range: &RangeInclusive<Sequence>) -> Self {
        let [start, end] = [range.start(), range.end()].map(|position| position.number().cast_signed());
        Self {
            line: self.line,
            positions: (*self.positions.start()).max(start)..=(*self.positions.end()).min(end),
        }
    }
}

/// The key of an entry in its line.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct EntryKey {
    /// The position of the turn that filed it.
    pub(super) sequence: i64,
    /// Its number among the entries of that turn.
    pub(super) place: i64,
}

/// A line that is being extended.
pub(super) struct Line {
    id: i64,
    run: RunId,
    parent: Option<i64>,
    first: i64,
    last: i64,
}

impl Line {
    fn seal(&self) -> [u8; 8] {
        let parent = self.parent.map(i64::to_le_bytes);
        seal(&[
            b"line",
            &self.id.to_le_bytes(),
            self.run.as_str().as_bytes(),
            parent.as_ref().map_or(&[], |parent| parent),
            &self.first.to_le_bytes(),
            &self.last.to_le_bytes(),
        ])
    }

    /// The line on which the turn after `newest` belongs: the one that ends there, or one that
    /// begins.
    pub(super) fn after(
        connection: &Connection,
        run: &RunId,
        stretch: Option<&Segment>,
        newest: Option<(Sequence, RecordHash)>,
    ) -> Result<Self, StoreError> {
        let at = newest.map_or(0, |(sequence, _)| sequence.number().cast_signed());
        let parent = match stretch {
            Some(stretch) => Some(Self::read(connection, stretch.line)?),
            None => None,
        };
        match parent {
            Some(line) if line.last == at => Ok(line),
            parent => {
                let newest: Option<i64> = connection
                    .query_row("SELECT max(id) FROM lines", [], |row| row.get(0))
                    .map_err(failed("reading the index"))?;
                Ok(Self {
                    id: newest.unwrap_or(0).saturating_add(1),
                    run: run.clone(),
                    parent: parent.map(|line| line.id),
                    first: at + 1,
                    last: at,
                })
            }
        }
    }

    fn read(connection: &Connection, id: i64) -> Result<Self, StoreError> {
        let failed = failed("reading the index");
        let sql = "SELECT run, parent, first, last, seal FROM lines WHERE id = ?1";
        let mut statement = connection.prepare_cached(sql).map_err(&failed)?;
        let mut rows = statement.query([id]).map_err(&failed)?;
        let row = rows
            .next()
            .map_err(&failed)?
            .ok_or(inconsistent("a line has vanished from the index"))?;
        let line = Self {
            id,
            run: RunId::new(row.get::<_, String>(0).map_err(&failed)?)?,
            parent: row.get(1).map_err(&failed)?,
            first: row.get(2).map_err(&failed)?,
            last: row.get(3).map_err(&failed)?,
        };
        let found: Vec<u8> = row.get(4).map_err(&failed)?;
        check_seal(&found, line.seal())?;
        Ok(line)
    }

    pub(super) fn id(&self) -> i64 {
        self.id
    }

    /// Files something under the turn's position and its place.
    pub(super) fn file(&self, connection: &Connection, key: EntryKey, bytes: &[u8]) -> Result<(), StoreError> {
        let failed = failed("filing in the index");
        let sql = "INSERT INTO entries (line, sequence, place, bytes, seal) VALUES (?1, ?2, ?3, ?4, ?5)";
        let mut statement = connection.prepare_cached(sql).map_err(&failed)?;
        let seal = seal_filed(self.id, key, bytes);
        let written = statement.execute(params![self.id, key.sequence, key.place, bytes, seal]);
        written.map(drop).map_err(&failed)
    }

    /// Covers the turns up to a record.
    pub(super) fn mark(
        &mut self,
        connection: &Connection,
        sequence: Sequence,
        record: RecordHash,
    ) -> Result<(), StoreError> {
        let failed = failed("marking the index");
        let sequence = sequence.number().cast_signed();
        // Another process may have covered the same turns meanwhile; its line does as well.
        let sql =
            "INSERT INTO marks (run, sequence, record, line, seal) VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING";
        let mut statement = connection.prepare_cached(sql).map_err(&failed)?;
        let seal = seal_mark(&self.run, sequence, record, self.id);
        let fields = params![self.run.as_str(), sequence, record.as_bytes(), self.id, seal];
        statement.execute(fields).map_err(&failed)?;
        self.last = sequence;
        Ok(())
    }

    /// Writes the row.
    pub(super) fn write(&self, connection: &Connection) -> Result<(), StoreError> {
        let failed = failed("writing a line of the index");
        let sql = "INSERT INTO lines (id, run, parent, first, last, seal) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
             ON CONFLICT (id) DO UPDATE SET last = ?5, seal = ?6";
        let mut statement = connection.prepare_cached(sql).map_err(&failed)?;
        let fields = params![
            self.id,
            self.run.as_str(),
            self.parent,
            self.first,
            self.last,
            self.seal()
        ];
        statement.execute(fields).map(drop).map_err(&failed)
    }
}

fn seal_mark(run: &RunId, sequence: i64, record: RecordHash, line: i64) -> [u8; 8] {
    let (sequence, line) = (sequence.to_le_bytes(), line.to_le_bytes());
    seal(&[b"mark", run.as_str().as_bytes(), &sequence, record.as_bytes(), &line])
}

fn seal_filed(line: i64, key: EntryKey, bytes: &[u8]) -> [u8; 8] {
    let [line, sequence, place] = [line, key.sequence, key.place].map(i64::to_le_bytes);
    seal(&[b"entry", &line, &sequence, &place, bytes])
}

/// The line whose mark a record is, if it is one.
pub(super) fn marked(
    connection: &Connection,
    run: &RunId,
    position: u64,
    record: RecordHash,
) -> Result<Option<i64>, StoreError> {
    let failed = failed("reading a mark of the index");
    let sql = "SELECT line, seal FROM marks WHERE run = ?1 AND sequence = ?2 AND record = ?3";
    let mut statement = connection.prepare_cached(sql).map_err(&failed)?;
    let position = position.cast_signed();
    let found: Option<(i64, Vec<u8>)> = statement
        .query_row(params![run.as_str(), position, record.as_bytes()], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .optional()
        .map_err(&failed)?;
    let Some((line, found)) = found else { return Ok(None) };
    check_seal(&found, seal_mark(run, position, record, line))?;
    Ok(Some(line))
}

/// The positions in a range at which any record of the run is marked, newest first.
pub(super) fn marked_positions(
    connection: &Connection,
    run: &RunId,
    range: RangeInclusive<u64>,
) -> Result<Vec<u64>, StoreError> {
    let failed = failed("reading the marks of the index");
    let sql =
        "SELECT DISTINCT sequence FROM marks WHERE run = ?1 AND sequence BETWEEN ?2 AND ?3 ORDER BY sequence DESC";
    let mut statement = connection.prepare_cached(sql).map_err(&failed)?;
    let fields = params![run.as_str(), range.start().cast_signed(), range.end().cast_signed()];
    let rows = statement
        .query_map(fields, |row| Ok(row.get::<_, i64>(0)?.cast_unsigned()))
        .map_err(&failed)?;
    rows.collect::<Result<_, _>>().map_err(&failed)
}

/// The stretches that lead to a position of a line, newest first.
pub(super) fn path(connection: &Connection, line: i64, position: u64) -> Result<Vec<Segment>, StoreError> {
    let mut path = Vec::new();
    let (mut next, mut last) = (Some(line), position.cast_signed());
    while let Some(id) = next {
        let line = Line::read(connection, id)?;
        if line.last < last || line.parent.is_some_and(|parent| parent >= id) {
            return Err(inconsistent("the lines of the index do not follow each other"));
        }
        path.push(Segment {
            line: id,
            positions: line.first..=last,
        });
        (next, last) = (line.parent, line.first - 1);
    }
    if last == 0 {
        Ok(path)
    } else {
        Err(inconsistent("a line of the index begins in the middle of nothing"))
    }
}

/// Reads what a turn filed at a place.
pub(super) fn read_filed(connection: &Connection, line: i64, key: EntryKey) -> Result<Vec<u8>, StoreError> {
    let failed = failed("reading the index");
    let sql = "SELECT bytes, seal FROM entries WHERE line = ?1 AND sequence = ?2 AND place = ?3";
    let mut statement = connection.prepare_cached(sql).map_err(&failed)?;
    let found: Option<(Vec<u8>, Vec<u8>)> = statement
        .query_row([line, key.sequence, key.place], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()
        .map_err(&failed)?;
    let (bytes, found) = found.ok_or(inconsistent("an entry has vanished from the index"))?;
    check_seal(&found, seal_filed(line, key, &bytes))?;
    Ok(bytes)
}

/// Tells of all that the turns of a stretch filed.
pub(super) fn each_filed(
    connection: &Connection,
    stretch: &Segment,
    order: Order,
    tell: &mut dyn FnMut(EntryPosition, &[u8]) -> ControlFlow<()>,
) -> Result<ControlFlow<()>, StoreError> {
    let failed = failed("reading the index");
    let sql = match order {
        Order::OldestFirst => {
            "SELECT sequence, place, bytes, seal FROM entries WHERE line = ?1 AND sequence BETWEEN ?2 AND ?3 \
             ORDER BY sequence, place"
        }
        Order::NewestFirst => {
            "SELECT sequence, place, bytes, seal FROM entries WHERE line = ?1 AND sequence BETWEEN ?2 AND ?3 \
             ORDER BY sequence DESC, place DESC"
        }
    };
    let mut statement = connection.prepare_cached(sql).map_err(&failed)?;
    let (first, last) = (*stretch.positions.start(), *stretch.positions.end());
    let mut rows = statement.query([stretch.line, first, last]).map_err(&failed)?;
    while let Some(row) = rows.next().map_err(&failed)? {
        let key = EntryKey {
            sequence: row.get(0).map_err(&failed)?,
            place: row.get(1).map_err(&failed)?,
        };
        let bytes: Vec<u8> = row.get(2).map_err(&failed)?;
        let found: Vec<u8> = row.get(3).map_err(&failed)?;
        check_seal(&found, seal_filed(stretch.line, key, &bytes))?;
        let at = (Sequence::new(key.sequence.cast_unsigned())?, key.place.cast_unsigned());
        if tell(at, &bytes).is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
}
