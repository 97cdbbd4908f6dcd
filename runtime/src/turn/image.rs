//! The image of an instance between two turns, and the errors of making and loading one.
//!
//! INVARIANT: an image is data; loaded into another process, it continues as the instance would
//! have.
//! It does not know the contents of a chunk.
//! Read next: `program.rs`.

use std::collections::BTreeMap;
use std::fmt;

use duet_journal::{Blob, BlobHash};
use preserves::IOValue;

/// An instance between two turns, as data.
#[derive(Clone, Debug, PartialEq)]
pub struct Image {
    /// The names and order of the chunks.
    pub root: IOValue,
    /// The hashes of chunks that the root does not lead to.
    pub chunk_names: Vec<BlobHash>,
    /// The chunks; after an earlier freezing, only those that are new since then.
    pub chunks: Vec<Blob>,
    /// The number of their bytes that records need not make up for, because they replace earlier
    /// chunks or are an instance's first.
    pub excused_bytes: u64,
}

/// An instance's image in the store.
#[derive(Clone, Copy)]
pub struct Stored<'a> {
    /// The names and order of the chunks.
    pub root: &'a IOValue,
    /// The hashes of the chunks that the root does not lead to.
    pub chunk_names: &'a [BlobHash],
    /// Reads the chunk that has this hash.
    pub fetch: &'a dyn Fn(&BlobHash) -> Option<Vec<u8>>,
}

/// A compiled unit in the store.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredUnit {
    /// The name by which images refer to it.
    pub unit: BlobHash,
    /// The unit, with what it needs to be loaded elsewhere.
    pub blob: Blob,
}

/// The blobs of compiled units, by the units' names.
pub type StoredUnits = BTreeMap<BlobHash, BlobHash>;

/// Why an instance cannot be frozen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FreezeError {
    /// The obstacle.
    pub reason: String,
}

impl fmt::Display for FreezeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the actor's heap cannot be stored: {}", self.reason)
    }
}

impl std::error::Error for FreezeError {}

/// Why an image cannot be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThawError {
    /// The fault in it.
    pub reason: String,
    /// Whether the only fault is missing code: the image was made with a compiler that made other
    /// code from the same text.
    pub is_code_missing: bool,
}

impl ThawError {
    /// Makes the error for a damaged image.
    pub fn damaged(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            is_code_missing: false,
        }
    }
}

impl fmt::Display for ThawError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the stored heap cannot be read: {}", self.reason)
    }
}

impl std::error::Error for ThawError {}
