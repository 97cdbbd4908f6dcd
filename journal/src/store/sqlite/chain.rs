//! Records and the ways between them.
//!
//! Owns the tables `records` and `hashes`.
//! INVARIANT: a record is stored once, under a key above its parent's, so every walk ends; its row
//! is sealed, so a walk from a sealed head meets the branch's records and no others.
//!
//! Keys count up, so that records of many runs that are committed together lie together, and a
//! commit writes few pages. Names are scattered: they are indexed in large batches, and looked for
//! among the newest records by reading those.
//! It does not know branches; a head's row says at which key to begin.
//! Read next: `store/sqlite/recent.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use rusqlite::{Connection, Row, Statement, params};

use super::row::{Workspace, change, failed, optional};
use super::seal::check_seal;
use crate::identity::{BlobHash, RecordHash};
use crate::record::ClosedRecord;
use crate::store::{Mark, StoreError, checked_record};

pub(super) const BROKEN: StoreError = StoreError::Inconsistent {
    what: "the records of a branch do not follow each other",
};

/// A record's row without the record.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    pub(super) key: i64,
    pub(super) sequence: i64,
    /// The key of the record before it.
    pub(super) parent: Option<i64>,
    /// The key of a remoter ancestor, a logarithmic number of which leads to any; its own key if it
    /// has no parent.
    ///
    /// Source: Myers, "An applicative random-access stack" (1983).
    pub(super) jump: i64,
    /// When it was committed, as [`Moment::encode`] writes it.
    pub(super) time: i64,
    pub(super) hash: RecordHash,
}

impl Link {
    /// Gives the fields that are sealed.
    pub(super) fn with_fields<T>(&self, then: impl FnOnce(&[&[u8]]) -> T) -> T {
        let [key, sequence, jump, time] = [self.key, self.sequence, self.jump, self.time].map(i64::to_le_bytes);
        let parent = self.parent.map(i64::to_le_bytes);
        then(&[
            b"record",
            &key,
            &sequence,
            parent.as_ref().map_or(&[], |parent| parent),
            &jump,
            &time,
            self.hash.as_bytes(),
        ])
    }

    /// Reads the first seven columns: id, sequence, parent, jump, time, hash, seal.
    pub(super) fn from_row(row: &Row<'_>) -> Result<Self, StoreError> {
        let failed = failed("reading a record's row");
        let link = Self {
            key: row.get(0).map_err(&failed)?,
            sequence: row.get(1).map_err(&failed)?,
            parent: row.get(2).map_err(&failed)?,
            jump: row.get(3).map_err(&failed)?,
            time: row.get(4).map_err(&failed)?,
            hash: RecordHash::from_slice(blob(row, 5)?).ok_or(BROKEN)?,
        };
        let found = blob(row, 6)?;
        link.with_fields(|fields| check_seal(found, fields, "a record's row does not match its seal"))?;
        let goes_back = link.parent.map_or(link.jump == link.key, |parent| {
            parent < link.key && link.jump < link.key
        });
        if goes_back { Ok(link) } else { Err(BROKEN) }
    }

    fn read(connection: &Connection, key: i64) -> Result<Option<Self>, StoreError> {
        let failed = failed("reading a record's row");
        let sql = "SELECT id, sequence, parent, jump, time, hash, seal FROM records WHERE id = ?1";
        let mut statement = connection.prepare_cached(sql).map_err(&failed)?;
        let mut rows = statement.query([key]).map_err(&failed)?;
        rows.next().map_err(&failed)?.map(Self::from_row).transpose()
    }

    pub(super) fn expect(connection: &Connection, key: i64) -> Result<Self, StoreError> {
        Self::read(connection, key)?.ok_or(BROKEN)
    }
}

/// Borrows the bytes in a column.
fn blob<'a>(row: &'a Row<'_>, column: usize) -> Result<&'a [u8], StoreError> {
    let found = row.get_ref(column).and_then(|value| Ok(value.as_blob()?));
    found.map_err(failed("reading a record's row"))
}

