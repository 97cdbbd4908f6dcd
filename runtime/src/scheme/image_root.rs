//! The root of a actor's image: what it says of the heap and of the texts.
//!
//! INVARIANT: what is none is told by its shape and never read beyond it.
//! It does not know what is in a heap's image. Read next: `scheme/evaluation.rs`.

use duet_journal::BlobHash;
use preserves::{IOValue, ValueImpl};

use crate::model::codec::{Bytes, Codec, Fields, record};

/// The root of a heap's image.
pub(super) enum HeapRoot {
    /// Its bytes, as images had it before it was a chunk.
    Inline(Vec<u8>),
    /// The chunk that it is.
    Named(BlobHash),
}

/// Says which chunk is the root of a heap's image.
pub(super) fn heap(root: BlobHash) -> IOValue {
    record("heap-root", vec![root.encode()])
}

/// The heap's root and the names of the texts' chunks in the root of an image.
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
