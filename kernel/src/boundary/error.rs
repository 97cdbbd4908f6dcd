//! Why a value cannot cross, and where the offending part is.
//!
//! INVARIANT: an error carries facts; the words are made from them here alone.
//! It does not decide what may cross. Read next: `boundary/encode.rs`.

use std::fmt;

use duet_packed::{PackedError, PackedFault};

use crate::heap::{HeapFull, Kind};

/// Why a conversion failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BoundaryError {
    /// A part of the value has no form outside the heap.
    Refused {
        /// The kind of the part.
        reason: Refusal,
        /// Where it is.
        path: Path,
    },
    /// The value is too deep or too large, or the bytes are not the canonical form of a value.
    Packed(PackedError),
    /// An embedded value stands for nothing here.
    UnknownCapability {
        /// Where, counted from the beginning of the bytes.
        offset_bytes: usize,
    },
    /// The heap has no room for the value.
    HeapFull,
}

/// What has no form outside the heap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A character.
    Character,
    /// An exact number that is not an integer.
    Ratio,
    /// A complex number that is not real.
    Complex,
    /// A pair that does not begin a proper list.
    ImproperList,
    /// A part that contains itself.
    Cycle,
    /// A plain symbol that would read back as a keyword.
    ColonSymbol(String),
    /// An instance of a record definition.
    TypedRecord(String),
    /// A reference that nothing outside stands for.
    Capability,
    /// Two keys of a dictionary, or members of a set, that are the same outside the heap.
    DuplicateKey,
    /// A constant such as the end-of-file object, by its name.
    Constant(&'static str),
    /// A procedure that is part of the system.
    Primitive,
    /// An object of another kind.
    Object(Kind),
}

/// The way from a whole value to a part of it, outermost step first.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Path(pub Vec<PathStep>);

/// One step into a compound value; positions count from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathStep {
    /// An element of a list or vector.
    Element(usize),
    /// The label of a record.
    Label,
    /// A field of a record.
    Field {
        /// Its position.
        position: usize,
        /// The record's label, as written.
        record: String,
    },
    /// A key of a dictionary, in order of insertion.
    Key(usize),
    /// The value of a key, which is given as written.
    Entry(String),
    /// A member of a set, in order of insertion.
    Member(usize),
}

impl From<PackedError> for BoundaryError {
    fn from(error: PackedError) -> BoundaryError {
        BoundaryError::Packed(error)
    }
}

impl From<HeapFull> for BoundaryError {
    fn from(_: HeapFull) -> BoundaryError {
        BoundaryError::HeapFull
    }
}

impl std::error::Error for BoundaryError {}

impl fmt::Display for BoundaryError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BoundaryError::Refused { reason, path } if path.0.is_empty() => write!(out, "{reason}"),
            BoundaryError::Refused { reason, path } => write!(out, "{path}: {reason}"),
            BoundaryError::Packed(PackedError { offset_bytes, fault }) => {
                if let PackedFault::TooDeep { limit } = fault {
                    write!(out, "the value is nested more than {limit} levels deep")
                } else if let PackedFault::TooLarge { limit_bytes, .. } = fault {
                    write!(out, "the value takes more than {limit_bytes} bytes")
                } else {
                    write!(out, "at byte {offset_bytes}: {fault}")
                }
            }
            BoundaryError::UnknownCapability { offset_bytes } => {
                write!(out, "at byte {offset_bytes}: an embedded value stands for nothing here")
            }
            BoundaryError::HeapFull => HeapFull.fmt(out),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Character => out.write_str("a character cannot leave; send a string"),
            Refusal::Ratio => {
                out.write_str("an exact ratio cannot leave; send an inexact number or numerator and denominator")
            }
            Refusal::Complex => {
                out.write_str("a complex number cannot leave; send its real part and its imaginary part")
            }
            Refusal::ImproperList => out.write_str("an improper list cannot leave; end it with ()"),
            Refusal::Cycle => out.write_str("a value that contains itself cannot leave"),
            Refusal::ColonSymbol(name) => write!(
                out,
                "the symbol |{name}| would come back as a keyword; send the keyword or another symbol"
            ),
            Refusal::TypedRecord(name) => write!(
                out,
                "an instance of the record type {name} cannot leave; give the type a label, \
                 (define-record-type ({name} :label {name}) …), or send a record with its fields"
            ),
            Refusal::Capability => out.write_str("a reference that nothing outside stands for cannot leave"),
            Refusal::DuplicateKey => out.write_str("two keys are the same outside, where lists and vectors are"),
            Refusal::Constant(name) => write!(out, "{name} cannot leave"),
            Refusal::Primitive => out.write_str("a procedure cannot leave; send its name"),
            Refusal::Object(kind) if kind.is_procedure() => out.write_str("a procedure cannot leave; send its name"),
            Refusal::Object(kind) => write!(out, "an object of kind {} cannot leave", kind.name()),
        }
    }
}

impl fmt::Display for Path {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, step) in self.0.iter().enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            write!(out, "{comma}{step}")?;
        }
        Ok(())
    }
}

impl fmt::Display for PathStep {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PathStep::Element(position) => write!(out, "element {position}"),
            PathStep::Label => out.write_str("the record's label"),
            PathStep::Field { position, record } => write!(out, "field {position} of record {record}"),
            PathStep::Key(position) => write!(out, "key {position}"),
            PathStep::Entry(key) => write!(out, "the value of {key}"),
            PathStep::Member(position) => write!(out, "member {position}"),
        }
    }
}