/// Finds a record's key by its name.
pub(super) fn find(connection: &Connection, hash: &RecordHash) -> Result<Option<i64>, StoreError> {
    if let Some(key) = find_indexed(connection, hash)? {
        return Ok(Some(key));
    }
    let sql = "SELECT id FROM records WHERE id > ?2 AND hash = ?1";
    let indexed = Workspace::read(connection)?.indexed;
    optional(
        connection,
        sql,
        params![hash.as_bytes(), indexed],
        "looking for a record",
    )
}

/// Finds a record's key by its name, if that is indexed.
pub(super) fn find_indexed(connection: &Connection, hash: &RecordHash) -> Result<Option<i64>, StoreError> {
    let sql = "SELECT records.id FROM hashes JOIN records ON records.id = hashes.record
         WHERE prefix = substr(?1, 1, 8) AND hash = ?1";
    optional(connection, sql, [hash.as_bytes()], "looking for a record")
}

/// The records after a key by their names, and how many bytes they have together.
pub(super) fn names_after(connection: &Connection, key: i64) -> Result<(BTreeMap<RecordHash, i64>, i64), StoreError> {
    let failed = failed("reading the newest names");
    let sql = "SELECT id, hash, length(bytes) FROM records WHERE id > ?1";
    let mut statement = connection.prepare_cached(sql).map_err(&failed)?;
    let mut rows = statement.query([key]).map_err(&failed)?;
    let mut names = BTreeMap::new();
    let mut length_bytes = 0;
    while let Some(row) = rows.next().map_err(&failed)? {
        let hash = RecordHash::from_slice(blob(row, 1)?).ok_or(BROKEN)?;
        names.insert(hash, row.get(0).map_err(&failed)?);
        length_bytes += row.get::<_, i64>(2).map_err(&failed)?;
    }
    Ok((names, length_bytes))
}

/// How far the table has grown.
pub(super) fn mark(connection: &Connection) -> Result<Mark, StoreError> {
    let newest = optional::<Option<i64>>(connection, "SELECT max(id) FROM records", [], "reading the newest key")?;
    let newest = newest.flatten().map(|key| Link::expect(connection, key)).transpose()?;
    let newest = newest.map(|link| (link.key, link.hash));
    Ok(Mark {
        newest,
        ..Mark::default()
    })
}

/// The blobs that records name which were inserted since a mark.
///
/// # Errors
/// [`StoreError::Overtaken`] if the record at the mark is gone: its key may name a newer one then.
pub(super) fn blobs_named_since(connection: &Connection, mark: &Mark) -> Result<BTreeSet<BlobHash>, StoreError> {
    let at = mark.newest;
    if let Some((key, hash)) = at
        && Link::read(connection, key)?.is_none_or(|link| link.hash != hash)
    {
        return Err(StoreError::Overtaken);
    }
    let failed = failed("reading the newest records");
    let sql = "SELECT id, hash FROM records WHERE id > ?1 ORDER BY id";
    let mut statement = connection.prepare_cached(sql).map_err(&failed)?;
    let mut rows = statement.query([at.map_or(0, |(key, _)| key)]).map_err(&failed)?;
    let mut named = BTreeSet::new();
    while let Some(row) = rows.next().map_err(&failed)? {
        let hash = RecordHash::from_slice(blob(row, 1)?).ok_or(BROKEN)?;
        named.extend(read(connection, row.get(0).map_err(&failed)?, hash)?.blobs());
    }
    Ok(named)
}

/// A record with the name of its parent.
const READ: &str = "SELECT id, sequence, parent, jump, time, hash, seal, bytes,
         (SELECT before.hash FROM records AS before WHERE before.id = records.parent)
     FROM records WHERE id = ?1";

/// The records at a key and below, newest first.
const READ_DOWN: &str =
    "SELECT id, sequence, parent, jump, time, hash, seal, bytes FROM records WHERE id <= ?1 ORDER BY id DESC";

