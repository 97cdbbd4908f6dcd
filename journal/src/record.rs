//! One record: an envelope the journal understands around a body it does not.
//!
//! INVARIANT: a [`Record`] is its canonical bytes; header, hash and body are read from them and never disagree.
//! It does not look inside the body.
//! Read next: `store.rs`.
//!
//! Source: `journal/FORMAT.md`, "Record".

use std::fmt;
use std::ops::Range;

use crate::identity::{BlobHash, BranchName, IdentityError, RecordHash, RunId, Sequence};
use crate::packed::write::{atom, open_record, tag, unsigned};
use crate::packed::{self, Compound, MAX_VALUE_BYTES, PackedError, PackedFault, PackedValue, Scanner, Token, View};

/// The version of the record format that this code writes, and the only one it reads.
pub const FORMAT: u64 = 1;

const LABEL: &str = "record";

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
pub struct Record {
    header: Header,
    hash: RecordHash,
    bytes: Vec<u8>,
    body: Range<usize>,
}

impl Record {
    /// Makes a record of its parts.
    ///
    /// # Errors
    /// [`RecordError::ParentAndSequence`], or [`PackedFault::TooLarge`].
    pub fn new(header: Header, body: &PackedValue) -> Result<Self, RecordError> {
        check_parent(&header)?;
        let mut bytes = Vec::with_capacity(body.as_bytes().len() + 256);
        encode_header(&mut bytes, &header);
        let start = bytes.len();
        bytes.extend_from_slice(body.as_bytes());
        let body = start..bytes.len();
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
        Ok(Self {
            header,
            hash: RecordHash::of(&bytes),
            bytes,
            body,
        })
    }

    /// Reads a record from its bytes.
    ///
    /// # Errors
    /// [`RecordError`] if they are not canonical, not a record, or of another format.
    pub fn decode(bytes: Vec<u8>) -> Result<Self, RecordError> {
        let hash = RecordHash::of(&bytes);
        Self::decode_named(hash, bytes)
    }

    /// Reads a record from its bytes, whose hash is known.
    pub(crate) fn decode_named(hash: RecordHash, bytes: Vec<u8>) -> Result<Self, RecordError> {
        let mut fields = Fields {
            scanner: Scanner::new(&bytes, packed::MAX_DEPTH + 1)?,
            offset_bytes: 0,
        };
        let header = fields.header()?;
        let body = fields.skip_value()?;
        fields.expect("the end of the record", |token| {
            (token == Token::Close(Compound::Record)).then_some(())
        })?;
        fields.scanner.next()?;
        check_parent(&header)?;
        Ok(Self {
            header,
            hash,
            bytes,
            body,
        })
    }

    /// Returns the record's name.
    pub fn hash(&self) -> RecordHash {
        self.hash
    }

    /// Returns what the journal knows of it.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Returns the canonical bytes of the whole record.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the canonical packed bytes of the body.
    pub fn body_bytes(&self) -> &[u8] {
        &self.bytes[self.body.clone()]
    }

    /// Looks into the body without decoding it.
    pub fn body_view(&self) -> View<'_> {
        View::checked(self.body_bytes())
    }

    /// Decodes the body.
    pub fn body(&self) -> preserves::IOValue {
        packed::read_value(self.body_bytes()).expect("the body was checked when the record was made")
    }

    /// Names every blob the record refers to, the snapshot first.
    pub fn blobs(&self) -> impl Iterator<Item = BlobHash> {
        self.header.snapshot.iter().chain(&self.header.blobs).copied()
    }
}

impl fmt::Debug for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut record = f.debug_struct("Record");
        record
            .field("hash", &self.hash)
            .field("header", &self.header)
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
    open_record(out, LABEL);
    unsigned(out, FORMAT);
    atom(out, tag::STRING, header.run.as_str().as_bytes());
    atom(out, tag::STRING, header.branch.as_str().as_bytes());
    unsigned(out, header.sequence.number());
    encode_hash(out, header.parent.as_ref().map(RecordHash::as_bytes));
    encode_hash(out, header.snapshot.as_ref().map(BlobHash::as_bytes));
    out.push(tag::SEQUENCE);
    header
        .blobs
        .iter()
        .for_each(|blob| atom(out, tag::BYTE_STRING, blob.as_bytes()));
    out.push(tag::END);
}

