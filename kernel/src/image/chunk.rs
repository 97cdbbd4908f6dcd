//! One chunk: a shallow Preserves record, written and read field by field.
//!
//! INVARIANT: an error names the chunk. The reader accepts canonical bytes only, and values at most
//! as deep as the formats of chunks.
//! It does not know which fields there are. Read next: `image/names.rs`.

use duet_packed::{Compound, PackedError, PackedLimits, PackedWriter, Reader, Token};

use super::{Chunk, ChunkName, ImageError};

/// A chunk is a record of sequences of atoms; its length is the store's to limit.
const LIMITS: PackedLimits = PackedLimits {
    depth_max: 3,
    bytes_max: usize::MAX,
};

/// Writes a chunk: a record with this label.
pub(super) fn write_chunk(label: &str, fields: impl FnOnce(&mut PackedWriter)) -> Chunk {
    let mut out = PackedWriter::within(LIMITS);
    out.record(label, fields);
    Chunk::new(out.finish().expect("a chunk is shallow and has no sets"))
}

/// Reads one chunk.
#[derive(Clone, Debug)]
pub(super) struct ChunkReader<'a> {
    reader: Reader<'a>,
    chunk: ChunkName,
}

impl<'a> ChunkReader<'a> {
    /// A reader of a chunk whose bytes have been checked against its name.
    pub(super) fn new(chunk: &'a Chunk) -> Result<ChunkReader<'a>, ImageError> {
        let named = |error| ImageError::Packed {
            chunk: chunk.name,
            error,
        };
        Ok(ChunkReader {
            reader: Reader::new(&chunk.bytes, LIMITS).map_err(named)?,
            chunk: chunk.name,
        })
    }

    /// The chunk that is being read.
    pub(super) fn chunk(&self) -> ChunkName {
        self.chunk
    }

    fn named<T>(&self, read: Result<T, PackedError>) -> Result<T, ImageError> {
        read.map_err(|error| ImageError::Packed {
            chunk: self.chunk,
            error,
        })
    }

    /// Enters the record, which has one of these labels, and says which.
    pub(super) fn record(&mut self, labels: &[&'static str]) -> Result<&'static str, ImageError> {
        let entered = self.reader.open(Compound::Record, "a record");
        self.named(entered)?;
        let label = self.reader.expect("the label of a chunk", |token| {
            labels.iter().copied().find(|&label| token == Token::Symbol(label))
        });
        self.named(label)
    }

    /// Enters a sequence.
    pub(super) fn sequence(&mut self) -> Result<(), ImageError> {
        let entered = self.reader.open(Compound::Sequence, "a sequence");
        self.named(entered)
    }

    /// Whether the sequence or record ends here.
    pub(super) fn is_at_end(&self) -> bool {
        self.reader.is_at_end()
    }

    /// Leaves what was entered last.
    pub(super) fn end(&mut self) -> Result<(), ImageError> {
        let left = self.reader.end();
        self.named(left)
    }

    /// Leaves the record and checks that nothing follows.
    pub(super) fn finish(&mut self) -> Result<(), ImageError> {
        self.end()?;
        let finished = self.reader.finish();
        self.named(finished)
    }

    pub(super) fn symbol(&mut self) -> Result<&'a str, ImageError> {
        let read = self.reader.symbol("a symbol");
        self.named(read)
    }

    pub(super) fn bytes(&mut self) -> Result<&'a [u8], ImageError> {
        let read = self.reader.byte_string("a byte string");
        self.named(read)
    }

    /// Reads 32 bytes.
    pub(super) fn hash(&mut self) -> Result<[u8; 32], ImageError> {
        let read = self.reader.expect("a hash of 32 bytes", |token| {
            if let Token::ByteString(bytes) = token {
                bytes.try_into().ok()
            } else {
                None
            }
        });
        self.named(read)
    }

    /// Reads an integer 0 ≤ n < 2⁶³.
    pub(super) fn integer(&mut self) -> Result<u64, ImageError> {
        let read = self.reader.expect("an integer from 0 to 2^63", |token| {
            if let Token::Integer(bytes) = token {
                let is_small = bytes.len() <= 8 && bytes.first().is_none_or(|first| *first < 0x80);
                is_small.then(|| bytes.iter().fold(0, |number, &byte| number << 8 | u64::from(byte)))
            } else {
                None
            }
        });
        self.named(read)
    }
}
