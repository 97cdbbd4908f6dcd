//! Records whose bodies nobody has looked into, and the reading of what comes before a body.
//!
//! Whoever takes a turn again compares the bytes that it comes to with those of the body; where
//! they are the same, they need no other check. A large body stands in the record in parts until
//! somebody joins them.
//! INVARIANT: a [`ClosedRecord`]'s name is the hash of its bytes under that of its parent, and its
//! header is what they say.
//! It does not promise that the body is a value; [`ClosedRecord::open`] finds out.
//! Read next: `store.rs`.

use std::fmt;
use std::ops::Range;

use super::{FORMAT, Header, Record, RecordError, check_parent, limits};
use crate::blob::Blob;
use crate::error::StoreError;
use crate::identity::{BlobHash, BranchName, RecordHash, RunId, Sequence};
use crate::packed::{self, Compound, PackedError, PackedFault, PackedLimits, Reader, Token};
use crate::parts::{Fetch, InParts, NamedParts};

/// A record whose body may be anything.
#[derive(Clone)]
pub struct ClosedRecord {
    pub(super) header: Header,
    pub(super) hash: RecordHash,
    pub(super) bytes: Vec<u8>,
    pub(super) body: Range<usize>,
    pub(super) large: Option<Box<LargeBody>>,
}

/// A body in parts.
#[derive(Clone, Debug)]
pub(super) struct LargeBody {
    pub(super) in_parts: InParts,
    /// The bytes of the whole, once they are known.
    pub(super) whole: Option<Vec<u8>>,
    /// The parts that the record adds, if it was made and not read.
    pub(super) added: Vec<Blob>,
}

impl ClosedRecord {
    /// Reads what comes before the body of a record whose name, and its parent's, are known; names
    /// that are those of a `relative` are shared with it.
    pub(crate) fn decode_named(
        hash: RecordHash,
        parent: Option<RecordHash>,
        bytes: Vec<u8>,
        relative: Option<&Header>,
    ) -> Result<Self, RecordError> {
        debug_assert_eq!(hash, super::name(&bytes, parent), "the caller knows the record's name");
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
        let large = LargeBody::read(&bytes[body.clone()]).map_err(|error| error.moved_by(body.start))?;
        Ok(Self {
            header,
            hash,
            bytes,
            body,
            large,
        })
    }

    /// Joins the parts of a large body, which `fetch` reads.
    ///
    /// # Errors
    /// As [`InParts::join`].
    pub fn join(mut self, fetch: Fetch<'_>) -> Result<Self, StoreError> {
        if let Some(large) = self.large.as_mut().filter(|large| large.whole.is_none()) {
            large.whole = Some(large.in_parts.join(fetch)?);
        }
        Ok(self)
    }

    /// Checks the body.
    ///
    /// # Errors
    /// [`RecordError::Packed`] if it is not one canonical value, [`RecordError::InParts`] if its
    /// parts were not joined.
    pub fn open(self) -> Result<Record, RecordError> {
        if self.is_in_parts() {
            return Err(RecordError::InParts);
        }
        match packed::check(self.body_bytes(), PackedLimits::default()) {
            Ok(()) => Ok(Record(self)),
            Err(error) => Err(error.moved_by(self.body.start).into()),
        }
    }

    /// Says whether the body is in parts that nobody has joined.
    pub fn is_in_parts(&self) -> bool {
        self.large.as_ref().is_some_and(|large| large.whole.is_none())
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

    /// Returns the bytes of the body; of a [`Record`], they are one canonical value. A large body
    /// that nobody has [joined](Self::join) is one in parts.
    pub fn body_bytes(&self) -> &[u8] {
        let whole = self.large.as_ref().and_then(|large| large.whole.as_deref());
        whole.unwrap_or(&self.bytes[self.body.clone()])
    }

    /// Returns what the writer of a body in parts says of it in few words; `None` if the body is
    /// whole.
    pub fn outline(&self) -> Option<&[String]> {
        self.large.as_ref().map(|large| &*large.in_parts.outline)
    }

    /// Names every blob the record refers to, the snapshot first. The parts of its body are among
    /// them that no record before it names.
    pub fn blobs(&self) -> impl Iterator<Item = BlobHash> {
        let snapshot = self.header.snapshot.iter();
        snapshot.chain(&self.header.blobs).copied().chain(self.parts())
    }

    /// Adds the parts that this record names to those that its chain names up to its parent.
    pub fn add_named_parts(&self, named: &mut NamedParts) {
        named.follow(self.hash, self.header.parent, self.blobs());
    }

    /// Names the parts of its body that no record before it names.
    pub fn parts(&self) -> impl Iterator<Item = BlobHash> {
        let parts = self.large.iter().flat_map(|large| &large.in_parts.added);
        parts.copied()
    }

    /// Returns the parts that the record adds, if this process has made it; a store takes them with
    /// the record.
    pub(crate) fn added_parts(&self) -> &[Blob] {
        self.large.as_ref().map_or(&[], |large| &large.added)
    }
}

/// Two records are the same if their bytes are and their parents'.
impl PartialEq for ClosedRecord {
    fn eq(&self, other: &Self) -> bool {
        (self.hash, self.header.parent) == (other.hash, other.header.parent) && self.bytes == other.bytes
    }
}

impl Eq for ClosedRecord {}

impl LargeBody {
    fn read(body: &[u8]) -> Result<Option<Box<Self>>, PackedError> {
        if !InParts::is_one(body) {
            return Ok(None);
        }
        Ok(Some(Box::new(Self {
            in_parts: InParts::read(body)?,
            whole: None,
            added: Vec::new(),
        })))
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
    let snapshot = read_snapshot_hash(reader)?.map(BlobHash);
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
        found => Err(RecordError::UnsupportedFormat {
            found,
            supported: FORMAT,
        }),
    }
}

fn read_snapshot_hash(reader: &mut Reader<'_>) -> Result<Option<[u8; 32]>, PackedError> {
    reader.expect("the snapshot's hash or #f", |token| {
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