fn encode_hash(out: &mut Vec<u8>, hash: Option<&[u8; 32]>) {
    match hash {
        Some(hash) => atom(out, tag::BYTE_STRING, hash),
        None => out.push(tag::FALSE),
    }
}

struct Fields<'a> {
    scanner: Scanner<'a>,
    /// Where the last token began.
    offset_bytes: usize,
}

impl<'a> Fields<'a> {
    fn header(&mut self) -> Result<Header, RecordError> {
        self.expect("a record", |token| {
            (token == Token::Open(Compound::Record)).then_some(())
        })?;
        self.expect("the label `record`", |token| {
            (token == Token::Symbol(LABEL)).then_some(())
        })?;
        let format = self.unsigned("the format version")?;
        if format != FORMAT {
            return Err(RecordError::UnsupportedFormat { found: format });
        }
        let run = RunId::new(self.text("the run")?)?;
        let branch = BranchName::new(self.text("the branch")?)?;
        let sequence = Sequence::new(self.unsigned("the sequence number")?)?;
        let parent = self.hash("the parent's hash or #f")?.map(RecordHash);
        let snapshot = self.hash("the snapshot's hash or #f")?.map(BlobHash);
        self.expect("the blobs", |token| {
            (token == Token::Open(Compound::Sequence)).then_some(())
        })?;
        let blob = |token| match bytes32(token) {
            Some(hash) => Some(Some(BlobHash(hash))),
            None => matches!(token, Token::Close(_)).then_some(None),
        };
        let mut blobs = Vec::new();
        while let Some(hash) = self.expect("a blob's hash", blob)? {
            blobs.push(hash);
        }
        Ok(Header {
            run,
            branch,
            sequence,
            parent,
            snapshot,
            blobs,
        })
    }

    fn expect<T>(
        &mut self,
        expected: &'static str,
        matches: impl FnOnce(Token<'a>) -> Option<T>,
    ) -> Result<T, RecordError> {
        self.offset_bytes = self.scanner.offset();
        let unexpected = RecordError::Unexpected {
            expected,
            offset_bytes: self.offset_bytes,
        };
        self.scanner.next()?.and_then(matches).ok_or(unexpected)
    }

    fn text(&mut self, expected: &'static str) -> Result<&'a str, RecordError> {
        self.expect(expected, |token| {
            if let Token::String(text) = token {
                Some(text)
            } else {
                None
            }
        })
    }

    fn unsigned(&mut self, expected: &'static str) -> Result<u64, RecordError> {
        self.expect(expected, |token| {
            if let Token::Integer(bytes) = token {
                small(bytes)
            } else {
                None
            }
        })
    }

    fn hash(&mut self, expected: &'static str) -> Result<Option<[u8; 32]>, RecordError> {
        let is_absent = |token| matches!(token, Token::Boolean(false));
        self.expect(expected, |token| {
            if is_absent(token) {
                Some(None)
            } else {
                bytes32(token).map(Some)
            }
        })
    }

    fn skip_value(&mut self) -> Result<Range<usize>, RecordError> {
        let start = self.scanner.offset();
        let outside = self.scanner.depth();
        self.expect("the body", |token| {
            (token != Token::Close(Compound::Record)).then_some(())
        })?;
        while self.scanner.depth() > outside {
            self.scanner.next()?;
        }
        Ok(start..self.scanner.offset())
    }
}

fn bytes32(token: Token<'_>) -> Option<[u8; 32]> {
    if let Token::ByteString(bytes) = token {
        bytes.try_into().ok()
    } else {
        None
    }
}

/// Reads a non-negative integer below 2⁶⁴ from its two's complement.
fn small(bytes: &[u8]) -> Option<u64> {
    let magnitude = match bytes {
        [first, ..] if first & 0x80 != 0 => return None,
        [0, rest @ ..] => rest,
        rest => rest,
    };
    (magnitude.len() <= 8).then(|| magnitude.iter().fold(0, |number, &byte| number << 8 | u64::from(byte)))
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
            Self::UnsupportedFormat { found } => write!(f, "record format {found}, this program reads format {FORMAT}"),
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
