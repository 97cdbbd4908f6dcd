//! Records and the ways between them.
//!
//! Owns the tables `records` and `hashes`.
//! INVARIANT: a record is stored once, under a key above its parent's, so every walk ends; its row is sealed, so a walk from
//! a sealed head meets the branch's records and no others.
//!
//! Keys count up, so that records of many runs that are committed together lie together, and a commit writes few pages. Names
//! are scattered: they are indexed in large batches, and looked for among the newest records by reading those.
//! It does not know branches; a head's row says at which key to begin.
//! Read next: `store/sqlite.rs`.

use std::collections::BTreeSet;
use std::ops::Range;

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::row::{Workspace, check_seal, failed, optional};
use super::schema::seal;
use crate::identity::RecordHash;
use crate::record::Record;
use crate::store::{StoreError, checked_record};

/// How many records are named only by themselves before their names are indexed.
const INDEX_BATCH: i64 = 4096;

const BROKEN: StoreError = StoreError::Inconsistent {
    what: "the records of a branch do not follow each other",
};

/// A record's row without the record.
#[derive(Clone, Copy, Debug)]
struct Link {
    key: i64,
    sequence: i64,
    /// The key of the record before it.
    parent: Option<i64>,
    /// The key of a remoter ancestor, a logarithmic number of which leads to any; its own key if it has no parent.
    ///
    /// Source: Myers, "An applicative random-access stack" (1983).
    jump: i64,
    hash: RecordHash,
}

impl Link {
    fn seal(&self) -> [u8; 16] {
        let [key, sequence, jump] = [self.key, self.sequence, self.jump].map(i64::to_le_bytes);
        let parent = self.parent.map(i64::to_le_bytes);
        seal(&[
            b"record",
            &key,
            &sequence,
            parent.as_ref().map_or(&[], |parent| parent),
            &jump,
            self.hash.as_bytes(),
        ])
    }

    /// Reads the first six columns: id, sequence, parent, jump, hash, seal.
    fn from_row(row: &Row<'_>) -> Result<Self, StoreError> {
        let failed = failed("reading a record's row");
        let hash: Vec<u8> = row.get(4).map_err(&failed)?;
        let link = Self {
            key: row.get(0).map_err(&failed)?,
            sequence: row.get(1).map_err(&failed)?,
            parent: row.get(2).map_err(&failed)?,
            jump: row.get(3).map_err(&failed)?,
            hash: RecordHash::from_slice(&hash).ok_or(BROKEN)?,
        };
        let found: Vec<u8> = row.get(5).map_err(&failed)?;
        check_seal(&found, link.seal(), "a record's row does not match its seal")?;
        let goes_back = link.parent.map_or(link.jump == link.key, |parent| {
            parent < link.key && link.jump < link.key
        });
        if goes_back { Ok(link) } else { Err(BROKEN) }
    }

    fn read(connection: &Connection, key: i64) -> Result<Option<Self>, StoreError> {
        let failed = failed("reading a record's row");
        let sql = "SELECT id, sequence, parent, jump, hash, seal FROM records WHERE id = ?1";
        let mut statement = connection.prepare_cached(sql).map_err(&failed)?;
        let mut rows = statement.query([key]).map_err(&failed)?;
        rows.next().map_err(&failed)?.map(Self::from_row).transpose()
    }

    fn expect(connection: &Connection, key: i64) -> Result<Self, StoreError> {
        Self::read(connection, key)?.ok_or(BROKEN)
    }
}

/// What the writer remembers between commits; all of it can be read again.
#[derive(Debug)]
pub(super) struct Recent {
    /// The greatest key.
    newest: i64,
    /// The greatest key whose record's name is indexed.
    indexed: i64,
    /// The keys of records that were inserted since and have no child yet.
    leaves: BTreeSet<i64>,
}

impl Recent {
    /// Reads what there is to know.
    pub(super) fn read(connection: &Connection) -> Result<Self, StoreError> {
        let newest = optional::<Option<i64>>(connection, "SELECT max(id) FROM records", [], "reading the newest key")?;
        let indexed = Workspace::read(connection)?.indexed;
        Ok(Self {
            newest: newest.flatten().unwrap_or(0),
            indexed,
            leaves: BTreeSet::new(),
        })
    }

