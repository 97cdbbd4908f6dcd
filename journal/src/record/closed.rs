//! Records whose bodies nobody has looked into, and the reading of what comes before a body.
//!
//! Whoever takes a turn again compares the bytes that it comes to with those of the body; where they are the same, they need no other check.
//! INVARIANT: a [`ClosedRecord`]'s name is the hash of its bytes under that of its parent, and its header is what they say.
//! It does not promise that the body is a value; [`ClosedRecord::open`] finds out.
//! Read next: `store.rs`.

use std::fmt;
use std::ops::Range;

use super::{
    FORMAT, Header, NAMING_PARENT, NAMING_PARENT_BEGINS, NAMING_PARENT_LABEL, Record, RecordError, check_parent,
};
use crate::identity::{BlobHash, BranchName, RecordHash, RunId, Sequence};
use crate::packed::write::tag;
use crate::packed::{self, Compound, PackedError, Scanner, Token};

/// A record whose body may be anything.
#[derive(Clone, PartialEq, Eq)]
pub struct ClosedRecord {
    pub(super) header: Header,
    pub(super) hash: RecordHash,
    pub(super) bytes: Vec<u8>,
    pub(super) body: Range<usize>,
}

impl ClosedRecord {
    /// Reads what comes before the body of a record whose name, and its parent's, are known; names that are those of a `relative` are shared with it.
    pub(crate) fn decode_named(
        (hash, parent): (RecordHash, Option<RecordHash>),
        bytes: Vec<u8>,
        relative: Option<&Header>,
    ) -> Result<Self, RecordError> {
        let mut fields = Fields::of(&bytes)?;
        let header = fields.header(parent, relative)?;
        check_parent(&header)?;
        let body = fields.scanner.offset()..bytes.len() - 1;
        let unexpected = |expected, offset_bytes| Err(RecordError::Unexpected { expected, offset_bytes });
        if bytes[body.end] != tag::END {
            return unexpected("the end of the record", body.end);
        }
        if body.is_empty() {
            return unexpected("the body", body.start);
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
        match packed::check(self.body_bytes(), packed::MAX_DEPTH) {
            Ok(()) => Ok(Record(self)),
            Err(error) => Err(RecordError::Packed(PackedError {
                offset_bytes: self.body.start + error.offset_bytes,
                ..error
            })),
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

    /// Returns the parent's name if the bytes do not say it.
    pub(crate) fn unsaid_parent(&self) -> Option<RecordHash> {
        let is_said = self.bytes.starts_with(NAMING_PARENT_BEGINS);
        self.header.parent.filter(|_| !is_said)
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

/// The fields of a record's bytes, one after the other.
struct Fields<'a> {
    scanner: Scanner<'a>,
    /// Where the last token began.
    offset_bytes: usize,
}

impl<'a> Fields<'a> {
    fn of(bytes: &'a [u8]) -> Result<Self, RecordError> {
        Ok(Self {
            scanner: Scanner::new(bytes, packed::MAX_DEPTH + 1)?,
            offset_bytes: 0,
        })
    }

    /// Reads everything before the body of a record whose parent is `parent` unless it says another; what is as in the header of a `relative` is shared with it.
    fn header(&mut self, parent: Option<RecordHash>, relative: Option<&Header>) -> Result<Header, RecordError> {
        let format = self.format()?;
        let run = self.text("the run")?;
        let run = match relative.filter(|relative| relative.run.as_str() == run) {
            Some(relative) => relative.run.clone(),
            None => RunId::new(run)?,
        };
        let branch = self.text("the branch")?;
        let branch = match relative.filter(|relative| relative.branch.as_str() == branch) {
            Some(relative) => relative.branch.clone(),
            None => BranchName::new(branch)?,
        };
        let sequence = Sequence::new(self.unsigned("the sequence number")?)?;
        let parent = if format == NAMING_PARENT {
            self.hash("the parent's hash or #f")?.map(RecordHash)
        } else {
            parent
        };
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

    /// Reads where the record opens, and its format: the label, or in the oldest format the field after that.
    fn format(&mut self) -> Result<u64, RecordError> {
        self.expect("a record", |token| {
            (token == Token::Open(Compound::Record)).then_some(())
        })?;
        let label = self.expect("the label of a record", |token| {
            if let Token::Integer(bytes) = token {
                small(bytes).map(Some)
            } else {
                (token == Token::Symbol(NAMING_PARENT_LABEL)).then_some(None)
            }
        })?;
        let (format, known) = match label {
            Some(format) => (format, NAMING_PARENT + 1..=FORMAT),
            None => (self.unsigned("the format")?, NAMING_PARENT..=NAMING_PARENT),
        };
        if known.contains(&format) {
            Ok(format)
        } else {
            Err(RecordError::UnsupportedFormat { found: format })
        }
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
