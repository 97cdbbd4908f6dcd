//! The rows of blobs.
//!
//! INVARIANT: the table has each blob once, and a reader gets only bytes that have the blob's hash.
//!
//! It does not know which records name a blob. Read next: `store/sqlite/chain.rs`.

use rusqlite::{Connection, params};

use super::row::{change, optional};
use crate::identity::BlobHash;
use crate::store::{Blob, StoreError, checked_blob};

/// Stores a blob, unless it is there.
pub(super) fn insert(connection: &Connection, blob: &Blob) -> Result<(), StoreError> {
    let sql = "INSERT INTO blobs (hash, bytes) VALUES (?1, ?2) ON CONFLICT (hash) DO NOTHING";
    let hash = blob.hash();
    change(
        connection,
        sql,
        params![hash.as_bytes(), blob.as_bytes()],
        "writing a blob",
    )
}

/// Reads a blob.
pub(super) fn read(connection: &Connection, hash: &BlobHash) -> Result<Vec<u8>, StoreError> {
    let sql = "SELECT bytes FROM blobs WHERE hash = ?1";
    let bytes: Option<Vec<u8>> = optional(connection, sql, [hash.as_bytes()], "reading a blob")?;
    checked_blob(*hash, bytes.ok_or(StoreError::NoSuchBlob { hash: *hash })?)
}

/// Says whether a blob is there.
pub(super) fn has(connection: &Connection, hash: &BlobHash) -> Result<bool, StoreError> {
    let sql = "SELECT 1 FROM blobs WHERE hash = ?1";
    Ok(optional::<i64>(connection, sql, [hash.as_bytes()], "looking for a blob")?.is_some())
}

/// Removes a blob, if it is there.
pub(super) fn remove(connection: &Connection, hash: &BlobHash) -> Result<(), StoreError> {
    change(
        connection,
        "DELETE FROM blobs WHERE hash = ?1",
        [hash.as_bytes()],
        "removing a blob",
    )
}
