//! Bytes that are stored once, under their hash.
//!
//! INVARIANT: a blob's name is the hash of its bytes.
//! It does not know where blobs are stored, nor what they mean. Read next: `parts.rs`.

use crate::error::StoreError;
use crate::identity::{BlobHash, MAX_BLOB_BYTES};

/// Bytes under their hash: snapshots, images, sources, large payloads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blob {
    hash: BlobHash,
    bytes: Vec<u8>,
}

impl Blob {
    /// Hashes `bytes`.
    ///
    /// # Errors
    /// [`StoreError::BlobTooLarge`] above [`MAX_BLOB_BYTES`].
    pub fn new(bytes: Vec<u8>) -> Result<Self, StoreError> {
        if bytes.len() > MAX_BLOB_BYTES {
            return Err(StoreError::BlobTooLarge {
                length_bytes: bytes.len(),
            });
        }
        Ok(Self {
            hash: BlobHash::of(&bytes),
            bytes,
        })
    }

    /// Makes a blob of a part of a value, whose name is known.
    pub(crate) fn of_part(hash: BlobHash, part: &[u8]) -> Self {
        debug_assert_eq!(hash, BlobHash::of(part), "a blob's name is the hash of its bytes");
        let bytes = part.to_vec();
        Self { hash, bytes }
    }

    /// Returns its name.
    pub fn hash(&self) -> BlobHash {
        self.hash
    }

    /// Returns its bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }
}
