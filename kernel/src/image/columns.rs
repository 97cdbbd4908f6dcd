//! The encoding of a range of a heap's words in two columns, which is read fast: of what kind each
//! word is, and its bytes.
//!
//! The first column has four bits for each word, the low ones of a byte first, and if their number
//! is odd four zeros more:
//!
//! | kind | what | bytes in the second column, least significant first |
//! |---|---|---|
//! | 0 1 2 3 | a fixnum, zigzag | 1, 2, 4, 8 |
//! | 4 | a constant, its payload | 1 |
//! | 5 6 7 8 | a reference: the zigzag of the distance to the object's index, halved, from the word's own, times four, plus 0 for a pair, 1 for a procedure, 2 for another object | 1, 2, 3, 5 |
//! | 9 | a flonum that is not integral | 8 |
//! | 10 | a header without flags: kind, length | 1 and 1 |
//! | 11 | something else, as `image/code.rs` says: a word; a header; that the word before, no reference, comes so many more times | |
//! | 12 13 14 15 | bytes of an object that consists of bytes | 2, 4, 6, 8 |
//!
//! (One column, in which a word's first byte says kind and length, takes a third longer to read;
//! words as they stand in the heap would be twice as long.)
//! INVARIANT: the same words have the same columns; whatever the bytes, the reader returns only
//! values that a heap may hold.
//! It does not know where objects begin; the writer says it, and `image/restore/check.rs` finds it
//! again.
//! Read next: `image/snapshot.rs`.

use super::ImageError;
use super::code::{CodeReader, CodeWriter, Decoded, HEADER, REPEATED, is_integral, unzigzag, zigzag};
use super::names::{NamesReader, NamesWriter};
use super::restore::Raw;
use crate::heap::{Flags, Header, Kind};
use crate::value::{Immediate, Value};

const FIXNUM: u8 = 0;
/// A fixnum of more than 32 bits.
const FIXNUM_LONG: u8 = 3;
const CONSTANT: u8 = 4;
const REFERENCE: u8 = 5;
const FLONUM: u8 = 9;
const SHORT_HEADER: u8 = 10;
const OTHER: u8 = 11;
const RAW: u8 = 12;

/// How many bytes a word of each kind has in the second column; those of kind 11 say their own
/// number.
const LENGTHS: [u8; 16] = [1, 2, 4, 8, 1, 1, 2, 3, 5, 8, 2, 0, 2, 4, 6, 8];

/// The minimum number of repetitions that are counted.
const REPEATED_MIN: usize = 3;

/// The low `length` bytes.
const fn mask(length: u8) -> u64 {
    if length == 0 {
        0
    } else {
        u64::MAX >> (64 - 8 * length as u32)
    }
}

/// The masks of [`LENGTHS`].
const MASKS: [u64; 16] = {
    let mut masks = [0; 16];
    let mut kind = 0;
    while kind < 16 {
        masks[kind] = mask(LENGTHS[kind]);
        kind += 1;
    }
    masks
};

/// Columns under construction.
#[derive(Default)]
pub(super) struct ColumnsWriter {
    kinds: Vec<u8>,
    bytes: CodeWriter,
    /// Whether the last byte of kinds has room for one more.
    is_odd: bool,
}

impl ColumnsWriter {
    /// Writes words that begin at `place` and are values, or bytes where `is_raw` says so.
    pub(super) fn words(
        &mut self,
        place: usize,
        words: &[u64],
        is_raw: bool,
        names: &mut NamesWriter<'_>,
    ) -> Result<(), ImageError> {
        let mut index = 0;
        while let Some(&word) = words.get(index) {
            let value = Value::from_bits(word);
            if is_raw {
                self.shortest(RAW, word);
            } else {
                self.word(place + index, value, names)?;
            }
            index += 1;
            if !is_raw && value.is_reference() {
                // A reference is written relative to its place, so equal references differ.
                continue;
            }
            let repeated = words[index..].iter().take_while(|next| **next == word).count();
            if repeated >= REPEATED_MIN {
                self.kind(OTHER);
                self.bytes.byte(REPEATED);
                self.bytes.varint(repeated as u64);
                index += repeated;
            }
        }
        Ok(())
    }

    /// Writes the header of an object.
    pub(super) fn header(&mut self, header: Header) {
        if header.flags == Flags::NONE && header.length < 0x100 {
            self.number(
                SHORT_HEADER,
                u64::from(header.kind.code()) | u64::from(header.length) << 8,
            );
        } else {
            self.kind(OTHER);
            self.bytes.byte(HEADER);
            self.bytes.header(header);
        }
    }

