//! The tables of a journal file, and the seals on the rows that nothing else protects.
//!
//! INVARIANT: a row of `workspace`, `runs` or `heads` that was changed from outside no longer matches its seal; records and
//! blobs are protected by their hashes, segments by the chain.
//!
//! Read next: `store/sqlite/file.rs`.
//!
//! Source: `journal/FORMAT.md`, "SQLite".

/// Marks a database as a journal: "Duet" in ASCII.
pub(super) const APPLICATION_ID: u32 = 0x4475_6574;

/// The version of the tables.
pub(super) const VERSION: u32 = 1;

/// How many bits of a record's key count its place in the segment.
pub(super) const PLACE_BITS: u32 = 32;

/// Creates the tables.
///
/// A record's key is segment and place, so that an append goes to the end of a stretch of the table and costs one page;
/// a key made of the hash would cost a random page for each. The index takes 8 bytes of the hash.
pub(super) const CREATE: &str = "
CREATE TABLE workspace (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    owner TEXT NOT NULL,            -- the process that writes, or wrote last; for people
    runs INTEGER NOT NULL,          -- how many rows `runs` has
    seal BLOB NOT NULL
) STRICT;
CREATE TABLE runs (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    epoch INTEGER NOT NULL,
    owner TEXT NOT NULL,
    branches INTEGER NOT NULL,      -- how many rows `heads` has for it
    seal BLOB NOT NULL
) STRICT;
CREATE TABLE heads (
    run INTEGER NOT NULL REFERENCES runs (id),
    branch TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    record INTEGER NOT NULL,        -- records.id
    hash BLOB NOT NULL,
    seal BLOB NOT NULL,
    PRIMARY KEY (run, branch)
) STRICT, WITHOUT ROWID;
CREATE TABLE segments (             -- stretches of records without a fork
    id INTEGER PRIMARY KEY,
    parent INTEGER,                 -- records.id of the record that the first one follows
    first_sequence INTEGER NOT NULL
) STRICT;
CREATE TABLE records (
    id INTEGER PRIMARY KEY,         -- segment << 32 | place in it
    hash BLOB NOT NULL,             -- BLAKE3 of bytes
    bytes BLOB NOT NULL             -- canonical packed Preserves
) STRICT;
CREATE INDEX records_by_hash ON records (substr(hash, 1, 8));
CREATE TABLE blobs (
    id INTEGER PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    bytes BLOB NOT NULL
) STRICT;
CREATE VIEW journal AS
    SELECT records.id >> 32 AS segment, first_sequence + (records.id & 4294967295) AS sequence,
           lower(hex(hash)) AS hash, length(bytes) AS length_bytes
    FROM records JOIN segments ON segments.id = records.id >> 32;
";

/// A short checksum over the fields of a row.
pub(super) fn seal(fields: &[&[u8]]) -> [u8; 16] {
    let mut hasher = blake3::Hasher::new();
    for field in fields {
        hasher.update(&(field.len() as u64).to_le_bytes()).update(field);
    }
    let mut seal = [0; 16];
    hasher.finalize_xof().fill(&mut seal);
    seal
}
