//! The tables of a journal file, and their version.
//!
//! INVARIANT: a row of any table but `hashes` and `blobs` that has changed no longer matches
//! its seal; blobs are protected by their hashes; and what `hashes` misses, or points to wrongly,
//! is an error and never another record.
//!
//! Keys count up, so a commit of many records fills few pages. A table keyed by hash, or an index
//! kept with every commit, writes a page at a random place for each record: on files of 300,000
//! records, single commits ran at 0.5 of the rate of a bare `INSERT` with a table keyed by hash,
//! 0.6 with a unique index, 0.7 with an index of 8-byte prefixes, and 0.8 with none. So names are
//! indexed 4,096 at a time, or when a writer has read more than 256 KiB of records to find one.
//! It does not read or write rows. Read next: `store/sqlite/seal.rs`.
//!
//! Source: `journal/FORMAT.md`, "SQLite".

/// Marks a database as a journal: "Duet" in ASCII.
pub(super) const APPLICATION_ID: u32 = 0x4475_6574;

/// The version of the tables and of what is in them.
pub(super) const VERSION: u32 = 1;

/// Creates the tables.
pub(super) const CREATE: &str = "
CREATE TABLE workspace (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    owner TEXT NOT NULL,            -- the process that writes, or wrote last; for people
    runs INTEGER NOT NULL,          -- how many rows `runs` has
    indexed INTEGER NOT NULL,       -- `hashes` names the records up to this id
    seal BLOB NOT NULL
) STRICT;
CREATE TABLE runs (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    epoch INTEGER NOT NULL,
    owner TEXT NOT NULL,
    branches INTEGER NOT NULL,      -- how many rows `heads` has for it
    note BLOB NOT NULL,             -- what only this journal says of the run; no copy takes it along
    seal BLOB NOT NULL
) STRICT;
CREATE TABLE heads (
    run INTEGER NOT NULL,           -- runs.id
    branch TEXT NOT NULL,
    commits INTEGER NOT NULL,       -- how many commits have set this head
    sequence INTEGER NOT NULL,
    record INTEGER NOT NULL,        -- records.id
    hash BLOB NOT NULL,
    seal BLOB NOT NULL,
    PRIMARY KEY (run, branch)
) STRICT, WITHOUT ROWID;
CREATE TABLE records (
    id INTEGER PRIMARY KEY,         -- counts up
    sequence INTEGER NOT NULL,
    parent INTEGER,                 -- records.id
    jump INTEGER NOT NULL,          -- records.id of a remoter ancestor
    time INTEGER NOT NULL,          -- when: ms since 1970 at every 64th, else since the parent
    hash BLOB NOT NULL,             -- BLAKE3 of bytes, with the parent's hash as the key
    seal BLOB NOT NULL,
    bytes BLOB NOT NULL             -- canonical packed Preserves
) STRICT;
CREATE TABLE hashes (
    prefix BLOB NOT NULL,           -- the first 8 bytes of records.hash
    record INTEGER NOT NULL,        -- records.id
    PRIMARY KEY (prefix, record)
) STRICT, WITHOUT ROWID;
CREATE TABLE blobs (
    id INTEGER PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    bytes BLOB NOT NULL
) STRICT;
CREATE TABLE needs (
    run INTEGER NOT NULL,           -- runs.id
    branch TEXT NOT NULL,
    at INTEGER NOT NULL,            -- a moment in ms since 1970; -1 for an input
    seal BLOB NOT NULL,
    PRIMARY KEY (run, branch)
) STRICT, WITHOUT ROWID;
CREATE INDEX due ON needs (at) WHERE at >= 0;
CREATE TABLE inbox (
    run INTEGER NOT NULL,           -- runs.id
    letter BLOB NOT NULL,           -- 16 bytes, chosen by the sender
    branch TEXT NOT NULL,
    sent INTEGER NOT NULL,          -- ms since 1970 by the sender's clock
    body BLOB NOT NULL,             -- empty once it is taken
    reply BLOB,                     -- NULL until it is taken
    seal BLOB NOT NULL,
    PRIMARY KEY (run, letter)
) STRICT, WITHOUT ROWID;
CREATE INDEX unread ON inbox (run, branch) WHERE reply IS NULL;
CREATE TABLE workers (
    name TEXT NOT NULL PRIMARY KEY,
    told TEXT NOT NULL,             -- what it says of itself
    seal BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE VIEW journal AS
    SELECT runs.name AS run, branch, heads.sequence AS head, lower(hex(hash)) AS hash
    FROM heads JOIN runs ON runs.id = heads.run;
";
