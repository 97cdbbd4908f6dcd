//! The root of an actor's image, which names the heap and the texts.
//!
//! INVARIANT: a value that is no root is recognized by its shape and never read beyond it.
//! It does not know the contents of a heap's image.
//! Read next: `evaluation.rs`.

use duet_journal::BlobHash;
use preserves::IOValue;

use crate::model::codec::{Codec, Fields, record};

/// Returns the root of an image that has a heap and no texts.
pub(super) fn heap(root: BlobHash) -> IOValue {
    record("heap-root", vec![root.encode()])
}

/// The chunk that is the heap's root, and the names of the texts' chunks, in the root of an image.
pub(super) fn parts(root: &IOValue) -> Option<(BlobHash, Vec<BlobHash>)> {
    if let Some(heap) = heap_root(root) {
        return Some((heap, Vec::new()));
    }
    let mut fields = Fields::of(root, "actor", 2).ok()?;
    let heap: IOValue = fields.read("heap").ok()?;
    Some((heap_root(&heap)?, fields.read("texts").ok()?))
}

fn heap_root(root: &IOValue) -> Option<BlobHash> {
    Fields::of(root, "heap-root", 1).ok()?.read("root").ok()
}
