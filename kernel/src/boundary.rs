//! The boundary: heap values to Preserves and back, for journals, dataspaces and peers.
//!
//! | Scheme | Preserves |
//! |---|---|
//! | exact integer, inexact real | SignedInteger, Double (bit for bit) |
//! | boolean, string, bytevector | Boolean, String, ByteString |
//! | symbol; keyword `:k` | Symbol; Symbol `:k` (so a plain symbol that starts with `:` is refused) |
//! | proper list, vector | Sequence, which always reads back as a list |
//! | dataspace record, dictionary, set | Record, Dictionary, Set |
//! | opaque reference | embedded value, if a [`Capabilities`] knows it |
//!
//! Everything else is refused with the path to the offending part. Every value crosses as canonical
//! packed bytes: the encoder writes them straight from the heap, the decoder builds straight into
//! it, and a tree of the `preserves` crate is packed or unpacked besides.
//! INVARIANT: every value of a dataspace has exactly one form in bytes: `decode` accepts no other,
//! `encode` writes no other. Conversion copies; it keeps no reference into the heap. Nothing here
//! recurses. It does not know the bytes; the crate `duet-packed` does.
//! Read next: `boundary/encode.rs`, `boundary/decode.rs`.

mod decode;
mod encode;
mod error;
#[cfg(test)]
mod tests;

pub use decode::decode;
pub use encode::encode;
pub use error::{BoundaryError, Path, PathStep, Refusal};

use duet_packed::{MAX_DEPTH, PackedLimits, PackedWriter};
use preserves::IOValue;

use crate::heap::Heap;
use crate::value::Value;

/// The bounds of one conversion: 512 levels, 16 MiB.
pub const LIMITS: PackedLimits = PackedLimits {
    depth_max: MAX_DEPTH,
    bytes_max: 16 << 20,
};

/// An opaque reference of the heap, without its payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpaqueReference {
    /// The table of the host's that it belongs to.
    pub class: u32,
    /// Its place in that table.
    pub id: u32,
}

/// Maps references to things outside the heap to embedded values and back.
pub trait Capabilities {
    /// The value to embed for a reference, or nothing if it may not leave.
    fn embed(&mut self, reference: OpaqueReference) -> Option<IOValue>;
    /// The reference for an embedded value, or nothing if it may not enter.
    fn admit(&mut self, embedded: &IOValue) -> Option<OpaqueReference>;
}

/// Lets no reference cross.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoCapabilities;

impl Capabilities for NoCapabilities {
    fn embed(&mut self, _: OpaqueReference) -> Option<IOValue> {
        None
    }

    fn admit(&mut self, _: &IOValue) -> Option<OpaqueReference> {
        None
    }
}

/// The Preserves value of a heap value.
///
/// # Errors
/// As [`encode`].
pub fn to_preserves(
    heap: &Heap,
    value: Value,
    limits: PackedLimits,
    capabilities: &mut dyn Capabilities,
) -> Result<IOValue, BoundaryError> {
    Ok(encode(heap, value, limits, capabilities)?.to_value())
}

/// The heap value of a Preserves value; annotations are dropped, dictionaries and sets take their
/// canonical order.
///
/// # Errors
/// As [`decode`]; [`BoundaryError::Packed`] too if a dictionary or set has a key twice.
pub fn from_preserves(
    heap: &mut Heap,
    value: &IOValue,
    limits: PackedLimits,
    capabilities: &mut dyn Capabilities,
) -> Result<Value, BoundaryError> {
    let mut writer = PackedWriter::within(limits);
    writer.value(value);
    decode(heap, &writer.finish()?, limits, capabilities)
}
