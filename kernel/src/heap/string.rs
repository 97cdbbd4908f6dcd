//! Strings: a mutable object that refers to its characters, one byte each while they are ASCII,
//! four bytes otherwise.
//!
//! INVARIANT: narrow characters are ASCII, wide ones are Unicode scalar values; a character index
//! is an array index in either. A walk along the characters ends early when the computation should
//! stop.
//! It does not know `string` library procedures beyond reading, writing and copying. Read next:
//! `heap/symbol.rs`.

use std::ops::Range;

use super::charge::ITEMS_BETWEEN_LOOKS;
use super::kind::Flags;
use super::{Heap, HeapFull, Kind};
use crate::value::Value;

/// The field of a string or symbol that holds its characters object.
const STORAGE: usize = 0;

impl Heap {
    /// Makes a string of the characters of `text`.
    ///
    /// # Errors
    /// [`HeapFull`].
    pub fn string(&mut self, text: &str) -> Result<Value, HeapFull> {
        let storage = self.characters(text)?;
        self.make(Kind::String, &[storage])
    }

    /// Makes a string of bytes, all of them ASCII.
    ///
    /// # Errors
    /// [`HeapFull`].
    pub(crate) fn string_of_ascii(&mut self, bytes: &[u8]) -> Result<Value, HeapFull> {
        debug_assert!(bytes.is_ascii());
        let storage = self.make_raw(Kind::NarrowCharacters, Flags::NONE, bytes)?;
        self.make(Kind::String, &[storage])
    }

    /// Makes a string of `length` times `character`.
    ///
    /// # Errors
    /// [`HeapFull`].
    pub fn make_string(&mut self, length: usize, character: char) -> Result<Value, HeapFull> {
        let storage = if character.is_ascii() {
            let storage = self.allocate_raw(Kind::NarrowCharacters, length)?;
            self.fresh_bytes_mut(storage).fill(character as u8);
            storage
        } else {
            let storage = self.allocate_raw(Kind::WideCharacters, wide_bytes(length)?)?;
            let bytes = u32::from(character).to_le_bytes();
            self.fresh_bytes_mut(storage)
                .chunks_exact_mut(4)
                .for_each(|place| place.copy_from_slice(&bytes));
            storage
        };
        self.make(Kind::String, &[storage])
    }

    /// Makes a string of `count` bytes of a raw object from `start` on, all of them ASCII.
    ///
    /// # Errors
    /// [`HeapFull`].
    pub(crate) fn ascii_string(&mut self, bytes: Value, start: usize, count: usize) -> Result<Value, HeapFull> {
        debug_assert!(self.raw_bytes(bytes)[start..start + count].is_ascii());
        let storage = self.allocate_raw(Kind::NarrowCharacters, count)?;
        self.copy_bytes(bytes, start, storage, 0, count);
        self.make(Kind::String, &[storage])
    }

    /// The raw object that holds a string of ASCII characters, a byte for each.
    #[inline]
    pub(crate) fn ascii_storage(&self, string: Value) -> Option<Value> {
        let storage = self.field(string, STORAGE);
        self.is_narrow(storage).then_some(storage)
    }

    /// Makes the characters object for `text`.
    pub(super) fn characters(&mut self, text: &str) -> Result<Value, HeapFull> {
        if text.is_ascii() {
            return self.make_raw(Kind::NarrowCharacters, Flags::NONE, text.as_bytes());
        }
        let length = wide_bytes(text.chars().count())?;
        let storage = self.allocate_raw(Kind::WideCharacters, length)?;
        let mut characters = text.chars();
        for start in (0..length).step_by(4 * ITEMS_BETWEEN_LOOKS) {
            if start > 0 && self.is_stop_wanted() {
                break;
            }
            let end = length.min(start + 4 * ITEMS_BETWEEN_LOOKS);
            let places = self.fresh_bytes_mut(storage)[start..end].chunks_exact_mut(4);
            for (place, character) in places.zip(characters.by_ref()) {
                place.copy_from_slice(&u32::from(character).to_le_bytes());
            }
        }
        Ok(storage)
    }

    /// Whether `value` is a string.
    #[inline(always)]
    pub fn is_string(&self, value: Value) -> bool {
        self.is_kind(value, Kind::String)
    }

    /// How many characters a string or symbol has.
    #[inline]
    pub fn string_length(&self, string: Value) -> usize {
        let storage = self.field(string, STORAGE);
        let length = self.object_length(storage);
        if self.is_narrow(storage) { length } else { length / 4 }
    }