    /// Returns both columns.
    pub(super) fn finish(self) -> (Vec<u8>, Vec<u8>) {
        (self.kinds, self.bytes.finish())
    }

    fn word(&mut self, place: usize, word: Value, names: &mut NamesWriter<'_>) -> Result<(), ImageError> {
        if let Some(integer) = word.as_fixnum() {
            self.shortest(FIXNUM, zigzag(integer));
        } else if word.is_reference() {
            let class = class_of(word);
            let distance = (word.index() / 2) as i64 - (place / 2) as i64;
            self.shortest(REFERENCE, zigzag(distance) << 2 | class);
        } else if word.is_immediate(Immediate::Constant) {
            self.number(CONSTANT, word.payload().into());
        } else if let Some(number) = word.as_flonum().filter(|number| !is_integral(*number)) {
            self.number(FLONUM, number.to_bits());
        } else {
            self.kind(OTHER);
            self.bytes.word(word, names)?;
        }
        Ok(())
    }

    /// Writes a number as the first of the four kinds from `first` on that has room for it.
    fn shortest(&mut self, first: u8, number: u64) {
        let longer = (first..first + 3).take_while(|kind| number & !MASKS[usize::from(*kind)] != 0);
        self.number(first + longer.count() as u8, number);
    }

    fn number(&mut self, kind: u8, number: u64) {
        self.kind(kind);
        let length = LENGTHS[usize::from(kind)].into();
        self.bytes.raw(&number.to_le_bytes()[..length]);
    }

    fn kind(&mut self, kind: u8) {
        match self.kinds.last_mut() {
            Some(last) if self.is_odd => *last |= kind << 4,
            _ => self.kinds.push(kind),
        }
        self.is_odd = !self.is_odd;
    }
}

/// The words of a heap under restoration so far, and which of them were written as bytes.
pub(super) struct RestoredWords<'a> {
    pub(super) words: &'a mut Vec<u64>,
    pub(super) raw: &'a mut Raw,
    /// How many words the heap will have.
    pub(super) length: usize,
}

impl RestoredWords<'_> {
    fn put(&mut self, word: Value, is_raw: bool) {
        let place = self.words.len();
        self.words.push(word.to_bits());
        if is_raw {
            self.raw.set(place..place + 1);
        }
    }

    /// Puts the last word once more into the next `count` words, unless it is a reference.
    fn repeat(&mut self, count: usize) -> Option<()> {
        let (place, &before) = (self.words.len(), self.words.last()?);
        if self.raw.has(place - 1) {
            self.raw.set(place..place + count);
        } else if Value::from_bits(before).is_reference() {
            return None;
        }
        self.words.resize(place + count, before);
        Some(())
    }
}

/// Columns being read.
pub(super) struct ColumnsReader<'a> {
    kinds: &'a [u8],
    /// How many kinds have been read.
    read: usize,
    bytes: CodeReader<'a>,
}

impl<'a> ColumnsReader<'a> {
    pub(super) fn new(kinds: &'a [u8], bytes: CodeReader<'a>) -> Self {
        Self { kinds, read: 0, bytes }
    }

    /// Puts the words behind those that are there, up to `end`; the columns must end with them.
    pub(super) fn read(
        mut self,
        restored: &mut RestoredWords<'_>,
        end: usize,
        names: &NamesReader<'_>,
    ) -> Result<(), ImageError> {
        let start = restored.words.len();
        while restored.words.len() < end {
            self.plain(restored, end);
            let place = restored.words.len();
            if place < end {
                let room = if place > start { end - place } else { 0 };
                self.next(restored, room, names)?;
            }
        }
        let is_padded = self.kind(0).is_none_or(|rest| self.read % 2 == 1 && rest == 0);
        if self.kinds.len() == self.read.div_ceil(2) && is_padded && self.bytes.is_at_end() {
            Ok(())
        } else {
            Err(self.bytes.malformed("the end of the range"))
        }
    }

    /// The kind of the word that comes after `more` others.
    #[inline(always)]
    fn kind(&self, more: usize) -> Option<u8> {
        let place = self.read + more;
        Some(self.kinds.get(place / 2)? >> (place % 2 * 4) & 0xf)
    }

