//! The root of a body's image: what it says of the heap and of the texts.
//!
//! INVARIANT: what is none is told by its shape and never read beyond it.
//! It does not know what is in a heap's image. Read next: `scheme/evaluation.rs`.

use duet_journal::BlobHash;
use preserves::{IOValue, ValueImpl};

use crate::codec::{Bytes, Codec, Fields};

/// The heap's root and the names of the texts' chunks in the root of an image.
pub(super) fn parts(root: &IOValue) -> Option<(Vec<u8>, Vec<BlobHash>)> {
    if let Some(heap) = root.as_bytestring() {
        return Some((heap.into_owned(), Vec::new()));
    }
    let mut fields = Fields::of(root, "body", 2).ok()?;
    let Bytes(heap) = fields.read("heap").ok()?;
    Some((heap, fields.read("texts").ok()?))
}

/// Lists the chunks that the root of a heap's image names: the byte strings of its last field.
pub(super) fn chunk_names(root: &[u8]) -> Vec<BlobHash> {
    let Ok(root) = duet_journal::packed::read_value(root) else {
        return Vec::new();
    };
    let Some(last) = root.value().iter().last() else {
        return Vec::new();
    };
    last.iter()
        .filter_map(|name| BlobHash::decode(&name.into()).ok())
        .collect()
}
