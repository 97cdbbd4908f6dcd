//! One record: an envelope the journal understands around a body it does not.
//!
//! INVARIANT: a [`Record`] is its canonical bytes and its parent's name; header, hash and body
//! follow from them and never disagree.
//! It does not look inside the body; `record/closed.rs` has records whose bodies may not even be
//! values.
//! Read next: `record/closed.rs`, then `store.rs`.
//!
//! Source: `journal/FORMAT.md`, "Record".

mod closed;

pub use crate::error::RecordError;
pub use closed::ClosedRecord;

use std::fmt;
use std::ops::Deref;

use crate::blob::Blob;
use crate::identity::{BlobHash, BranchName, RecordHash, RunId, Sequence};
use crate::packed::{self, Compound, MAX_DEPTH, PackedLimits, PackedValue, PackedWriter, View};
use crate::parts::{InParts, NamedParts, cut};
use closed::LargeBody;

/// The format of records, which is their label.
pub const FORMAT: u64 = 1;

/// Names a record by its bytes and its parent.
pub(crate) fn name(bytes: &[u8], parent: Option<RecordHash>) -> RecordHash {
    match parent {
        Some(parent) => RecordHash::following(parent, bytes),
        None => RecordHash::of(bytes),
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
    /// Makes a record of its header and body, without knowing which parts of the body earlier ones
    /// name.
    ///
    /// # Errors
    /// As [`following`](Self::following).
    pub fn new(header: Header, body: PackedValue) -> Result<Self, RecordError> {
        Self::following(header, body, Vec::new, &mut NamedParts::default())
    }

    /// Makes the record that follows those whose parts are `named`. A large body is stored in
    /// parts, with its outline.
    ///
    /// # Errors
    /// [`RecordError::ParentAndSequence`], or [`Packed`](RecordError::Packed);
    /// [`RecordError::InParts`] if the body looks like one in parts.
    pub fn following(
        header: Header,
        body: PackedValue,
        outline: impl FnOnce() -> Vec<String>,
        named: &mut NamedParts,
    ) -> Result<Self, RecordError> {
        if InParts::is_one(body.as_bytes()) {
            return Err(RecordError::InParts);
        }
        named.stand_on(header.parent);
        let record = match cut(body.as_bytes(), named) {
            None => Self::with_body(header, &body)?,
            Some((mut in_parts, added)) => {
                in_parts.added = added.iter().map(Blob::hash).collect();
                in_parts.outline = outline();
                let mut record = Self::with_body(header, &in_parts.pack()?)?;
                let whole = Some(body.into_bytes());
                record.0.large = Some(Box::new(LargeBody { in_parts, whole, added }));
                record
            }
        };
        record.add_named_parts(named);
        Ok(record)
    }

    /// Makes a record with a body as it is stored.
    fn with_body(header: Header, body: &PackedValue) -> Result<Self, RecordError> {
        check_parent(&header)?;
        let room_bytes = ENVELOPE_BYTES + HASH_BYTES * header.blobs.len() + body.as_bytes().len();
        let mut out = PackedWriter::new(limits(), room_bytes);
        out.open(Compound::Record);
        write_header(&mut out, &header);
        let body_start = out.length_bytes();
        out.packed(body.view());
        let body = body_start..out.length_bytes();
        out.close(Compound::Record);
        let bytes = out.finish()?;
        Ok(Self(ClosedRecord {
            hash: name(&bytes, header.parent),
            header,
            bytes,
            body,
            large: None,
        }))
    }

    /// Reads a record from its bytes and the name of the record before it, which they do not say.
    ///
    /// # Errors
    /// [`RecordError`] if they are not canonical, not a record, or of another format;
    /// [`RecordError::InParts`] if the body is stored in parts.
    pub fn decode(bytes: Vec<u8>, parent: Option<RecordHash>) -> Result<Self, RecordError> {
        ClosedRecord::decode_named(name(&bytes, parent), parent, bytes, None)?.open()
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

/// Room for the fields of most headers: label, names, position, snapshot.
const ENVELOPE_BYTES: usize = 96;

/// A hash as a byte string.
const HASH_BYTES: usize = 34;

/// The limits of a whole record, whose body stands one level deep.
fn limits() -> PackedLimits {
    PackedLimits {
        depth_max: MAX_DEPTH + 1,
        ..PackedLimits::default()
    }
}

fn write_header(out: &mut PackedWriter, header: &Header) {
    out.unsigned(FORMAT);
    out.string(header.run.as_str());
    out.string(header.branch.as_str());
    out.unsigned(header.sequence.number());
    match &header.snapshot {
        Some(hash) => out.byte_string(hash.as_bytes()),
        None => out.boolean(false),
    }
    out.sequence(|out| header.blobs.iter().for_each(|blob| out.byte_string(blob.as_bytes())));
}

#[cfg(test)]
mod tests;
