//! Canonical packed Preserves, read and written with care.
//!
//! Owns [`PackedValue`], the limits and the errors; `packed/scan.rs` reads bytes, `packed/value.rs` converts to and from
//! `IOValue`, `packed/view.rs` looks into checked bytes, `packed/shared.rs` keeps lists of values, `packed/build.rs` writes a value part by part, `packed/write.rs` the pieces of which
//! all bytes are put together.
//! INVARIANT: the bytes of a [`PackedValue`] are exactly one value in canonical form, within the limits.
//!
//! The `preserves` crate accepts other forms, misreads integers from −2¹²⁸ to −2¹²⁷ − 1 and overflows the stack on deep
//! input, so no byte from outside reaches it here.
//! Read next: `packed/scan.rs`.
//!
//! Source: "Preserves: Binary Syntax", "Canonical Form for Binary Syntax".

use std::fmt;

use preserves::IOValue;

mod build;
mod scan;
mod shared;
mod value;
mod view;
pub(crate) mod write;

pub use build::PackedWriter;
pub(crate) use scan::{Compound, Scanner, Token};
pub use shared::{PackedValues, SharedValue};
pub use view::{Class, Parts, View};

/// The greatest depth of a value: a value inside 512 others is refused.
pub const MAX_DEPTH: usize = 512;

/// The greatest length of a value, in bytes (64 MiB); larger things are blobs.
pub const MAX_VALUE_BYTES: usize = 64 << 20;

/// One Preserves value as canonical packed bytes.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct PackedValue(Vec<u8>);

impl PackedValue {
    /// Checks that `bytes` are one canonical value and takes them.
    ///
    /// # Errors
    /// [`PackedError`], with the offset of the first byte that is wrong.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, PackedError> {
        check(&bytes, MAX_DEPTH)?;
        Ok(Self(bytes))
    }

    /// Takes bytes that an encoder has written as one canonical value, and within the limits: nothing looks at them again, but where debug assertions are on.
    pub fn of_encoder(bytes: Vec<u8>) -> Self {
        debug_assert_eq!(
            check(&bytes, MAX_DEPTH),
            Ok(()),
            "an encoder writes one canonical value"
        );
        Self(bytes)
    }

    /// Encodes `value`; annotations are left out, as they are no part of a value.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub fn from_value(value: &IOValue) -> Result<Self, PackedError> {
        Self::write(|out| out.value(value))
    }

    /// Makes a value of what `parts` writes, which must be exactly one value, without a tree of it.
    ///
    /// # Errors
    /// [`PackedFault::TooDeep`] or [`PackedFault::TooLarge`]; [`PackedFault::Order`] for a set or dictionary whose elements or keys are
    /// the same but for annotations.
    ///
    /// # Panics
    /// If `parts` writes no value or several.
    pub fn write(parts: impl FnOnce(&mut PackedWriter)) -> Result<Self, PackedError> {
        let mut writer = PackedWriter::default();
        parts(&mut writer);
        writer.finish().map(Self::of_encoder)
    }

    /// Decodes to a tree.
    pub fn to_value(&self) -> IOValue {
        value::decode(&self.0, MAX_DEPTH).expect("a packed value was checked when it was made")
    }

    /// Returns the bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Gives the bytes away.
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

impl fmt::Debug for PackedValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_value().fmt(f)
    }
}

/// Decodes bytes that must be one canonical value.
///
/// # Errors
/// [`PackedError`], with the offset of the first byte that is wrong.
pub fn read_value(bytes: &[u8]) -> Result<IOValue, PackedError> {
    value::decode(bytes, MAX_DEPTH)
}

/// Checks that `bytes` are one canonical value of at most `max_depth`.
pub(crate) fn check(bytes: &[u8], max_depth: usize) -> Result<(), PackedError> {
    let mut scanner = Scanner::new(bytes, max_depth)?;
    while scanner.next()?.is_some() {}
    Ok(())
}

/// Says where and why bytes are not one canonical packed value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackedError {
    /// Where, counted from the first byte of the value.
    pub offset_bytes: usize,
    /// Why.
    pub fault: PackedFault,
}

/// What can be wrong with packed bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PackedFault {
    /// The bytes end inside a value.
    Truncated,
    /// Bytes follow the value.
    Trailing,
    /// No value starts with this byte.
    UnknownTag(u8),
    /// An annotation, which canonical form leaves out.
    Annotation,
    /// An end without a beginning, or directly after the beginning of an embedded value.
    MisplacedEnd,
    /// A record without even a label.
    MissingLabel,
    /// A dictionary's last key has no value.
    MissingDictionaryValue,
    /// A length that could be written in fewer bytes, or has more than 64 bits.
    Length,
    /// An integer that could be written in fewer bytes.
    Integer,
    /// A double of a length other than 8 bytes.
    Double {
        /// The length found.
        length_bytes: usize,
    },
    /// A string or symbol that is not UTF-8.
    Utf8,
    /// Elements of a set, or keys of a dictionary, that repeat or are out of order.
    Order,
    /// Nesting beyond the limit.
    TooDeep {
        /// The limit.
        limit: usize,
    },
    /// More bytes than the limit.
    TooLarge {
        /// The number of bytes.
        length_bytes: usize,
        /// The limit.
        limit_bytes: usize,
    },
}

impl fmt::Display for PackedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.fault, self.offset_bytes)
    }
}

impl fmt::Display for PackedFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated => write!(f, "the value is cut off"),
            Self::Trailing => write!(f, "bytes follow the value"),
            Self::UnknownTag(tag) => write!(f, "no value starts with {tag:#04x}"),
            Self::Annotation => write!(f, "an annotation, which canonical form leaves out"),
            Self::MisplacedEnd => write!(f, "an end that closes nothing"),
            Self::MissingLabel => write!(f, "a record without a label"),
            Self::MissingDictionaryValue => write!(f, "a dictionary key without a value"),
            Self::Length => write!(f, "a length that is not in its shortest form"),
            Self::Integer => write!(f, "an integer that is not in its shortest form"),
            Self::Double { length_bytes } => write!(f, "a double of {length_bytes} bytes instead of 8"),
            Self::Utf8 => write!(f, "text that is not UTF-8"),
            Self::Order => write!(
                f,
                "set elements or dictionary keys that are not in strictly ascending order"
            ),
            Self::TooDeep { limit } => write!(f, "nesting beyond {limit} levels"),
            Self::TooLarge {
                length_bytes,
                limit_bytes,
            } => {
                write!(f, "{length_bytes} bytes where at most {limit_bytes} are allowed")
            }
        }
    }
}

impl std::error::Error for PackedError {}

#[cfg(test)]
mod tests;
