//! The byte code of words inside chunks.
//!
//! A word is a tag in the low three bits of its first byte and a number that begins in the four
//! bits above and goes on, if bit 7 is set, as a varint. So small integers, characters of
//! constants, and references to what is near take one byte.
//!
//! | tag | number | then |
//! |---|---|---|
//! | 0 fixnum | zigzag | |
//! | 1 reference | as the format says | |
//! | 2 constant | its payload | |
//! | 3 character | scalar value | |
//! | 4 flonum | 0, or one more than the zigzag of an integral value | if 0, eight bytes, little endian |
//! | 5 primitive | place in the name table | |
//! | 6 entry | place of the unit in the name table | offset, a varint |
//! | 7 return | the same | offset and distance, varints |
//!
//! Two bytes that would be constants beyond all there are mean something else where words follow
//! each other: [`REPEATED`] that the word before comes so many more times, a varint; [`HEADER`] an
//! object's header: kind, flags if there are any, and length.
//!
//! INVARIANT: every word has one code.
//! It does not know what references mean or how objects are framed. Read next: `image/columns.rs`.

use duet_packed::varint;

use super::names::{NamesReader, NamesWriter};
use super::{ChunkName, ImageError};
use crate::heap::{Flags, Header, Kind};
use crate::value::{Immediate, Value};

const FIXNUM: u8 = 0;
const REFERENCE: u8 = 1;
const CONSTANT: u8 = 2;
const CHARACTER: u8 = 3;
const FLONUM: u8 = 4;
const PRIMITIVE: u8 = 5;
const ENTRY: u8 = 6;
const RETURN: u8 = 7;

/// The kind code of a pair.
pub(super) const PAIR: u8 = 0;
/// Set in a kind code when flags follow.
pub(super) const FLAGGED: u8 = 0x20;

/// Stands before how many more times the word before comes.
pub(super) const REPEATED: u8 = CONSTANT | 15 << 3;
/// Stands before an object's header.
pub(super) const HEADER: u8 = CONSTANT | 14 << 3;

/// Integral flonums below this magnitude are written as integers.
const INTEGRAL_MAX: f64 = (1u64 << 48) as f64;

/// Code under construction.
#[derive(Debug, Default)]
pub(super) struct CodeWriter {
    bytes: Vec<u8>,
}

impl CodeWriter {
    pub(super) fn byte(&mut self, byte: u8) {
        self.bytes.push(byte);
    }

    pub(super) fn varint(&mut self, number: u64) {
        varint::put(&mut self.bytes, number);
    }

    pub(super) fn raw(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Writes the header of an object: kind, flags if there are any, and length.
    pub(super) fn header(&mut self, header: Header) {
        if header.flags == Flags::NONE {
            self.byte(header.kind.code());
        } else {
            self.byte(header.kind.code() | FLAGGED);
            self.varint(header.flags.bits().into());
        }
        self.varint(header.length.into());
    }

    /// Writes a reference.
    pub(super) fn reference(&mut self, number: u64) {
        self.tagged(REFERENCE, number);
    }

    /// Writes a word that is no reference.
    pub(super) fn word(&mut self, word: Value, names: &mut NamesWriter<'_>) -> Result<(), ImageError> {
        if let Some(integer) = word.as_fixnum() {
            self.tagged(FIXNUM, zigzag(integer));
        } else if let Some(number) = word.as_flonum() {
            self.flonum(number);
        } else if word.is_immediate(Immediate::Character) {
            self.tagged(CHARACTER, word.payload().into());
        } else if word.is_immediate(Immediate::Primitive) {
            let place = names.primitive(word.payload());
            self.tagged(PRIMITIVE, place);
        } else if word.is_immediate(Immediate::Code) {
            let (place, offset) = names.point(word)?;
            self.tagged(ENTRY, place);
            self.varint(offset.into());
        } else if word.is_immediate(Immediate::Return) {
            let (place, offset) = names.point(word)?;
            self.tagged(RETURN, place);
            self.varint(offset.into());
            self.varint(word.detail().into());
        } else {
            debug_assert!(word.is_immediate(Immediate::Constant));
            self.tagged(CONSTANT, word.payload().into());
        }
        Ok(())
    }

    pub(super) fn finish(self) -> Vec<u8> {
        self.bytes
    }

    fn flonum(&mut self, number: f64) {
        if is_integral(number) {
            self.tagged(FLONUM, zigzag(number as i64) + 1);
        } else {
            self.tagged(FLONUM, 0);
            self.raw(&number.to_bits().to_le_bytes());
        }
    }

    fn tagged(&mut self, tag: u8, number: u64) {
        let low = tag | (number as u8 & 0xf) << 3;
        if number < 16 {
            self.bytes.push(low);
        } else {
            self.bytes.push(low | 0x80);
            varint::put(&mut self.bytes, number >> 4);
        }
    }
}

/// A word as it is read.
#[derive(Clone, Copy, Debug)]
pub(super) enum Decoded {
    /// A word that means the same in every heap.
    Word(Value),
    /// The number of a reference.
    Reference(u64),
}

/// Code being read.
#[derive(Clone, Debug)]
pub(super) struct CodeReader<'a> {
    bytes: &'a [u8],
    position: usize,
    chunk: ChunkName,
}

