//! The root of an actor's image, which names the heap and the texts.
//!
//! INVARIANT: a value that is no root is recognized by its shape and never read beyond it.
//! It does not know the contents of a heap's image.
//! Read next: `evaluation.rs`.

use duet_journal::BlobHash;
use preserves::{IOValue, ValueImpl};

use crate::model::codec::{Bytes, Codec, Fields, record};

/// The root of a heap's image.
pub(super) enum HeapRoot {
    /// Its bytes, inline.
    Inline(Vec<u8>),
    /// The chunk that holds it.
    Named(BlobHash),
}

/// Returns the root of an image that has a heap and no texts.
pub(super) fn heap(root: BlobHash) -> IOValue {
    record("heap-root", vec![root.encode()])
}

/// Splits the root of an image into the heap's root and the hashes of the texts' chunks.
pub(super) fn parts(root: &IOValue) -> Option<(HeapRoot, Vec<BlobHash>)> {
    if let Some(heap) = heap_root(root) {
        return Some((heap, Vec::new()));
    }
    let mut fields = Fields::of(root, "actor", 2).ok()?;
    let heap: IOValue = fields.read("heap").ok()?;
    Some((heap_root(&heap)?, fields.read("texts").ok()?))
}

fn heap_root(root: &IOValue) -> Option<HeapRoot> {
    if root.as_bytestring().is_some() {
        return Bytes::decode(root).ok().map(|Bytes(heap)| HeapRoot::Inline(heap));
    }
    let mut fields = Fields::of(root, "heap-root", 1).ok()?;
    fields.read("root").ok().map(HeapRoot::Named)
}
