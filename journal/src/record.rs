//! One record: an envelope the journal understands around a body it does not.
//!
//! INVARIANT: a [`Record`] is its canonical bytes and its parent's name; header, hash and body follow from them and never disagree.
//! It does not look inside the body; `record/closed.rs` has records whose bodies may not even be values.
//! Read next: `record/closed.rs`, then `store.rs`.
//!
//! Source: `journal/FORMAT.md`, "Record".

mod closed;

pub use closed::ClosedRecord;

use std::fmt;
use std::ops::Deref;

use crate::identity::{BlobHash, BranchName, IdentityError, RecordHash, RunId, Sequence};
use crate::packed::write::{atom, tag, unsigned};
use crate::packed::{self, MAX_VALUE_BYTES, PackedError, PackedFault, PackedValue, View};

/// The record format that this code writes, and the newest that it reads; the label of its records.
pub const FORMAT: u64 = 2;

/// The format whose bytes say the parent's name, and are named by their hash alone; the first field of its records.
const NAMING_PARENT: u64 = 1;

/// The label of the records of that format.
const NAMING_PARENT_LABEL: &str = "record";

/// How their bytes begin.
const NAMING_PARENT_BEGINS: &[u8] = b"\xb4\xb3\x06record\xb0\x01\x01";

/// Names a record by its bytes, and by its parent if they do not say it.
pub(crate) fn name(bytes: &[u8], parent: Option<RecordHash>) -> RecordHash {
    match parent {
        Some(parent) if !bytes.starts_with(NAMING_PARENT_BEGINS) => RecordHash::following(parent, bytes),
        Some(_) | None => RecordHash::of(bytes),
    }
}

/// What the journal knows of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The run.
    pub run: RunId,
    /// The branch that the record was appended to; branches forked later share it.
    pub branch: BranchName,
    /// The number of its ancestors.
    pub sequence: Sequence,
    /// The record before it; `None` exactly if `sequence` is 0.
    pub parent: Option<RecordHash>,
    /// The blob that holds the state after this record, if one was taken here.
    pub snapshot: Option<BlobHash>,
    /// Other blobs that the body refers to.
    pub blobs: Vec<BlobHash>,
}

/// An immutable record.
#[derive(Clone, PartialEq, Eq)]
pub struct Record(ClosedRecord);

impl Record {
    /// Makes a record of its parts.
    ///
    /// # Errors
    /// [`RecordError::ParentAndSequence`], or [`PackedFault::TooLarge`].
    pub fn new(header: Header, body: PackedValue) -> Result<Self, RecordError> {
        check_parent(&header)?;
        // In the body's own room, which mostly holds the header too.
        let mut bytes = body.into_bytes();
        let body_bytes = bytes.len();
        encode_header(&mut bytes, &header);
        bytes.rotate_left(body_bytes);
        let body = bytes.len() - body_bytes..bytes.len();
        bytes.push(tag::END);
        if bytes.len() > MAX_VALUE_BYTES {
            let fault = PackedFault::TooLarge {
                length_bytes: bytes.len(),
                limit_bytes: MAX_VALUE_BYTES,
            };
            return Err(PackedError {
                offset_bytes: MAX_VALUE_BYTES,
                fault,
            }
            .into());
        }
        Ok(Self(ClosedRecord {
            hash: name(&bytes, header.parent),
            header,
            bytes,
            body,
        }))
    }

    /// Reads a record from its bytes, and the name of the record before it, which those of an older format say themselves.
    ///
    /// # Errors
    /// [`RecordError`] if they are not canonical, not a record, or of another format.
    pub fn decode(bytes: Vec<u8>, parent: Option<RecordHash>) -> Result<Self, RecordError> {
        ClosedRecord::decode_named((name(&bytes, parent), parent), bytes, None)?.open()
    }

    /// Looks into the body without decoding it.
    pub fn body_view(&self) -> View<'_> {
        View::checked(self.body_bytes())
    }

    /// Decodes the body.
    pub fn body(&self) -> preserves::IOValue {
        packed::read_value(self.body_bytes()).expect("the body was checked when the record was made")
    }

    /// Forgets that the body was checked.
    pub fn close(self) -> ClosedRecord {
        self.0
    }
}

/// What can be said of a record without looking into its body.
impl Deref for Record {
    type Target = ClosedRecord;

    fn deref(&self) -> &ClosedRecord {
        &self.0
    }
}

impl fmt::Debug for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut record = f.debug_struct("Record");
        record
            .field("hash", &self.hash())
            .field("header", &self.header())
            .field("body", &self.body())
            .finish()
    }
}

fn check_parent(header: &Header) -> Result<(), RecordError> {
    if header.parent.is_some() == (header.sequence != Sequence::FIRST) {
        Ok(())
    } else {
        Err(RecordError::ParentAndSequence {
            sequence: header.sequence,
            parent: header.parent,
        })
    }
}

fn encode_header(out: &mut Vec<u8>, header: &Header) {
    out.push(tag::RECORD);
    unsigned(out, FORMAT);
    atom(out, tag::STRING, header.run.as_str().as_bytes());
    atom(out, tag::STRING, header.branch.as_str().as_bytes());
    unsigned(out, header.sequence.number());
    match &header.snapshot {
        Some(hash) => atom(out, tag::BYTE_STRING, hash.as_bytes()),
        None => out.push(tag::FALSE),
    }
    out.push(tag::SEQUENCE);
    header
        .blobs
        .iter()
        .for_each(|blob| atom(out, tag::BYTE_STRING, blob.as_bytes()));
    out.push(tag::END);
}

/// Says why bytes, or parts, are not a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordError {
    /// The bytes are not one canonical value within the limits.
    Packed(PackedError),
    /// A version that this code does not know.
    UnsupportedFormat {
        /// The version.
        found: u64,
    },
    /// A field is missing or of another kind.
    Unexpected {
        /// What should stand there.
        expected: &'static str,
        /// Where, in bytes.
        offset_bytes: usize,
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
            Self::Packed(_) => write!(f, "the bytes are not a canonical value"),
            Self::UnsupportedFormat { found } => {
                write!(f, "record format {found}, this program reads up to format {FORMAT}")
            }
            Self::Unexpected { expected, offset_bytes } => write!(f, "expected {expected} at byte {offset_bytes}"),
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
        }
    }
}

impl std::error::Error for RecordError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Packed(error) => Some(error),
            Self::Identity(error) => Some(error),
            Self::UnsupportedFormat { .. } | Self::Unexpected { .. } | Self::ParentAndSequence { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests;