impl<'a> CodeReader<'a> {
    /// A reader of code that stands in `chunk`.
    pub(super) fn new(bytes: &'a [u8], chunk: ChunkName) -> CodeReader<'a> {
        CodeReader {
            bytes,
            position: 0,
            chunk,
        }
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.position == self.bytes.len()
    }

    #[inline]
    pub(super) fn byte(&mut self) -> Result<u8, ImageError> {
        match self.bytes.get(self.position) {
            Some(&byte) => {
                self.position += 1;
                Ok(byte)
            }
            None => Err(self.malformed("more bytes")),
        }
    }

    #[inline]
    pub(super) fn varint(&mut self) -> Result<u64, ImageError> {
        if let Some(&byte) = self.bytes.get(self.position).filter(|byte| **byte < 0x80) {
            self.position += 1;
            return Ok(byte.into());
        }
        match varint::take(self.bytes, &mut self.position) {
            Some(number) => Ok(number),
            None => Err(self.malformed("a number")),
        }
    }

    /// Reads a count of things of which each takes at least `bytes_each` bytes of the code that is
    /// left.
    pub(super) fn count(&mut self, bytes_each: usize) -> Result<usize, ImageError> {
        let number = self.varint()?;
        let most = (self.bytes.len() - self.position) / bytes_each;
        usize::try_from(number)
            .ok()
            .filter(|&count| count <= most)
            .ok_or_else(|| self.malformed("a count within the code"))
    }

    pub(super) fn raw(&mut self, length: usize) -> Result<&'a [u8], ImageError> {
        let end = self.position.checked_add(length);
        let bytes = end
            .and_then(|end| self.bytes.get(self.position..end))
            .ok_or_else(|| self.malformed("more bytes"))?;
        self.position += length;
        Ok(bytes)
    }

    /// Reads the next `length` bytes, at most eight, as the low bytes of a number; its other bytes
    /// are those that follow, and zeros beyond the last one. The reader may pass the end, so the
    /// caller must ask [`is_at_end`](Self::is_at_end) when it has read all.
    pub(super) fn take(&mut self, length: u8) -> u64 {
        let window = self.bytes.get(self.position..).and_then(<[u8]>::first_chunk);
        let number = match window {
            Some(window) => u64::from_le_bytes(*window),
            None => self.last_bytes(),
        };
        self.position += usize::from(length);
        number
    }

