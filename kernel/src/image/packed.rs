//! Just enough packed Preserves for chunks: records, sequences, byte strings, strings, symbols and small integers.
//!
//! INVARIANT: what is written is canonical; what is read is never deeper than the chunk formats, so nothing recurses.
//! It does not read annotations, embedded values or floats, which chunks do not contain. Read next: `image/code.rs`.
//!
//! Source: the Preserves specification, "Packed binary syntax".

use super::{Chunk, ChunkName, ImageError};

const END: u8 = 0x84;
const INTEGER: u8 = 0xb0;
const STRING: u8 = 0xb1;
const BYTES: u8 = 0xb2;
const SYMBOL: u8 = 0xb3;
const RECORD: u8 = 0xb4;
const SEQUENCE: u8 = 0xb5;

/// Writes one chunk.
#[derive(Debug, Default)]
pub(super) struct PackedWriter {
    bytes: Vec<u8>,
}

impl PackedWriter {
    /// Begins a record with this label.
    pub(super) fn record(&mut self, label: &str) {
        self.bytes.push(RECORD);
        self.symbol(label);
    }

    /// Begins a sequence.
    pub(super) fn sequence(&mut self) {
        self.bytes.push(SEQUENCE);
    }

    /// Ends what was begun last.
    pub(super) fn end(&mut self) {
        self.bytes.push(END);
    }

    pub(super) fn symbol(&mut self, name: &str) {
        self.atom(SYMBOL, name.as_bytes());
    }

    pub(super) fn string(&mut self, text: &str) {
        self.atom(STRING, text.as_bytes());
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.atom(BYTES, bytes);
    }

    /// Writes an integer; only `number` < 2⁶³ can be read back.
    pub(super) fn integer(&mut self, number: u64) {
        let bytes = number.to_be_bytes();
        let significant = (64 - number.leading_zeros() as usize + 8) / 8;
        if number == 0 {
            self.atom(INTEGER, &[]);
        } else if significant > bytes.len() {
            self.atom(INTEGER, &[&[0], &bytes[..]].concat());
        } else {
            self.atom(INTEGER, &bytes[bytes.len() - significant..]);
        }
    }

    /// Appends a value that is already packed.
    pub(super) fn packed(&mut self, value: &[u8]) {
        self.bytes.extend_from_slice(value);
    }

    /// The bytes written.
    pub(super) fn finish(self) -> Vec<u8> {
        self.bytes
    }

    fn atom(&mut self, tag: u8, content: &[u8]) {
        self.bytes.push(tag);
        put_varint(&mut self.bytes, content.len() as u64);
        self.bytes.extend_from_slice(content);
    }
}

/// Reads one chunk.
#[derive(Clone, Debug)]
pub(super) struct PackedReader<'a> {
    bytes: &'a [u8],
    position: usize,
    chunk: ChunkName,
}

impl<'a> PackedReader<'a> {
    /// A reader of a chunk whose bytes have been checked against its name.
    pub(super) fn new(chunk: &'a Chunk) -> PackedReader<'a> {
        PackedReader {
            bytes: &chunk.bytes,
            position: 0,
            chunk: chunk.name,
        }
    }

    /// The chunk that is being read.
    pub(super) fn chunk(&self) -> ChunkName {
        self.chunk
    }

    /// Enters a record with this label.
    pub(super) fn record(&mut self, label: &'static str) -> Result<(), ImageError> {
        self.tag(RECORD, "a record")?;
        let start = self.position;
        if self.atom(SYMBOL, "a record label")? == label.as_bytes() {
            Ok(())
        } else {
            Err(self.malformed(start, label))
        }
    }

    /// Enters a record with one of two labels, and says which.
    pub(super) fn either_record(&mut self, one: &'static str, other: &'static str) -> Result<&'static str, ImageError> {
        self.tag(RECORD, "a record")?;
        let start = self.position;
        let label = self.atom(SYMBOL, "a record label")?;
        let known = [one, other].into_iter().find(|known| known.as_bytes() == label);
        known.ok_or_else(|| self.malformed(start, one))
    }

