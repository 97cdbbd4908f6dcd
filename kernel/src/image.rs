//! Images: whole heaps as canonical Preserves, in chunks named by the BLAKE3 hash of their bytes.
//!
//! [`snapshot`] and [`restore`] carry a heap word for word, so that it goes on exactly as it would
//! have; [`restore_instance`] does so for an instance whose code may be loaded here in another
//! order. Each chunk is a shallow Preserves record: names stand in it as symbols, the words of a
//! range as two byte strings in the code of `image/columns.rs`.
//! INVARIANT: whatever the bytes, decoding ends in memory proportional to them, or within the
//! limits asked for, and yields a well-formed heap or an [`ImageError`].
//! It does not store chunks and knows code only by name, through [`CodeNames`]. Read next:
//! `image/snapshot.rs`.

mod chunk;
mod code;
mod code_space;
mod columns;
mod graph;
mod instance;
mod names;
mod restore;
mod shape;
mod snapshot;
#[cfg(test)]
mod tests;

use chunk::write_chunk;
use graph::graph;
pub use instance::{digest, reachable_objects, restore_instance};
pub use restore::restore;
pub use snapshot::{Snapshot, snapshot};

use duet_packed::PackedError;

use crate::heap::{Heap, HeapFull, Kind, LiveRegisters};
use crate::value::Value;

/// The version of the format of snapshots.
const VERSION: u64 = 1;

/// A place in code, named so that any process that has the unit can find it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CodePoint {
    /// The hash of the compiled unit.
    pub unit: [u8; 32],
    /// The instruction within the unit, counted from its first.
    pub offset: u32,
}

/// How the machine's code positions and primitives are named, and what they demand of the objects
/// that refer to them.
pub trait CodeNames: LiveRegisters {
    /// The name of a position of this process.
    fn name_of_position(&self, position: u32) -> Option<CodePoint>;

    /// The position of a named place, if its unit is loaded and has it.
    fn position_of(&self, point: &CodePoint) -> Option<u32>;

    /// The detail bits of the code word of the procedure that begins at `position`, if one does.
    fn entry_detail(&self, position: u32) -> Option<u32>;

    /// Whether a frame of `distance_words` words, the slot of its result included, may wait for a
    /// return to `position`.
    fn accepts_return(&self, position: u32, distance_words: u32) -> bool;

    /// Whether the machine can run in a frame that waits for a return to `position` and whose
    /// register 0 holds `procedure`.
    fn accepts_frame(&self, heap: &Heap, position: u32, procedure: Value) -> bool;

    /// Whether a closure captures what its code expects.
    fn accepts_closure(&self, heap: &Heap, closure: Value) -> bool;

    /// The stable name of the primitive at a table position of this process.
    fn primitive_name(&self, position: u32) -> &str;

    /// The table position of a primitive.
    fn primitive_position(&self, name: &str) -> Option<u32>;
}

/// The BLAKE3 hash of a chunk's bytes, which is its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ChunkName(pub [u8; 32]);

impl ChunkName {
    /// The name of a chunk with these bytes.
    pub fn of(bytes: &[u8]) -> ChunkName {
        ChunkName(*blake3::hash(bytes).as_bytes())
    }
}

/// A piece of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Its name.
    pub name: ChunkName,
    /// Its bytes: one Preserves value, packed and canonical.
    pub bytes: Vec<u8>,
}

impl Chunk {
    /// The chunk of these bytes.
    pub fn new(bytes: Vec<u8>) -> Chunk {
        Chunk {
            name: ChunkName::of(&bytes),
            bytes,
        }
    }
}

/// Why an image cannot be written or read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImageError {
    /// A code position of the heap has no name.
    UnnamedCode {
        /// The position.
        position: u32,
    },
    /// The image needs code that is not loaded, or uses a place in it as what it is not.
    UnknownCode(CodePoint),
    /// The image needs a primitive that this machine does not have.
    UnknownPrimitive(String),
    /// A chunk is missing.
    MissingChunk(ChunkName),
    /// A chunk's bytes do not have the hash that names it.
    WrongName(ChunkName),
    /// The image is of another version of the format.
    UnknownVersion(u64),
    /// The bytes of a chunk are not the record that they should be.
    Packed {
        /// The chunk.
        chunk: ChunkName,
        /// The defect.
        error: PackedError,
    },
    /// The code in a chunk does not follow the format.
    Malformed {
        /// The chunk.
        chunk: ChunkName,
        /// Where, in bytes from the beginning of the code.
        offset_bytes: usize,
        /// What should stand there.
        expected: &'static str,
    },
    /// Too many snapshots that say what has changed follow each other.
    TooManyChanges,
    /// A reference leads to no object.
    DanglingReference,
    /// An object is not what its kind says.
    WrongShape(Option<Kind>),
    /// The heap has no room for the values.
    HeapFull,
}

impl ImageError {
    /// Whether the image may be sound, and was made for code that is not here.
    pub fn is_code_missing(&self) -> bool {
        matches!(self, Self::UnknownCode(_) | Self::UnknownPrimitive(_))
    }
}

impl std::fmt::Display for ImageError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ImageError::UnnamedCode { position } => write!(formatter, "code position {position} has no name"),
            ImageError::UnknownCode(point) => {
                write!(
                    formatter,
                    "the image needs place {} of code unit {} as it is not here",
                    point.offset,
                    Hex(&point.unit)
                )
            }
            ImageError::UnknownPrimitive(name) => write!(formatter, "the image needs the unknown primitive {name}"),
            ImageError::MissingChunk(name) => write!(formatter, "chunk {} is missing", Hex(&name.0)),
            ImageError::WrongName(name) => {
                write!(formatter, "the bytes of chunk {} do not have its hash", Hex(&name.0))
            }
            ImageError::UnknownVersion(version) => {
                write!(
                    formatter,
                    "the image is of version {version}, this program reads version {VERSION}"
                )
            }
            ImageError::Packed { chunk, error } => write!(formatter, "{error} of chunk {}", Hex(&chunk.0)),
            ImageError::Malformed {
                chunk,
                offset_bytes,
                expected,
            } => {
                write!(
                    formatter,
                    "byte {offset_bytes} of chunk {} should begin {expected}",
                    Hex(&chunk.0)
                )
            }
            ImageError::TooManyChanges => formatter.write_str("the image is made of too many changes"),
            ImageError::DanglingReference => formatter.write_str("a reference of the image leads to no object"),
            ImageError::WrongShape(Some(kind)) => write!(formatter, "the image holds a malformed {}", kind.name()),
            ImageError::WrongShape(None) => formatter.write_str("the image holds a malformed heap"),
            ImageError::HeapFull => formatter.write_str("the image does not fit into the instance's memory"),
        }
    }
}

impl std::error::Error for ImageError {}

impl From<HeapFull> for ImageError {
    fn from(_: HeapFull) -> ImageError {
        ImageError::HeapFull
    }
}

/// Bytes in hexadecimal.
struct Hex<'a>(&'a [u8]);

impl std::fmt::Display for Hex<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}