/// The same without the records.
pub(super) const LINKS_DOWN: &str =
    "SELECT id, sequence, parent, jump, time, hash, seal FROM records WHERE id <= ?1 ORDER BY id DESC";

/// The maximum number of rows to step over: beyond it, looking for the key is faster.
pub(super) const STEPS_MAX: i64 = 8;

/// Finds records by their names, and with them all that would lead to them: without them nobody
/// could read it.
pub(super) fn with_what_hangs_on(
    connection: &Connection,
    records: &[RecordHash],
) -> Result<BTreeMap<i64, RecordHash>, StoreError> {
    let mut found = BTreeMap::new();
    for hash in records {
        found.extend(find(connection, hash)?.map(|key| (key, *hash)));
    }
    let Some((first, _)) = found.first_key_value() else {
        return Ok(found);
    };
    let failed = failed("looking for what hangs on records");
    let sql = "SELECT id, sequence, parent, jump, time, hash, seal FROM records WHERE id > ?1 ORDER BY id";
    let mut statement = connection.prepare_cached(sql).map_err(&failed)?;
    let mut rows = statement.query([first]).map_err(&failed)?;
    while let Some(row) = rows.next().map_err(&failed)? {
        // Parents come first.
        let link = Link::from_row(row)?;
        if link.parent.is_some_and(|parent| found.contains_key(&parent)) {
            found.insert(link.key, link.hash);
        }
    }
    Ok(found)
}

/// Removes a record and its name.
pub(super) fn remove(connection: &Connection, key: i64, hash: &RecordHash) -> Result<(), StoreError> {
    let doing = "removing a record";
    let sql = "DELETE FROM hashes WHERE prefix = substr(?1, 1, 8) AND record = ?2";
    change(connection, sql, params![hash.as_bytes(), key], doing)?;
    change(connection, "DELETE FROM records WHERE id = ?1", [key], doing)
}

/// After records were removed: keys that are used once more must not count as indexed.
pub(super) fn settle(connection: &Connection) -> Result<(), StoreError> {
    let newest = optional::<Option<i64>>(connection, "SELECT max(id) FROM records", [], "reading the newest key")?;
    let newest = newest.flatten().unwrap_or(0);
    let workspace = Workspace::read(connection)?;
    if workspace.indexed <= newest {
        return Ok(());
    }
    Workspace {
        indexed: newest,
        ..workspace
    }
    .write(connection)
}

/// Reads the record at a key that must exist under this name.
pub(super) fn read(connection: &Connection, key: i64, hash: RecordHash) -> Result<ClosedRecord, StoreError> {
    let failed = failed("reading a record");
    let mut statement = connection.prepare_cached(READ).map_err(&failed)?;
    let mut rows = statement.query([key]).map_err(&failed)?;
    let row = rows.next().map_err(&failed)?.ok_or(StoreError::NoSuchRecord { hash })?;
    let parent = row.get_ref(8).and_then(|value| Ok(value.as_blob_or_null()?));
    let parent = parent.map_err(&failed)?.and_then(RecordHash::from_slice);
    let found = UncheckedRecord::from_row(row)?;
    if found.link.hash != hash {
        return Err(BROKEN);
    }
    // The removal of a branch may leave some of its records behind, without those before them.
    if found.link.parent.is_some() && parent.is_none() {
        return Err(StoreError::NoSuchRecord { hash });
    }
    found.check(parent, None)
}

/// A record's row with the record, whose bytes have not been looked at.
struct UncheckedRecord {
    link: Link,
    bytes: Vec<u8>,
}

impl UncheckedRecord {
    fn from_row(row: &Row<'_>) -> Result<Self, StoreError> {
        let link = Link::from_row(row)?;
        let bytes = blob(row, 7)?.to_vec();
        Ok(Self { link, bytes })
    }

