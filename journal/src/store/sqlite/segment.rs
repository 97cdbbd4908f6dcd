//! Where records stand: stretches without a fork, each following a record of an earlier one.
//!
//! Owns the tables `segments` and `records`.
//! INVARIANT: a record is stored once; its key is its segment and its place there, and consecutive records of a segment are
//! parent and child. A segment follows one with a lower number, so every walk ends.
//!
//! It does not know branches; a head's row says at which key to begin.
//! Read next: `store/sqlite.rs`.

use std::ops::Range;

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::row::{failed, optional};
use super::schema::PLACE_BITS;
use crate::identity::{RecordHash, Sequence};
use crate::record::Record;
use crate::store::{StoreError, checked_record};

const PLACE_MASK: i64 = (1 << PLACE_BITS) - 1;

/// A record's key and position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) key: i64,
    pub(super) sequence: u64,
}

/// Stores a record that follows `parent`, unless it is there already, and returns its key.
pub(super) fn insert(connection: &Connection, parent: Option<i64>, record: &Record) -> Result<i64, StoreError> {
    if let Some(parent) = parent.filter(|parent| parent & PLACE_MASK != PLACE_MASK) {
        let key = parent + 1;
        if insert_at(connection, key, record)? || hash_at(connection, key)? == Some(record.hash()) {
            return Ok(key);
        }
    }
    // The place after the parent is taken by another child, or there is no parent: a sibling may be this very record.
    if let Some(place) = find(connection, &record.hash())? {
        return Ok(place.key);
    }
    let key = begin(connection, parent, record.header().sequence)?;
    if insert_at(connection, key, record)? {
        return Ok(key);
    }
    Err(StoreError::Inconsistent {
        what: "a segment that has just begun has records",
    })
}

fn insert_at(connection: &Connection, key: i64, record: &Record) -> Result<bool, StoreError> {
    let failed = failed("writing a record");
    let sql = "INSERT INTO records (id, hash, bytes) VALUES (?1, ?2, ?3) ON CONFLICT (id) DO NOTHING";
    let mut statement = connection.prepare_cached(sql).map_err(&failed)?;
    let inserted = statement
        .execute(params![key, record.hash().as_bytes(), record.as_bytes()])
        .map_err(&failed)?;
    Ok(inserted == 1)
}

fn begin(connection: &Connection, parent: Option<i64>, first: Sequence) -> Result<i64, StoreError> {
    let failed = failed("beginning a segment");
    let sql = "INSERT INTO segments (parent, first_sequence) VALUES (?1, ?2)";
    let mut statement = connection.prepare_cached(sql).map_err(&failed)?;
    let segment = statement
        .insert(params![parent, first.number().cast_signed()])
        .map_err(&failed)?;
    let is_usable = segment > 0 && segment <= i64::MAX >> PLACE_BITS;
    is_usable
        .then_some(segment << PLACE_BITS)
        .ok_or(StoreError::Inconsistent {
            what: "the segments are used up",
        })
}

fn hash_at(connection: &Connection, key: i64) -> Result<Option<RecordHash>, StoreError> {
    let found: Option<Vec<u8>> = optional(
        connection,
        "SELECT hash FROM records WHERE id = ?1",
        [key],
        "reading a record's hash",
    )?;
    Ok(found.and_then(|hash| RecordHash::from_slice(&hash)))
}

/// Finds a record by its name.
pub(super) fn find(connection: &Connection, hash: &RecordHash) -> Result<Option<Place>, StoreError> {
    let sql = "SELECT id FROM records WHERE substr(hash, 1, 8) = substr(?1, 1, 8) AND hash = ?1";
    let key: Option<i64> = optional(connection, sql, [hash.as_bytes()], "looking for a record")?;
    let Some(key) = key else { return Ok(None) };
    let sequence = Segment::read(connection, key)?.sequence_of(key);
    Ok(Some(Place { key, sequence }))
}

/// Reads the record at a key that must exist under this name.
pub(super) fn read(connection: &Connection, key: i64, hash: RecordHash) -> Result<Record, StoreError> {
    let sql = "SELECT bytes FROM records WHERE id = ?1";
    let bytes: Option<Vec<u8>> = optional(connection, sql, [key], "reading a record")?;
    checked_record(hash, bytes.ok_or(StoreError::NoSuchRecord { hash })?)
}

struct Segment {
    parent: Option<i64>,
    first: u64,
}

impl Segment {
    /// Reads the segment that a key is in.
    fn read(connection: &Connection, key: i64) -> Result<Self, StoreError> {
        let failed = failed("reading a segment");
        let sql = "SELECT parent, first_sequence FROM segments WHERE id = ?1";
        let mut statement = connection.prepare_cached(sql).map_err(&failed)?;
        let read = |row: &Row<'_>| {
            Ok(Self {
                parent: row.get(0)?,
                first: row.get::<_, i64>(1)?.cast_unsigned(),
            })
        };
        let found = statement
            .query_row([key >> PLACE_BITS], read)
            .optional()
            .map_err(&failed)?;
        found.ok_or(StoreError::Inconsistent {
            what: "a segment is missing",
        })
    }

    fn sequence_of(&self, key: i64) -> u64 {
        self.first.wrapping_add((key & PLACE_MASK).cast_unsigned())
    }
}

/// Finds the stretches of keys that hold the positions in `range` on the way to `head`, oldest first.
pub(super) fn stretches(
    connection: &Connection,
    head: Place,
    range: &Range<u64>,
) -> Result<Vec<Range<i64>>, StoreError> {
    let broken = StoreError::Inconsistent {
        what: "the segments of a branch do not follow each other",
    };
    let mut found = Vec::new();
    let mut at = head;
    loop {
        let segment = Segment::read(connection, at.key)?;
        if segment.sequence_of(at.key) != at.sequence {
            return Err(broken);
        }
        let key_of = |sequence: u64| at.key - (at.sequence - sequence).cast_signed();
        let wanted = range.start.max(segment.first)..range.end.min(at.sequence + 1);
        if !wanted.is_empty() {
            found.push(key_of(wanted.start)..key_of(wanted.end - 1) + 1);
        }
        if range.start >= segment.first {
            break;
        }
        match segment.parent {
            Some(key) if key >> PLACE_BITS < at.key >> PLACE_BITS => {
                at = Place {
                    key,
                    sequence: segment.first - 1,
                }
            }
            _ => return Err(broken),
        }
    }
    found.reverse();
    Ok(found)
}

/// Reads the records of a stretch of keys; the result is shorter than the stretch where records are missing.
pub(super) fn read_stretch(connection: &Connection, keys: &Range<i64>) -> Result<Vec<Record>, StoreError> {
    let failed = failed("reading records");
    let sql = "SELECT id, hash, bytes FROM records WHERE id >= ?1 AND id < ?2 ORDER BY id";
    let mut statement = connection.prepare_cached(sql).map_err(&failed)?;
    let mut rows = statement.query([keys.start, keys.end]).map_err(&failed)?;
    let mut records = Vec::new();
    let mut expected = keys.start;
    while let Some(row) = rows.next().map_err(&failed)? {
        let (key, hash, bytes): (i64, Vec<u8>, Vec<u8>) = row.try_into().map_err(&failed)?;
        if key != expected {
            break;
        }
        let hash = RecordHash::from_slice(&hash).ok_or(StoreError::Inconsistent {
            what: "a record's hash is malformed",
        })?;
        records.push(checked_record(hash, bytes)?);
        expected += 1;
    }
    Ok(records)
}
