//! Why bytes, or parts, are not one canonical value.
//!
//! INVARIANT: an error carries facts (offset, expected, found); its words are made here alone.
//! It does not decide what is canonical; `reader.rs` and `writer.rs` do.
//! Read next: `format.rs`.

use std::fmt;

/// Says where and why bytes are not the canonical value that they should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackedError {
    /// Where, counted from the first byte.
    pub offset_bytes: usize,
    /// Why.
    pub fault: PackedFault,
}

impl PackedError {
    /// Counts the offset from `start_bytes` bytes further to the left.
    #[must_use]
    pub fn moved_by(mut self, start_bytes: usize) -> Self {
        self.offset_bytes += start_bytes;
        self
    }
}

impl PackedFault {
    /// Says whether the value is only too deep or too large.
    pub fn is_limit(&self) -> bool {
        matches!(self, Self::TooDeep { .. } | Self::TooLarge { .. })
    }
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
    /// An end where nothing is open, or where an embedded value must stand.
    MisplacedEnd,
    /// A record without a label.
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
    /// An element of a set, or key of a dictionary, that should stand before the last one.
    Unordered,
    /// An element of a set, or key of a dictionary, that occurs twice.
    Repeated,
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
    /// Something else than the format of the bytes demands.
    Unexpected {
        /// What should stand there.
        expected: &'static str,
        /// What stands there.
        found: &'static str,
    },
}

impl fmt::Display for PackedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.fault, self.offset_bytes)
    }
}

impl fmt::Display for PackedFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::UnknownTag(tag) => return write!(f, "no value starts with {tag:#04x}"),
            Self::Double { length_bytes } => return write!(f, "a double of {length_bytes} bytes instead of 8"),
            Self::TooDeep { limit } => return write!(f, "nesting beyond {limit} levels"),
            Self::TooLarge {
                length_bytes,
                limit_bytes,
            } => return write!(f, "{length_bytes} bytes where at most {limit_bytes} are allowed"),
            Self::Unexpected { expected, found } => return write!(f, "expected {expected}, found {found}"),
            Self::Truncated => "the value is cut off",
            Self::Trailing => "bytes follow the value",
            Self::Annotation => "an annotation, which canonical form leaves out",
            Self::MisplacedEnd => "an end that closes nothing",
            Self::MissingLabel => "a record without a label",
            Self::MissingDictionaryValue => "a dictionary key without a value",
            Self::Length => "a length that is not in its shortest form",
            Self::Integer => "an integer that is not in its shortest form",
            Self::Utf8 => "text that is not UTF-8",
            Self::Unordered => "a set element or dictionary key after a greater one",
            Self::Repeated => "a set element or dictionary key that occurs twice",
        })
    }
}

impl std::error::Error for PackedError {}
