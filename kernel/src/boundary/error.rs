//! Why a value cannot cross, and where the offending part is.
//!
//! INVARIANT: an error carries facts; the words are made from them here alone.
//! It does not decide what may cross. Read next: `boundary/encode.rs`.

use std::fmt;

use crate::heap::{HeapFull, Kind};

/// Why a conversion failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BoundaryError {
    /// A part of the value has no form outside the heap.
    Refused {
        /// What it is.
        reason: Refusal,
        /// Where it is.
        path: Path,
    },
    /// Compound values stand inside each other more deeply than allowed.
    TooDeep {
        /// The limit.
        depth_max: usize,
    },
    /// The packed form is longer than allowed.
    TooLarge {
        /// The limit.
        bytes_max: usize,
    },
    /// The bytes are not the canonical form of a value.
    Malformed {
        /// Where, counted from their beginning.
        offset_bytes: usize,
        /// What is wrong there.
        fault: Fault,
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

/// What is wrong with bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// They end inside a value.
    Truncated,
    /// They go on after the value.
    TrailingBytes,
    /// No value begins with this byte.
    UnknownTag(u8),
    /// An end mark where nothing is open, or where an embedded value must stand.
    UnexpectedEnd,
    /// A length is not written in the fewest bytes.
    LongLength,
    /// An integer is not written in the fewest bytes.
    LongInteger,
    /// A canonical value has no annotations.
    Annotation,
    /// A double has not eight bytes but this many.
    DoubleLength(usize),
    /// The text of a string or symbol is not UTF-8.
    NotUtf8,
    /// A record has no label.
    RecordWithoutLabel,
    /// The last key of a dictionary has no value.
    KeyWithoutValue,
    /// A key or member stands before one that is less.
    Unordered,
    /// A key or member occurs twice.
    DuplicateKey,
    /// An embedded value that stands for nothing here.
    UnknownCapability,
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

impl BoundaryError {
    /// The kind of the condition that a program sees.
    pub const fn condition_kind(&self) -> &'static str {
        match self {
            BoundaryError::Refused { .. } => "not-serializable",
            BoundaryError::TooDeep { .. } | BoundaryError::TooLarge { .. } => "limit-exceeded",
            BoundaryError::Malformed { .. } => "malformed-value",
            BoundaryError::HeapFull => "out-of-memory",
        }
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
            BoundaryError::TooDeep { depth_max } => {
                write!(out, "the value is nested more than {depth_max} levels deep")
            }
            BoundaryError::TooLarge { bytes_max } => write!(out, "the value takes more than {bytes_max} bytes"),
            BoundaryError::Malformed { offset_bytes, fault } => write!(out, "at byte {offset_bytes}: {fault}"),
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
                "an instance of the record type {name} cannot leave; send a labelled record with its fields"
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

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Fault::UnknownTag(tag) => return write!(out, "no value begins with the byte {tag:#04x}"),
            Fault::DoubleLength(length) => return write!(out, "a double has eight bytes, not {length}"),
            Fault::Truncated => "the bytes end inside a value",
            Fault::TrailingBytes => "the bytes go on after the value",
            Fault::UnexpectedEnd => "an end mark stands where a value must",
            Fault::LongLength => "a length is not written in the fewest bytes",
            Fault::LongInteger => "an integer is not written in the fewest bytes",
            Fault::Annotation => "a canonical value has no annotations",
            Fault::NotUtf8 => "a text is not UTF-8",
            Fault::RecordWithoutLabel => "a record has no label",
            Fault::KeyWithoutValue => "a key has no value",
            Fault::Unordered => "a key stands after a greater one",
            Fault::DuplicateKey => "a key occurs twice",
            Fault::UnknownCapability => "an embedded value stands for nothing here",
        })
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
