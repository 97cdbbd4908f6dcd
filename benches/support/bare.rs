//! A bare SQLite table with a journal's settings, the baseline for a journal's commits.

use std::path::Path;

use rusqlite::Connection;

/// Opens a database with one table.
pub(crate) fn open(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cell_size_check = ON; PRAGMA trusted_schema = OFF;
         CREATE TABLE records (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT;",
    )?;
    Ok(connection)
}

/// Inserts one row.
pub(crate) fn insert(connection: &Connection, bytes: &[u8]) -> rusqlite::Result<usize> {
    connection
        .prepare_cached("INSERT INTO records (bytes) VALUES (?1)")?
        .execute([bytes])
}