    /// Stores a record that follows `parent`, unless it is there already, and returns its key.
    pub(super) fn insert(
        &mut self,
        connection: &Connection,
        parent: Option<i64>,
        record: &Record,
    ) -> Result<i64, StoreError> {
        // Going back and doing the same again makes the same record; the parent then has a child.
        let may_exist = !parent.is_some_and(|parent| self.leaves.remove(&parent));
        if may_exist && let Some(key) = find(connection, &record.hash())? {
            return Ok(key);
        }
        let key = self.newest.checked_add(1).ok_or(StoreError::Inconsistent {
            what: "the records' keys are used up",
        })?;
        let jump = parent.map_or(Ok(key), |parent| jump_from(connection, parent))?;
        let sequence = record.header().sequence.number().cast_signed();
        let link = Link {
            key,
            sequence,
            parent,
            jump,
            hash: record.hash(),
        };
        let failed = failed("writing a record");
        let sql =
            "INSERT INTO records (id, sequence, parent, jump, hash, seal, bytes) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        let mut statement = connection.prepare_cached(sql).map_err(&failed)?;
        let fields = params![
            key,
            sequence,
            parent,
            jump,
            link.hash.as_bytes(),
            link.seal(),
            record.as_bytes()
        ];
        statement.execute(fields).map_err(&failed)?;
        self.newest = key;
        self.leaves.insert(key);
        Ok(key)
    }

    /// Indexes the names of the newest records if they have become many.
    pub(super) fn index_names(&mut self, connection: &Connection) -> Result<(), StoreError> {
        if self.newest.saturating_sub(self.indexed) < INDEX_BATCH {
            return Ok(());
        }
        let sql = "INSERT INTO hashes (prefix, record)
             SELECT substr(hash, 1, 8) AS prefix, id FROM records WHERE id > ?1 AND id <= ?2 ORDER BY prefix";
        let inserted = connection
            .prepare_cached(sql)
            .and_then(|mut s| s.execute([self.indexed, self.newest]));
        inserted.map_err(failed("indexing records"))?;
        Workspace {
            indexed: self.newest,
            ..Workspace::read(connection)?
        }
        .write(connection)?;
        self.indexed = self.newest;
        Ok(())
    }
}

/// Where a child of `parent` jumps: two equal jumps in a row become one.
fn jump_from(connection: &Connection, parent: i64) -> Result<i64, StoreError> {
    let sql = "SELECT near.sequence - far.sequence = far.sequence - farther.sequence, far.jump
         FROM records AS near JOIN records AS far ON far.id = near.jump JOIN records AS farther ON farther.id = far.jump
         WHERE near.id = ?1";
    let failed = failed("reading a record's row");
    let mut statement = connection.prepare_cached(sql).map_err(&failed)?;
    let found = statement
        .query_row([parent], |row| <(bool, i64)>::try_from(row))
        .optional()
        .map_err(&failed)?;
    let (is_equal, jump) = found.ok_or(BROKEN)?;
    Ok(if is_equal { jump } else { parent })
}

/// Finds a record's key by its name.
pub(super) fn find(connection: &Connection, hash: &RecordHash) -> Result<Option<i64>, StoreError> {
    let doing = "looking for a record";
    let sql = "SELECT records.id FROM hashes JOIN records ON records.id = hashes.record
         WHERE prefix = substr(?1, 1, 8) AND hash = ?1";
    if let Some(key) = optional(connection, sql, [hash.as_bytes()], doing)? {
        return Ok(Some(key));
    }
    let sql = "SELECT id FROM records WHERE id > ?2 AND hash = ?1";
    optional(
        connection,
        sql,
        params![hash.as_bytes(), Workspace::read(connection)?.indexed],
        doing,
    )
}

/// Reads the record at a key that must exist under this name.
pub(super) fn read(connection: &Connection, key: i64, hash: RecordHash) -> Result<Record, StoreError> {
    let sql = "SELECT bytes FROM records WHERE id = ?1";
    let bytes: Option<Vec<u8>> = optional(connection, sql, [key], "reading a record")?;
    let record = checked_record(hash, bytes.ok_or(StoreError::NoSuchRecord { hash })?)?;
    let link = Link::expect(connection, key)?;
    if link.hash == hash && link.sequence == record.header().sequence.number().cast_signed() {
        Ok(record)
    } else {
        Err(BROKEN)
    }
}

/// Reads the records at the positions in `range`, oldest first, on the way to the record `head` at key `key`.
///
/// # Errors
/// [`StoreError::Inconsistent`] if the chain is broken anywhere between the head and the range.
pub(super) fn read_range(
    connection: &Connection,
    key: i64,
    head: RecordHash,
    range: &Range<u64>,
) -> Result<Vec<Record>, StoreError> {
    let mut records = Vec::new();
    let Some(last) = range.end.checked_sub(1).filter(|last| *last >= range.start) else {
        return Ok(records);
    };
    let link = ancestor(connection, key, head, last.cast_signed())?;
    let (mut at, mut expected) = (Some(link.key), link.hash);
    for _ in range.clone() {
        let key = at.ok_or(BROKEN)?;
        let record = read(connection, key, expected)?;
        let parent = Link::expect(connection, key)?.parent;
        if let Some(hash) = record.header().parent {
            expected = hash;
        }
        at = parent;
        records.push(record);
    }
    records.reverse();
    Ok(records)
}

/// Walks back from the record `head` at key `key` to position `at`.
fn ancestor(connection: &Connection, key: i64, head: RecordHash, at: i64) -> Result<Link, StoreError> {
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
