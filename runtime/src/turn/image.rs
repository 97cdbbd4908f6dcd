//! The image of an instance between two turns, and why there may be none.
//!
//! INVARIANT: an image is data; loaded into another process, it goes on as the instance would have.
//! It does not know what is in a chunk.
//! Read next: `program.rs`.

use std::fmt;

use duet_journal::{Blob, BlobHash};
use preserves::IOValue;

/// A body between two turns, as data.
#[derive(Clone, Debug, PartialEq)]
pub struct Image {
    /// What names and orders the chunks.
    pub root: IOValue,
    /// The names of chunks that the root does not lead to.
    pub chunk_names: Vec<BlobHash>,
    /// The chunks; of a body that was frozen before, only those that it did not have then.
    pub chunks: Vec<Blob>,
    /// How many of their bytes need not be made up for by records: they take the place of earlier ones, or are a body's first.
    pub excused_bytes: u64,
}

/// A body's image where it is stored.
#[derive(Clone, Copy)]
pub struct Stored<'a> {
    /// What names and orders the chunks.
    pub root: &'a IOValue,
    /// The names of the chunks that the root does not lead to.
    pub chunk_names: &'a [BlobHash],
    /// Reads a chunk, whose bytes are those that the name stands for.
    pub fetch: &'a dyn Fn(&BlobHash) -> Option<Vec<u8>>,
}

/// Says why a body cannot be represented.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FreezeError {
    /// What stands in the way.
    pub reason: String,
}

impl fmt::Display for FreezeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the actor's heap cannot be stored: {}", self.reason)
    }
}

impl std::error::Error for FreezeError {}

/// Says why an image is not one of a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThawError {
    /// What is wrong.
    pub reason: String,
    /// Whether only the code that the image counts on is missing: that of a compiler which made something else of the same text.
    pub is_code_missing: bool,
}

impl ThawError {
    /// Says that the image is damaged.
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