    /// The same if each character is stored in a byte; `None` for what is no string or symbol, too.
    #[inline(always)]
    pub(crate) fn length_if_narrow(&self, value: Value) -> Option<usize> {
        if !self.is_kind(value, Kind::String) && !self.is_kind(value, Kind::Symbol) {
            return None;
        }
        let storage = self.field(value, STORAGE);
        self.is_narrow(storage).then(|| self.object_length(storage))
    }

    /// The character at `index`, if there is one.
    #[inline]
    pub fn string_ref(&self, string: Value, index: usize) -> Option<char> {
        self.characters_ref(self.field(string, STORAGE), index)
    }

    #[inline]
    fn characters_ref(&self, storage: Value, index: usize) -> Option<char> {
        let bytes = self.raw_bytes(storage);
        if self.is_narrow(storage) {
            return bytes.get(index).map(|&byte| char::from(byte));
        }
        let place = bytes.get(index.checked_mul(4)?..)?.first_chunk()?;
        char::from_u32(u32::from_le_bytes(*place))
    }

    /// Changes the character at `index`, which the caller has checked to exist; a narrow string
    /// widens when it must.
    ///
    /// # Errors
    /// [`HeapFull`] if the string cannot widen; it is unchanged then.
    pub fn string_set(&mut self, string: Value, index: usize, character: char) -> Result<(), HeapFull> {
        if self.is_narrow(self.field(string, STORAGE)) && !character.is_ascii() {
            self.widen(string)?;
        }
        let storage = self.field(string, STORAGE);
        if self.is_narrow(storage) {
            self.raw_range_mut(storage, index, index + 1)[0] = character as u8;
        } else {
            let place = self.raw_range_mut(storage, index * 4, index * 4 + 4);
            place.copy_from_slice(&u32::from(character).to_le_bytes());
        }
        Ok(())
    }

    /// Changes the characters in a range, which the caller has checked to exist.
    ///
    /// # Errors
    /// [`HeapFull`] if the string cannot widen; it is unchanged then.
    pub fn string_fill(&mut self, string: Value, range: Range<usize>, character: char) -> Result<(), HeapFull> {
        if range.is_empty() {
            return Ok(());
        }
        if self.is_narrow(self.field(string, STORAGE)) && !character.is_ascii() {
            self.widen(string)?;
        }
        let storage = self.field(string, STORAGE);
        if self.is_narrow(storage) {
            self.raw_range_mut(storage, range.start, range.end)
                .fill(character as u8);
            return Ok(());
        }
        let bytes = u32::from(character).to_le_bytes();
        let places = self.raw_range_mut(storage, range.start * 4, range.end * 4);
        places
            .chunks_exact_mut(4)
            .for_each(|place| place.copy_from_slice(&bytes));
        Ok(())
    }

    /// The characters `start..end` of a string or symbol, which the caller has checked to exist.
    pub fn string_range(&self, string: Value, start: usize, end: usize) -> String {
        let storage = self.field(string, STORAGE);
        let bytes = self.raw_bytes(storage);
        if self.is_narrow(storage) {
            return String::from_utf8_lossy(&bytes[start..end]).into_owned();
        }
        let mut text = String::with_capacity(end - start);
        text.extend(self.until_stopped(wide_characters(&bytes[start * 4..end * 4])));
        text
    }

    /// The text of a string or symbol.
    pub fn string_text(&self, string: Value) -> String {
        self.string_range(string, 0, self.string_length(string))
    }

