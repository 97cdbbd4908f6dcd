//! Looking into records that were read: their names checked, and the parts of large bodies joined.
//!
//! INVARIANT: one large body at a time is joined, however many records there are.
//! It does not know where a store has the bytes. Read next: `memory.rs`.

use std::collections::BTreeMap;
use std::ops::Range;

use super::{Object, Store, StoreError};
use crate::identity::{BlobHash, BranchName, RecordHash, RunId, Sequence};
use crate::parts::Fetch;
use crate::record::{self, ClosedRecord, Header, Record};

/// Makes a record of its bytes after checking that they are those that `hash` names, after
/// `parent`; names that are those of a `relative` are shared with it.
///
/// # Errors
/// [`StoreError::ChecksumMismatch`], [`StoreError::BadRecord`].
pub fn checked_record(
    hash: RecordHash,
    parent: Option<RecordHash>,
    bytes: Vec<u8>,
    relative: Option<&Header>,
) -> Result<ClosedRecord, StoreError> {
    if record::name(&bytes, parent) != hash {
        return Err(StoreError::ChecksumMismatch {
            object: Object::Record(hash),
        });
    }
    let record = ClosedRecord::decode_named(hash, parent, bytes, relative);
    record.map_err(|source| StoreError::BadRecord { hash, source })
}

/// Reads records as [`Store::read`] does, but joins the parts of each only when its turn comes: few
/// bytes of a journal can be many gigabytes of bodies.
///
/// # Errors
/// As [`Store::read`]; about a body, in its place.
pub fn one_by_one<'a>(
    store: &'a dyn Store,
    run: &RunId,
    branch: &BranchName,
    range: Range<Sequence>,
) -> Result<impl DoubleEndedIterator<Item = Result<Record, StoreError>> + use<'a>, StoreError> {
    let closed = store.read_closed(run, branch, range)?;
    let mut opener = Opener::new(store);
    Ok(closed.into_iter().map(move |record| opener.open(record)))
}

/// Looks into one record after the other; keeps the parts of the last large one, because the next
/// has most of them.
pub struct Opener<'a> {
    store: &'a dyn Store,
    parts: BTreeMap<BlobHash, Vec<u8>>,
}

impl<'a> Opener<'a> {
    /// Begins without parts.
    pub fn new(store: &'a dyn Store) -> Self {
        Self {
            store,
            parts: BTreeMap::new(),
        }
    }

    /// Looks into a record of the store.
    ///
    /// # Errors
    /// As [`Store::record`].
    pub fn open(&mut self, record: ClosedRecord) -> Result<Record, StoreError> {
        self.with_parts(|fetch| open_record(record, fetch))
    }

    /// Joins the parts of a record's body, if it is in parts.
    ///
    /// # Errors
    /// As [`Store::join`].
    pub fn join(&mut self, record: ClosedRecord) -> Result<ClosedRecord, StoreError> {
        self.with_parts(|fetch| record.join(fetch))
    }

    fn with_parts<T>(&mut self, read: impl FnOnce(Fetch<'_>) -> T) -> T {
        let mut kept = std::mem::take(&mut self.parts);
        let mut parts: BTreeMap<BlobHash, Vec<u8>> = BTreeMap::new();
        let read = read(&mut |hash, bytes| {
            if let Some(part) = parts.get(hash) {
                bytes.extend(part);
                return Ok(());
            }
            let part = match kept.remove(hash) {
                Some(part) => part,
                None => self.store.blob(hash)?,
            };
            bytes.extend(&part);
            parts.insert(*hash, part);
            Ok(())
        });
        self.parts = if parts.is_empty() { kept } else { parts };
        read
    }
}

/// Looks into a record, whose parts `fetch` reads.
///
/// # Errors
/// [`StoreError::BadRecord`], and as `fetch`.
pub fn open_record(record: ClosedRecord, fetch: Fetch<'_>) -> Result<Record, StoreError> {
    let hash = record.hash();
    record
        .join(fetch)?
        .open()
        .map_err(|source| StoreError::BadRecord { hash, source })
}

/// Returns a blob's bytes after checking that they are those that `hash` names.
///
/// # Errors
/// [`StoreError::ChecksumMismatch`].
pub fn checked_blob(hash: BlobHash, bytes: Vec<u8>) -> Result<Vec<u8>, StoreError> {
    let is_intact = BlobHash::of(&bytes) == hash;
    is_intact.then_some(bytes).ok_or(StoreError::ChecksumMismatch {
        object: Object::Blob(hash),
    })
}
