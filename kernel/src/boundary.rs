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
//! Everything else is refused with the path to the offending part. Canonical packed bytes are the one road: values are written to them straight
//! from the heap, and an `IOValue` crosses through them as well, so that nothing rests on the `preserves` crate's own reader, whose large negative
//! integers are wrong, nor on its ordering of integers beyond 128 bits, which is not one.
//! INVARIANT: for every value of a dataspace there is exactly one text of bytes: `decode` accepts no other, `encode` writes no other.
//! Conversion copies; it keeps no reference into the heap. Nothing here recurses. Read next: `boundary/encode.rs`, `boundary/scan.rs`.
//!
//! Source: Preserves 0.996, "Binary encoding" and "Canonical form".

mod convert;
mod decode;
mod encode;
mod error;
mod packed;
mod scan;
#[cfg(test)]
mod tests;

pub use convert::{pack, unpack};
pub use error::{BoundaryError, Fault, Path, PathStep, Refusal};

use preserves::IOValue;

use crate::heap::Heap;
use crate::value::Value;

/// Bounds of one conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most compound values inside each other.
    pub depth_max: usize,
    /// The most bytes of the packed form.
    pub bytes_max: usize,
}

impl Limits {
    /// 512 levels, 16 MiB.
    pub const DEFAULT: Limits = Limits {
        depth_max: 512,
        bytes_max: 16 << 20,
    };
}

impl Default for Limits {
    fn default() -> Limits {
        Limits::DEFAULT
    }
}

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

/// Writes a value as canonical packed bytes.
///
/// # Errors
/// [`BoundaryError::Refused`] for what cannot leave, [`BoundaryError::TooDeep`], [`BoundaryError::TooLarge`].
pub fn encode(
    heap: &Heap,
    value: Value,
    limits: Limits,
    capabilities: &mut dyn Capabilities,
) -> Result<Vec<u8>, BoundaryError> {
    encode::encode(heap, value, limits, capabilities)
}

/// Reads a value from canonical packed bytes, all of them.
///
/// # Errors
/// [`BoundaryError::Malformed`], [`BoundaryError::TooDeep`], [`BoundaryError::TooLarge`], [`BoundaryError::HeapFull`]; the heap then holds garbage, no part of a value.
pub fn decode(
    heap: &mut Heap,
    bytes: &[u8],
    limits: Limits,
    capabilities: &mut dyn Capabilities,
) -> Result<Value, BoundaryError> {
    decode::decode(heap, bytes, limits, capabilities)
}

/// The Preserves value of a heap value.
///
/// # Errors
/// As [`encode`].
pub fn to_preserves(
    heap: &Heap,
    value: Value,
    limits: Limits,
    capabilities: &mut dyn Capabilities,
) -> Result<IOValue, BoundaryError> {
    unpack(&encode(heap, value, limits, capabilities)?, limits)
}

/// The heap value of a Preserves value; annotations are dropped, dictionaries and sets take their canonical order.
///
/// # Errors
/// As [`pack`] and [`decode`].
pub fn from_preserves(
    heap: &mut Heap,
    value: &IOValue,
    limits: Limits,
    capabilities: &mut dyn Capabilities,
) -> Result<Value, BoundaryError> {
    decode(heap, &pack(value, limits)?, limits, capabilities)
}