    /// Requires the bytes to be those of the record with the row's name, after the record with the
    /// name `parent`.
    fn check(self, parent: Option<RecordHash>, child: Option<&ClosedRecord>) -> Result<ClosedRecord, StoreError> {
        let record = checked_record(self.link.hash, parent, self.bytes, child.map(|child| child.header()))?;
        if self.link.sequence == record.header().sequence.number().cast_signed() {
            Ok(record)
        } else {
            Err(BROKEN)
        }
    }
}

/// Reads the records at the positions in `range`, oldest first, on the way to the record `head` at
/// key `key`.
///
/// # Errors
/// [`StoreError::Inconsistent`] if the chain is broken anywhere between the head and the range.
pub(super) fn read_range(
    connection: &Connection,
    key: i64,
    head: RecordHash,
    range: &Range<u64>,
) -> Result<Vec<ClosedRecord>, StoreError> {
    let Some(last) = range.end.checked_sub(1).filter(|last| *last >= range.start) else {
        return Ok(Vec::new());
    };
    let newest = ancestor(connection, key, head, last.cast_signed())?;
    let mut way = Way {
        records: Vec::new(),
        left: range.end - range.start,
        at: Some(newest.key),
        child: None,
    };
    let mut statement = connection
        .prepare_cached(READ_DOWN)
        .map_err(failed("reading a record"))?;
    while way.left > 0 {
        way.go_down(&mut statement)?;
    }
    let before = way.at.map(|key| Link::expect(connection, key)).transpose()?;
    way.follow(before.map(|link| link.hash))?;
    way.records.reverse();
    Ok(way.records)
}

/// A walk from child to parent.
struct Way {
    /// What has been read, newest first.
    records: Vec<ClosedRecord>,
    /// How many records are still to be read.
    left: u64,
    /// Where the next one is.
    at: Option<i64>,
    /// The one that was read last, until its parent's name is known.
    child: Option<UncheckedRecord>,
}

impl Way {
    /// Reads the next record, and those before it as long as each is only a few rows away from its
    /// child: the rows of one run mostly follow each other.
    fn go_down(&mut self, statement: &mut Statement<'_>) -> Result<(), StoreError> {
        let failed = failed("reading a record");
        let mut rows = statement.query([self.at.ok_or(BROKEN)?]).map_err(&failed)?;
        while self.left > 0 {
            let row = rows.next().map_err(&failed)?.ok_or(BROKEN)?;
            let key: i64 = row.get(0).map_err(&failed)?;
            let at = self.at.ok_or(BROKEN)?;
            if key > at {
                continue;
            }
            if key < at {
                return Err(BROKEN);
            }
            let found = UncheckedRecord::from_row(row)?;
            let link = found.link;
            self.follow(Some(link.hash))?;
            self.child = Some(found);
            self.at = link.parent;
            self.left -= 1;
            if link.parent.is_none_or(|parent| key - parent > STEPS_MAX) {
                break;
            }
        }
        Ok(())
    }

    /// Takes what was read last, as its parent's name is known.
    fn follow(&mut self, parent: Option<RecordHash>) -> Result<(), StoreError> {
        let Some(child) = self.child.take() else { return Ok(()) };
        let record = child.check(parent, self.records.last())?;
        if record.header().parent != parent {
            return Err(BROKEN);
        }
        self.records.push(record);
        Ok(())
    }
}

/// Walks back from the record `head` at key `key` to position `at`.
pub(super) fn ancestor(connection: &Connection, key: i64, head: RecordHash, at: i64) -> Result<Link, StoreError> {
    let mut link = Link::expect(connection, key)?;
    if link.hash != head {
        return Err(StoreError::Inconsistent {
            what: "the newest record of a branch is not its head",
        });
    }
    while link.sequence > at {
        let jump = Link::expect(connection, link.jump)?;
        let parent = link.parent.ok_or(BROKEN)?;
        let next = if jump.sequence >= at {
            jump
        } else {
            Link::expect(connection, parent)?
        };
        if next.sequence >= link.sequence {
            return Err(BROKEN);
        }
        link = next;
    }
    if link.sequence == at { Ok(link) } else { Err(BROKEN) }
}
