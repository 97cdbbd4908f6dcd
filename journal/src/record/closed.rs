//! Records whose bodies nobody has looked into, and the reading of what comes before a body.
//!
//! Whoever takes a turn again compares the bytes that it comes to with those of the body; where
//! they are the same, they need no other check.
//! INVARIANT: a [`ClosedRecord`]'s name is the hash of its bytes under that of its parent, and its
//! header is what they say.
//! It does not promise that the body is a value; [`ClosedRecord::open`] finds out.
//! Read next: `store.rs`.

use std::fmt;
use std::ops::Range;

use super::{FORMAT, Header, Record, RecordError, check_parent, limits};
use crate::identity::{BlobHash, BranchName, RecordHash, RunId, Sequence};
use crate::packed::{self, Compound, PackedError, PackedFault, PackedLimits, Reader, Token};

/// A record whose body may be anything.
#[derive(Clone, PartialEq, Eq)]
pub struct ClosedRecord {
    pub(super) header: Header,
    pub(super) hash: RecordHash,
    pub(super) bytes: Vec<u8>,
    pub(super) body: Range<usize>,
}

impl ClosedRecord {
    /// Reads what comes before the body of a record whose name, and its parent's, are known; names
    /// that are those of a `relative` are shared with it.
    pub(crate) fn decode_named(
        (hash, parent): (RecordHash, Option<RecordHash>),
        bytes: Vec<u8>,
        relative: Option<&Header>,
    ) -> Result<Self, RecordError> {
        let mut reader = Reader::new(&bytes, limits())?;
        let header = read_header(&mut reader, parent, relative)?;
        check_parent(&header)?;
        let body = reader.offset()..bytes.len() - 1;
        let unexpected = |expected, found, offset_bytes| {
            let fault = PackedFault::Unexpected { expected, found };
            Err(PackedError { offset_bytes, fault }.into())
        };
        if bytes[body.end] != END {
            return unexpected("the end of the record", "another byte", body.end);
        }
        if body.is_empty() {
            return unexpected("the body", "an end", body.start);
        }
        Ok(Self {
            header,
            hash,
            bytes,
            body,
        })
    }

    /// Checks the body.
    ///
    /// # Errors
    /// [`RecordError::Packed`] if it is not one canonical value.
    pub fn open(self) -> Result<Record, RecordError> {
        match packed::check(self.body_bytes(), PackedLimits::default()) {
            Ok(()) => Ok(Record(self)),
            Err(error) => Err(error.moved_by(self.body.start).into()),
        }
    }

    /// Returns the record's name.
    pub fn hash(&self) -> RecordHash {
        self.hash
    }

    /// Returns what the journal knows of it.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Returns the bytes of the whole record.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the bytes of the body; of a [`Record`], they are one canonical value.
    pub fn body_bytes(&self) -> &[u8] {
        &self.bytes[self.body.clone()]
    }

    /// Names every blob the record refers to, the snapshot first.
    pub fn blobs(&self) -> impl Iterator<Item = BlobHash> {
        self.header.snapshot.iter().chain(&self.header.blobs).copied()
    }
}

impl fmt::Debug for ClosedRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut record = f.debug_struct("ClosedRecord");
        record
            .field("hash", &self.hash)
            .field("header", &self.header)
            .finish_non_exhaustive()
    }
}

/// The last byte of a record.
const END: u8 = 0x84;

/// Reads everything before the body of a record whose parent is `parent`; names that are those of a
/// `relative` are shared with it.
fn read_header(
    reader: &mut Reader<'_>,
    parent: Option<RecordHash>,
    relative: Option<&Header>,
) -> Result<Header, RecordError> {
    read_format(reader)?;
    let run = reader.string("the run")?;
    let run = match relative.filter(|relative| relative.run.as_str() == run) {
        Some(relative) => relative.run.clone(),
        None => RunId::new(run)?,
    };
    let branch = reader.string("the branch")?;
    let branch = match relative.filter(|relative| relative.branch.as_str() == branch) {
        Some(relative) => relative.branch.clone(),
        None => BranchName::new(branch)?,
    };
    let sequence = Sequence::new(reader.unsigned("the sequence number")?)?;
    let snapshot = read_hash(reader, "the snapshot's hash or #f")?.map(BlobHash);
    reader.open(Compound::Sequence, "the blobs")?;
    let mut blobs = Vec::new();
    while !reader.is_at_end() {
        blobs.push(BlobHash(reader.expect("a blob's hash", bytes32)?));
    }
    reader.end()?;
    Ok(Header {
        run,
        branch,
        sequence,
        parent,
        snapshot,
        blobs,
    })
}

/// Reads where the record opens, and its format.
fn read_format(reader: &mut Reader<'_>) -> Result<(), RecordError> {
    reader.open(Compound::Record, "a record")?;
    match reader.unsigned("the label of a record")? {
        FORMAT => Ok(()),
        found => Err(RecordError::UnsupportedFormat { found }),
    }
}

fn read_hash(reader: &mut Reader<'_>, expected: &'static str) -> Result<Option<[u8; 32]>, PackedError> {
    reader.expect(expected, |token| {
        if token == Token::Boolean(false) {
            Some(None)
        } else {
            bytes32(token).map(Some)
        }
    })
}

fn bytes32(token: Token<'_>) -> Option<[u8; 32]> {
    if let Token::ByteString(bytes) = token {
        bytes.try_into().ok()
    } else {
        None
    }
}