    /// Reads words up to `end` two at a time, one byte of kinds for both, while kinds and numbers
    /// say all and sixteen bytes are left.
    #[inline(never)]
    fn plain(&mut self, restored: &mut RestoredWords<'_>, end: usize) {
        if self.read % 2 == 1 {
            return;
        }
        let halves = restored.length.div_ceil(2);
        let kinds = self.kinds.get(self.read / 2..).unwrap_or_default();
        let all = self.bytes.rest();
        let mut bytes = all;
        let mut words = std::mem::take(restored.words);
        let start = words.len();
        for kinds in kinds.iter().take((end - start) / 2) {
            let (first_kind, second_kind) = (kinds & 0xf, kinds >> 4);
            let Some(window) = bytes.first_chunk().map(|window| u128::from_le_bytes(*window)) else {
                break;
            };
            let place = words.len();
            let first_length = LENGTHS[usize::from(first_kind)];
            let first = plain(first_kind, window as u64, place, halves);
            let second = plain(second_kind, (window >> (8 * first_length)) as u64, place + 1, halves);
            let (Some(first), Some(second)) = (first, second) else {
                break;
            };
            words.extend_from_slice(&[first.to_bits(), second.to_bits()]);
            if first_kind >= RAW {
                restored.raw.set(place..place + 1);
            }
            if second_kind >= RAW {
                restored.raw.set(place + 1..place + 2);
            }
            bytes = &bytes[usize::from(first_length + LENGTHS[usize::from(second_kind)])..];
        }
        self.read += words.len() - start;
        self.bytes.pass(all.len() - bytes.len());
        *restored.words = words;
    }

    /// Reads the next word of any kind, or a count of repetitions of the word before, at most
    /// `room`.
    fn next(
        &mut self,
        restored: &mut RestoredWords<'_>,
        room: usize,
        names: &NamesReader<'_>,
    ) -> Result<(), ImageError> {
        let kind = self.kind(0).ok_or_else(|| self.bytes.malformed("more words"))?;
        self.read += 1;
        if kind != OTHER {
            let number = self.bytes.take(LENGTHS[usize::from(kind)]);
            let word = plain(kind, number, restored.words.len(), restored.length.div_ceil(2));
            let word = word.ok_or_else(|| self.bytes.malformed("a word"))?;
            restored.put(word, kind >= RAW);
            return Ok(());
        }
        if self.bytes.passes(REPEATED) {
            return self.repeated(restored, room);
        }
        let word = if self.bytes.passes(HEADER) {
            self.bytes.header()?.to_value()
        } else {
            match self.bytes.word(names)? {
                Decoded::Word(word) => word,
                Decoded::Reference(_) => return Err(self.bytes.malformed("a word of a kind of its own")),
            }
        };
        restored.put(word, false);
        Ok(())
    }

    /// Reads how many more times the last word comes, of which there is room for `room`.
    fn repeated(&mut self, restored: &mut RestoredWords<'_>, room: usize) -> Result<(), ImageError> {
        let count = usize::try_from(self.bytes.varint()?).ok();
        let count = count.filter(|count| (1..=room).contains(count));
        let repeated = count.and_then(|count| restored.repeat(count));
        repeated.ok_or_else(|| {
            self.bytes
                .malformed("a word that can come again, as often as there is room")
        })
    }
}

/// The word at `place`, of a heap of twice `halves` words, whose kind and number, in the first of
/// these bytes, say all of it.
#[inline(always)]
fn plain(kind: u8, bytes: u64, place: usize, halves: usize) -> Option<Value> {
    let number = bytes & MASKS[usize::from(kind)];
    // Most words of most heaps.
    if (REFERENCE..FLONUM).contains(&kind) {
        return reference(number, place, halves);
    }
    if kind < FIXNUM_LONG {
        return Some(Value::small(unzigzag(number) as i32));
    }
    match kind {
        FIXNUM_LONG => Value::fixnum(unzigzag(number)),
        CONSTANT => Value::constant(number),
        FLONUM => Value::flonum(f64::from_bits(number)),
        SHORT_HEADER => Kind::from_code(number as u8).map(|kind| Header::new(kind, (number >> 8) as u32).to_value()),
        OTHER => None,
        _ => Some(Value::from_bits(number)),
    }
}

/// What references lead to, by their classes.
const CLASSES: [Value; 3] = [Value::pair_at(0), Value::procedure_at(0), Value::object_at(0)];

fn class_of(word: Value) -> u64 {
    let class = CLASSES.iter().position(|class| class.tag() == word.tag());
    class.unwrap_or_default() as u64
}

#[inline(always)]
fn reference(number: u64, place: usize, halves: usize) -> Option<Value> {
    // Numbers have at most 40 bits. What lies before the first word lies beyond the last one too.
    let half = (place / 2) as i64 + unzigzag(number >> 2);
    let class = CLASSES.get(number as usize & 3)?;
    ((half as u64) < halves as u64).then(|| class.moved_to(half as usize * 2))
}

#[cfg(test)]
mod tests;
