//! What can be wrong with the bytes of a record.
//!
//! INVARIANT: an error names what is wrong, and reading has then made nothing.
//! It does not know where the bytes come from. Read next: `../record.rs`.

use std::fmt;

use crate::identity::{IdentityError, RecordHash, Sequence};
use crate::packed::PackedError;

/// Says why bytes, or parts, are not a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordError {
    /// The bytes are not one canonical value within the limits.
    Packed(PackedError),
    /// A version that this code does not know.
    UnsupportedFormat {
        /// The version.
        found: u64,
        /// The version that this program reads and writes.
        supported: u64,
    },
    /// A name or number is not well formed.
    Identity(IdentityError),
    /// A first record has a parent, or another one has none.
    ParentAndSequence {
        /// The position.
        sequence: Sequence,
        /// The parent.
        parent: Option<RecordHash>,
    },
    /// The body is one in parts, where only a whole one may be.
    InParts,
}

impl From<PackedError> for RecordError {
    fn from(error: PackedError) -> Self {
        Self::Packed(error)
    }
}

impl From<IdentityError> for RecordError {
    fn from(error: IdentityError) -> Self {
        Self::Identity(error)
    }
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Packed(_) => write!(f, "the bytes are not those of a record"),
            Self::UnsupportedFormat { found, supported } => {
                write!(
                    f,
                    "the record is of format {found}, this program reads format {supported}"
                )
            }
            Self::Identity(_) => write!(f, "the record's envelope has a malformed name or number"),
            Self::ParentAndSequence {
                sequence,
                parent: Some(_),
            } => {
                write!(f, "the record at position {sequence} should have no parent")
            }
            Self::ParentAndSequence { sequence, parent: None } => {
                write!(f, "the record at position {sequence} should have a parent")
            }
            Self::InParts => write!(f, "the record's body is in parts where a whole one is needed"),
        }
    }
}

impl std::error::Error for RecordError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Packed(error) => Some(error),
            Self::Identity(error) => Some(error),
            Self::UnsupportedFormat { .. } | Self::ParentAndSequence { .. } | Self::InParts => None,
        }
    }
}