    /// Enters a sequence.
    pub(super) fn sequence(&mut self) -> Result<(), ImageError> {
        self.tag(SEQUENCE, "a sequence")
    }

    /// Whether the sequence or record ends here.
    pub(super) fn is_at_end(&self) -> bool {
        self.bytes.get(self.position) == Some(&END)
    }

    /// Whether a record begins here.
    pub(super) fn is_at_record(&self) -> bool {
        self.bytes.get(self.position) == Some(&RECORD)
    }

    /// Leaves what was entered last.
    pub(super) fn end(&mut self) -> Result<(), ImageError> {
        self.tag(END, "an end")
    }

    /// Checks that nothing follows.
    pub(super) fn finish(&self) -> Result<(), ImageError> {
        if self.position == self.bytes.len() {
            Ok(())
        } else {
            Err(self.malformed(self.position, "nothing"))
        }
    }

    pub(super) fn symbol(&mut self) -> Result<&'a str, ImageError> {
        self.text(SYMBOL, "a symbol")
    }

    pub(super) fn string(&mut self) -> Result<&'a str, ImageError> {
        self.text(STRING, "a string")
    }

    pub(super) fn bytes(&mut self) -> Result<&'a [u8], ImageError> {
        self.atom(BYTES, "a byte string")
    }

    /// Reads 32 bytes.
    pub(super) fn hash(&mut self) -> Result<[u8; 32], ImageError> {
        let start = self.position;
        self.bytes()?
            .try_into()
            .map_err(|_| self.malformed(start, "a hash of 32 bytes"))
    }

    /// Reads an integer 0 ≤ n < 2⁶³.
    pub(super) fn integer(&mut self) -> Result<u64, ImageError> {
        let start = self.position;
        let bytes = self.atom(INTEGER, "an integer")?;
        if bytes.len() > 8 || bytes.first().is_some_and(|&first| first >= 0x80) {
            return Err(self.malformed(start, "an integer from 0 to 2^63"));
        }
        Ok(bytes.iter().fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }

    fn text(&mut self, tag: u8, expected: &'static str) -> Result<&'a str, ImageError> {
        let start = self.position;
        std::str::from_utf8(self.atom(tag, expected)?).map_err(|_| self.malformed(start, "text in UTF-8"))
    }

    fn atom(&mut self, tag: u8, expected: &'static str) -> Result<&'a [u8], ImageError> {
        self.tag(tag, expected)?;
        let start = self.position;
        let length = take_varint(self.bytes, &mut self.position).and_then(|length| usize::try_from(length).ok());
        let end = length.and_then(|length| self.position.checked_add(length));
        let content = end.and_then(|end| self.bytes.get(self.position..end));
        let content = content.ok_or_else(|| self.malformed(start, "a length within the chunk"))?;
        self.position += content.len();
        Ok(content)
    }

    fn tag(&mut self, tag: u8, expected: &'static str) -> Result<(), ImageError> {
        if self.bytes.get(self.position) != Some(&tag) {
            return Err(self.malformed(self.position, expected));
        }
        self.position += 1;
        Ok(())
    }

    fn malformed(&self, offset_bytes: usize, expected: &'static str) -> ImageError {
        ImageError::Malformed {
            chunk: self.chunk,
            offset_bytes,
            expected,
        }
    }
}

/// Writes a number seven bits at a time, least significant first.
pub(super) fn put_varint(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Reads what [`put_varint`] wrote and moves `position` past it; nothing if it is cut off, too large or has superfluous bytes.
pub(super) fn take_varint(bytes: &[u8], position: &mut usize) -> Option<u64> {
    let mut number = 0;
    for (place, &byte) in bytes.get(*position..)?.iter().enumerate().take(10) {
        let bits = u64::from(byte & 0x7f);
        if place == 9 && bits > 1 || place > 0 && byte == 0 {
            return None;
        }
        number |= bits << (7 * place);
        if byte < 0x80 {
            *position += place + 1;
            return Some(number);
        }
    }
    None
}