    /// Returns the bytes that have not been read.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.position..).unwrap_or(&[])
    }

    /// Passes over bytes.
    pub(super) fn pass(&mut self, length: usize) {
        self.position += length;
    }

    /// Returns the bytes that have not been read, fewer than eight, as a number.
    #[cold]
    fn last_bytes(&self) -> u64 {
        self.rest()
            .iter()
            .rev()
            .fold(0, |number, byte| number << 8 | u64::from(*byte))
    }

    /// Reads the header of an object other than a pair.
    #[inline]
    pub(super) fn header(&mut self) -> Result<Header, ImageError> {
        let first = self.byte()?;
        let kind = Kind::from_code(first & !FLAGGED).ok_or_else(|| self.malformed("a kind of object"))?;
        let flags = if first & FLAGGED == 0 {
            Ok(0)
        } else {
            u16::try_from(self.varint()?)
        };
        let length = u32::try_from(self.varint()?);
        let (Ok(flags), Ok(length)) = (flags, length) else {
            return Err(self.malformed("flags and length"));
        };
        Ok(Header {
            kind,
            flags: Flags::from_bits(flags),
            length,
        })
    }

    /// Passes over `byte` and says so, if it comes next.
    #[inline]
    pub(super) fn passes(&mut self, byte: u8) -> bool {
        let comes = self.bytes.get(self.position) == Some(&byte);
        self.position += usize::from(comes);
        comes
    }

    #[inline(always)]
    pub(super) fn word(&mut self, names: &NamesReader<'_>) -> Result<Decoded, ImageError> {
        let (tag, number) = self.tagged()?;
        if tag == REFERENCE {
            return Ok(Decoded::Reference(number));
        }
        let fixnum = if tag == FIXNUM {
            Value::fixnum(unzigzag(number))
        } else {
            None
        };
        match fixnum {
            Some(word) => Ok(Decoded::Word(word)),
            None => self.other_word(tag, number, names).map(Decoded::Word),
        }
    }

    /// Reads a tag and its number.
    #[inline(always)]
    fn tagged(&mut self) -> Result<(u8, u64), ImageError> {
        let window = self.bytes.get(self.position..).and_then(<[u8]>::first_chunk);
        let Some(window) = window.copied().map(u64::from_le_bytes) else {
            return self.tagged_slowly();
        };
        let (tag, low) = (window as u8 & 7, window >> 3 & 0xf);
        if window & 0x80 == 0 {
            self.position += 1;
            return Ok((tag, low));
        }
        let second = window >> 8 & 0xff;
        if second.wrapping_sub(1) < 0x7f {
            self.position += 2;
            return Ok((tag, low | second << 4));
        }
        let ends = !window & 0x8080_8080_8080_8000;
        if ends == 0 {
            return self.tagged_slowly();
        }
        // Where the number's last seven bits end.
        let end = ends.trailing_zeros();
        let high = window & ((1 << end) - 1);
        if high >> (end - 7) == 0 {
            return self.tagged_slowly();
        }
        self.position += (end / 8 + 1) as usize;
        Ok((tag, low | septets(high >> 8) << 4))
    }

    /// The same where a number is long, ends the code, or is malformed.
    #[cold]
    fn tagged_slowly(&mut self) -> Result<(u8, u64), ImageError> {
        let first = self.byte()?;
        let low = u64::from(first >> 3 & 0xf);
        if first & 0x80 == 0 {
            return Ok((first & 7, low));
        }
        let high = self.varint()?;
        if high == 0 || high >> 60 != 0 {
            return Err(self.malformed("a number in its shortest form"));
        }
        Ok((first & 7, low | high << 4))
    }

    /// Makes the word of a tag and its number, if it is not one of the commonest.
    #[inline(never)]
    fn other_word(&mut self, tag: u8, number: u64, names: &NamesReader<'_>) -> Result<Value, ImageError> {
        let word = match tag {
            FIXNUM => None,
            CONSTANT => Value::constant(number),
            CHARACTER => u32::try_from(number)
                .ok()
                .and_then(char::from_u32)
                .map(Value::character),
            FLONUM => self.flonum(number)?,
            PRIMITIVE => names.primitive(number),
            ENTRY => names.entry(number, self.varint()?).transpose()?,
            _ => {
                let offset = self.varint()?;
                names.returning(number, offset, self.varint()?).transpose()?
            }
        };
        word.ok_or_else(|| self.malformed("a word"))
    }

    #[cold]
    pub(super) fn malformed(&self, expected: &'static str) -> ImageError {
        ImageError::Malformed {
            chunk: self.chunk,
            offset_bytes: self.position,
            expected,
        }
    }

    fn flonum(&mut self, number: u64) -> Result<Option<Value>, ImageError> {
        if let Some(integer) = number.checked_sub(1) {
            return Ok(Value::flonum(unzigzag(integer) as f64));
        }
        let mut bytes = [0; 8];
        bytes.copy_from_slice(self.raw(8)?);
        Ok(Value::flonum(f64::from_bits(u64::from_le_bytes(bytes))))
    }
}

/// Whether a flonum is written as an integer.
pub(super) fn is_integral(number: f64) -> bool {
    number.abs() < INTEGRAL_MAX && number == number.trunc() && !is_negative_zero(number)
}

fn is_negative_zero(number: f64) -> bool {
    number.to_bits() == (-0.0f64).to_bits()
}

/// Puts the low seven bits of each byte together, the least significant first; the others do not
/// count.
const fn septets(bytes: u64) -> u64 {
    let pairs = bytes & 0x007f_007f_007f_007f | (bytes & 0x7f00_7f00_7f00_7f00) >> 1;
    let fours = pairs & 0x0000_3fff_0000_3fff | (pairs & 0x3fff_0000_3fff_0000) >> 2;
    fours & 0x0fff_ffff | (fours & 0x0fff_ffff_0000_0000) >> 4
}

/// Numbers of small magnitude, of either sign, as small numbers.
pub(super) fn zigzag(integer: i64) -> u64 {
    (integer << 1 ^ integer >> 63) as u64
}

/// The inverse of [`zigzag`].
pub(super) fn unzigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn tagged_numbers_are_read_alike_wherever_the_code_ends(
            number in any::<u64>(),
            shift in 0u32..64,
            tag in 0u8..8,
            after in 0usize..12,
        ) {
            let number = number >> shift;
            let mut writer = CodeWriter::default();
            writer.tagged(tag, number);
            let length = writer.bytes.len();
            writer.raw(&vec![0xff; after]);
            let bytes = writer.finish();
            let mut reader = CodeReader::new(&bytes, ChunkName([0; 32]));
            prop_assert_eq!(reader.tagged(), Ok((tag, number)));
            prop_assert_eq!(reader.position, length);
        }

        #[test]
        fn any_bytes_are_read_as_by_the_slow_way(
            bytes in prop::collection::vec(prop_oneof![any::<u8>(), Just(0x80), Just(0xff), Just(0)], 0..14),
        ) {
            let mut fast = CodeReader::new(&bytes, ChunkName([0; 32]));
            let mut slow = fast.clone();
            let expected = slow.tagged_slowly();
            prop_assert_eq!(fast.tagged(), expected.clone());
            if expected.is_ok() {
                prop_assert_eq!(fast.position, slow.position);
            }
        }
    }
}