    /// The characters of a string or symbol, in order.
    pub fn string_characters(&self, string: Value) -> impl Iterator<Item = char> + '_ {
        self.string_characters_from(string, 0)
    }

    /// The characters of a string or symbol from index `start`, at most its length, in order.
    pub fn string_characters_from(&self, string: Value, start: usize) -> impl Iterator<Item = char> + '_ {
        let storage = self.field(string, STORAGE);
        let bytes = self.raw_bytes(storage);
        let (narrow, wide) = if self.is_narrow(storage) {
            (&bytes[start..], &[][..])
        } else {
            (&[][..], &bytes[start * 4..])
        };
        self.until_stopped(narrow.iter().map(|&byte| char::from(byte)).chain(wide_characters(wide)))
    }

    /// The bytes of a string or symbol all of whose characters are stored as ASCII; nothing for a
    /// wide one.
    #[inline]
    pub fn string_ascii(&self, string: Value) -> Option<&[u8]> {
        let storage = self.field(string, STORAGE);
        self.is_narrow(storage).then(|| self.raw_bytes(storage))
    }

    /// Whether a range of a string or symbol, which the caller has checked to exist, has characters
    /// beyond ASCII, however it is stored.
    pub(crate) fn is_beyond_ascii(&self, string: Value, range: Range<usize>) -> bool {
        let storage = self.field(string, STORAGE);
        let is_ascii = |bytes| wide_characters(bytes).all(|character| character.is_ascii());
        !self.is_narrow(storage) && !is_ascii(&self.raw_bytes(storage)[range.start * 4..range.end * 4])
    }

    /// Whether two strings or symbols have the same characters.
    pub fn same_text(&self, a: Value, b: Value) -> bool {
        let (storage_a, storage_b) = (self.field(a, STORAGE), self.field(b, STORAGE));
        if self.is_narrow(storage_a) == self.is_narrow(storage_b) {
            return self.raw_bytes(storage_a) == self.raw_bytes(storage_b);
        }
        // A string stays wide when its last wide character is replaced.
        self.string_length(a) == self.string_length(b) && self.string_characters(a).eq(self.string_characters(b))
    }

    /// Copies characters `start..end` of `from`, which the caller has checked to exist, into a
    /// fresh string.
    ///
    /// # Errors
    /// [`HeapFull`].
    pub fn substring(&mut self, from: Value, start: usize, end: usize) -> Result<Value, HeapFull> {
        let storage = self.field(from, STORAGE);
        let (kind, width) = if self.is_narrow(storage) {
            (Kind::NarrowCharacters, 1)
        } else {
            (Kind::WideCharacters, 4)
        };
        let copy = self.allocate_raw(kind, (end - start) * width)?;
        let string = self.make(Kind::String, &[copy])?;
        self.copy_bytes(storage, start * width, copy, 0, (end - start) * width);
        Ok(string)
    }

    /// Copies `count` characters from one string to another or within one, as if at once; the
    /// caller has checked both ranges.
    ///
    /// # Errors
    /// [`HeapFull`] if `to` must widen and cannot; nothing is changed then.
    pub fn copy_characters(
        &mut self,
        from: Value,
        from_start: usize,
        to: Value,
        to_start: usize,
        count: usize,
    ) -> Result<(), HeapFull> {
        if !self.is_narrow(self.field(from, STORAGE)) && self.is_narrow(self.field(to, STORAGE)) {
            self.widen(to)?;
        }
        let (source, target) = (self.field(from, STORAGE), self.field(to, STORAGE));
        if self.is_narrow(source) == self.is_narrow(target) {
            let width = if self.is_narrow(source) { 1 } else { 4 };
            self.copy_bytes(source, from_start * width, target, to_start * width, count * width);
        } else {
            let narrow = self.raw_bytes(source)[from_start..from_start + count].to_vec();
            let places = self
                .raw_range_mut(target, to_start * 4, (to_start + count) * 4)
                .chunks_exact_mut(4);
            for (place, byte) in places.zip(narrow) {
                place.copy_from_slice(&u32::from(byte).to_le_bytes());
            }
        }
        Ok(())
    }

    /// Copies bytes from one raw object to another or within one, as if at once.
    pub fn copy_bytes(&mut self, from: Value, from_start: usize, to: Value, to_start: usize, count: usize) {
        if count == 0 {
            return;
        }
        assert!(from_start + count <= self.object_length(from) && to_start + count <= self.object_length(to));
        self.note_write_range(
            to.index() + 1 + to_start / 8,
            (to_start + count).div_ceil(8) - to_start / 8,
        );
        let source = (from.index() + 1) * 8 + from_start;
        let target = (to.index() + 1) * 8 + to_start;
        bytemuck::cast_slice_mut::<u64, u8>(&mut self.words).copy_within(source..source + count, target);
    }

    fn widen(&mut self, string: Value) -> Result<(), HeapFull> {
        let narrow = self.field(string, STORAGE);
        let storage = self.allocate_raw(Kind::WideCharacters, wide_bytes(self.object_length(narrow))?)?;
        let bytes = self.raw_bytes(narrow).to_vec();
        for (place, byte) in self.fresh_bytes_mut(storage).chunks_exact_mut(4).zip(bytes) {
            place[0] = byte;
        }
        self.set_field(string, STORAGE, storage);
        Ok(())
    }

    #[inline(always)]
    fn is_narrow(&self, storage: Value) -> bool {
        self.is_kind(storage, Kind::NarrowCharacters)
    }
}

/// The bytes of `length` wide characters, which only fit if the heap's indices can name them.
fn wide_bytes(length: usize) -> Result<usize, HeapFull> {
    length.checked_mul(4).ok_or(HeapFull)
}

fn wide_characters(bytes: &[u8]) -> impl Iterator<Item = char> + '_ {
    bytes.chunks_exact(4).map(|place| {
        let scalar = u32::from_le_bytes([place[0], place[1], place[2], place[3]]);
        char::from_u32(scalar).unwrap_or(char::REPLACEMENT_CHARACTER)
    })
}
