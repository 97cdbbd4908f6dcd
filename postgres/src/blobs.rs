//! Blobs that were read, for all connections of an address: runs share their texts and their code.
//!
//! INVARIANT: a blob's bytes were checked against its name before they came here, and a name stands
//! for the same bytes for ever, so nothing here becomes wrong.
//! It does not say which blobs the server has. Read next: `value.rs`.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use duet_journal::BlobHash;

/// The maximum number of bytes that are kept, without what the tables take.
const BYTES_MAX: usize = 16 << 20;

/// The maximum length of a blob that is kept, in bytes.
pub(crate) const BLOB_BYTES_MAX: usize = 1 << 18;

/// The bytes of blobs by their names. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Blobs(Arc<Mutex<Generations>>);

/// The blobs in two generations: what is read moves to the newer one, and once that is full the
/// older one goes.
#[derive(Debug, Default)]
struct Generations {
    newer: BTreeMap<BlobHash, Vec<u8>>,
    older: BTreeMap<BlobHash, Vec<u8>>,
    newer_bytes: usize,
}

impl Blobs {
    fn lock(&self) -> MutexGuard<'_, Generations> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the bytes of a blob, if they are here.
    pub(crate) fn find(&self, name: &BlobHash) -> Option<Vec<u8>> {
        let mut kept = self.lock();
        let Some(bytes) = kept.older.remove(name) else {
            return kept.newer.get(name).cloned();
        };
        kept.add(*name, bytes.clone());
        Some(bytes)
    }

    /// Keeps a blob for later.
    pub(crate) fn keep(&self, name: BlobHash, bytes: &[u8]) {
        if bytes.len() <= BLOB_BYTES_MAX {
            self.lock().add(name, bytes.to_vec());
        }
    }

    /// Returns the names of those that are not here.
    pub(crate) fn missing(&self, names: &[BlobHash]) -> Vec<BlobHash> {
        let kept = self.lock();
        let is_here = |name: &BlobHash| kept.newer.contains_key(name) || kept.older.contains_key(name);
        names.iter().filter(|name| !is_here(name)).copied().collect()
    }
}

impl Generations {
    fn add(&mut self, name: BlobHash, bytes: Vec<u8>) {
        self.newer_bytes += bytes.len();
        if let Some(before) = self.newer.insert(name, bytes) {
            self.newer_bytes -= before.len();
        }
        if self.newer_bytes > BYTES_MAX / 2 {
            self.older = std::mem::take(&mut self.newer);
            self.newer_bytes = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blobs_that_are_used_stay_and_others_go() {
        let blobs = Blobs::default();
        let blob = |byte: u8| vec![byte; BLOB_BYTES_MAX];
        let name = |byte: u8| BlobHash::of(&blob(byte));
        let keep = |byte: u8| blobs.keep(name(byte), &blob(byte));
        keep(0);
        for byte in 1..200 {
            keep(byte);
            assert_eq!(blobs.find(&name(0)), Some(blob(0)), "{byte}");
        }
        assert_eq!(blobs.missing(&[name(1), name(199), name(0)]), [name(1)]);
        let kept = blobs.lock();
        let held: usize = kept.newer.values().chain(kept.older.values()).map(Vec::len).sum();
        drop(kept);
        assert!(held <= BYTES_MAX + BLOB_BYTES_MAX, "{held}");
        let large = vec![0; BLOB_BYTES_MAX + 1];
        blobs.keep(BlobHash::of(&large), &large);
        assert_eq!(blobs.find(&BlobHash::of(&large)), None);
    }
}
