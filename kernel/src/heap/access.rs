//! Reading and writing the parts of objects.
//!
//! INVARIANT: every write to an existing object passes [`Heap::note_write`] first.
//! Accessors trust the kind of their argument: a caller that has not checked it is wrong, and a
//! debug build says so.
//! It does not interpret payloads. Read next: `heap/pages.rs`.

use super::Heap;
use super::kind::{Flags, Header, Kind};
use crate::value::Value;

impl Heap {
    #[inline(always)]
    pub(crate) fn word(&self, index: usize) -> Value {
        Value::from_bits(self.words[index])
    }

    /// Writes a word of a live object.
    #[inline(always)]
    pub(crate) fn set_word(&mut self, index: usize, word: Value) {
        self.note_write(index);
        self.words[index] = word.to_bits();
    }

    /// Writes a word of an object made since the last collection and the last turn's beginning, or
    /// fills a fresh one.
    #[inline(always)]
    pub(crate) fn set_fresh_word(&mut self, index: usize, word: Value) {
        debug_assert!(index >= self.barrier_limit);
        self.words[index] = word.to_bits();
    }

    /// The first part of a pair.
    #[inline(always)]
    pub fn car(&self, pair: Value) -> Value {
        debug_assert!(pair.is_pair());
        self.word(pair.index())
    }

    /// The second part of a pair.
    #[inline(always)]
    pub fn cdr(&self, pair: Value) -> Value {
        debug_assert!(pair.is_pair());
        self.word(pair.index() + 1)
    }

    /// Changes the first part of a pair.
    #[inline(always)]
    pub fn set_car(&mut self, pair: Value, value: Value) {
        debug_assert!(pair.is_pair());
        self.set_word(pair.index(), value);
    }

    /// Changes the second part of a pair.
    #[inline(always)]
    pub fn set_cdr(&mut self, pair: Value, value: Value) {
        debug_assert!(pair.is_pair());
        self.set_word(pair.index() + 1, value);
    }

    /// The header of an object; nothing for pairs and immediates.
    #[inline(always)]
    pub fn header(&self, value: Value) -> Option<Header> {
        if value.is_reference() && !value.is_pair() {
            Header::from_value(self.word(value.index()))
        } else {
            None
        }
    }

    /// What kind of object `value` is; nothing for pairs and immediates.
    #[inline(always)]
    pub fn kind_of(&self, value: Value) -> Option<Kind> {
        self.header(value).map(|header| header.kind)
    }

    /// Whether `value` is an object of `kind`; one load and compare.
    #[inline(always)]
    pub fn is_kind(&self, value: Value, kind: Kind) -> bool {
        (value.is_object() || value.is_procedure_object()) && self.words[value.index()] >> 8 & 0xff == kind as u64
    }

    /// The length of an object: fields for kinds of values, bytes for raw kinds.
    #[inline(always)]
    pub fn object_length(&self, object: Value) -> usize {
        debug_assert!(self.header(object).is_some());
        self.word(object.index()).payload() as usize
    }

    /// The flags of an object.
    #[inline]
    pub fn flags(&self, object: Value) -> Flags {
        debug_assert!(self.header(object).is_some());
        Flags::from_bits((self.word(object.index()).detail() >> 8) as u16)
    }

    /// Replaces the flags of an object.
    pub fn set_flags(&mut self, object: Value, flags: Flags) {
        if let Some(header) = self.header(object) {
            self.set_word(object.index(), Header { flags, ..header }.to_value());
        }
    }

    /// Whether the object is a literal that may not be mutated.
    #[inline]
    pub fn is_immutable(&self, object: Value) -> bool {
        self.flags(object).has(Flags::IMMUTABLE)
    }

    /// Makes a string, vector or bytevector a literal that may not be mutated.
    pub fn make_immutable(&mut self, object: Value) {
        let flags = self.flags(object).with(Flags::IMMUTABLE);
        self.set_flags(object, flags);
    }

    /// The field `field` of an object of values.
    #[inline(always)]
    pub fn field(&self, object: Value, field: usize) -> Value {
        debug_assert!(self.is_field(object, field));
        self.word(object.index() + 1 + field)
    }

    /// Changes the field `field` of an object of values.
    #[inline(always)]
    pub fn set_field(&mut self, object: Value, field: usize, value: Value) {
        debug_assert!(self.is_field(object, field));
        self.set_word(object.index() + 1 + field, value);
    }

    /// All fields of an object of values, as the words they are; see [`Value::from_bits`].
    #[inline]
    pub fn field_words(&self, object: Value) -> &[u64] {
        debug_assert!(self.header(object).is_some_and(|header| !header.kind.is_raw()));
        let start = object.index() + 1;
        &self.words[start..start + self.object_length(object)]
    }

    /// Copies `count` fields from one object of values to another, or within one; overlapping
    /// ranges are copied as if at once.
    pub fn copy_fields(&mut self, from: Value, from_start: usize, to: Value, to_start: usize, count: usize) {
        debug_assert!(from_start + count <= self.object_length(from) && to_start + count <= self.object_length(to));
        let source = from.index() + 1 + from_start;
        let target = to.index() + 1 + to_start;
        self.note_write_range(target, count);
        self.words.copy_within(source..source + count, target);
    }

    /// Sets `count` fields of an object of values to `value`.
    pub fn fill_fields(&mut self, object: Value, start: usize, count: usize, value: Value) {
        debug_assert!(start + count <= self.object_length(object));
        let target = object.index() + 1 + start;
        self.note_write_range(target, count);
        self.words[target..target + count].fill(value.to_bits());
    }

    /// The bytes of a raw object.
    #[inline]
    pub fn raw_bytes(&self, object: Value) -> &[u8] {
        debug_assert!(self.header(object).is_some_and(|header| header.kind.is_raw()));
        let length = self.object_length(object);
        let start = object.index() + 1;
        &bytemuck::cast_slice(&self.words[start..start + length.div_ceil(8)])[..length]
    }

    /// The bytes of a raw object, all of which the caller may write.
    pub fn raw_bytes_mut(&mut self, object: Value) -> &mut [u8] {
        let payload_words = self.object_length(object).div_ceil(8);
        self.note_write_range(object.index() + 1, payload_words);
        self.fresh_bytes_mut(object)
    }

    /// The bytes `start..end` of a raw object, for writing; only their pages are noted.
    pub fn raw_range_mut(&mut self, object: Value, start: usize, end: usize) -> &mut [u8] {
        if start < end {
            self.note_write_range(object.index() + 1 + start / 8, end.div_ceil(8) - start / 8);
        }
        &mut self.fresh_bytes_mut(object)[start..end]
    }

    /// The byte at `index` of a raw object, if there is one.
    #[inline]
    pub(crate) fn byte_at(&self, object: Value, index: usize) -> Option<u8> {
        let word = self.words[object.index() + 1..].get(index / 8)?;
        (index < self.object_length(object)).then(|| word.to_ne_bytes()[index % 8])
    }

    /// Writes the byte at `index` of a raw object; says whether there is one and it may be changed.
    #[inline]
    pub(crate) fn set_byte_at(&mut self, object: Value, index: usize, byte: u8) -> bool {
        let is_writable = index < self.object_length(object) && !self.is_immutable(object);
        if is_writable {
            let place = object.index() + 1 + index / 8;
            self.note_write(place);
            let mut bytes = self.words[place].to_ne_bytes();
            bytes[index % 8] = byte;
            self.words[place] = u64::from_ne_bytes(bytes);
        }
        is_writable
    }

    /// The bytes of a raw object whose words need no barrier or have passed it.
    pub(super) fn fresh_bytes_mut(&mut self, object: Value) -> &mut [u8] {
        let length = self.object_length(object);
        let start = object.index() + 1;
        &mut bytemuck::cast_slice_mut(&mut self.words[start..start + length.div_ceil(8)])[..length]
    }

    /// The limbs of a bignum, lowest first; the bytes that fill the last one up are zero.
    pub(super) fn raw_limbs(&self, bignum: Value) -> &[u64] {
        const { assert!(cfg!(target_endian = "little"), "a limb is a word of the heap") };
        let start = bignum.index() + 1;
        &self.words[start..start + self.object_length(bignum).div_ceil(8)]
    }

    /// The limbs of a bignum that was just made, for writing.
    pub(super) fn fresh_limbs_mut(&mut self, bignum: Value) -> &mut [u64] {
        let start = bignum.index() + 1;
        let end = start + self.object_length(bignum).div_ceil(8);
        &mut self.words[start..end]
    }

    fn is_field(&self, object: Value, field: usize) -> bool {
        self.header(object)
            .is_some_and(|header| !header.kind.is_raw() && field < header.length as usize)
    }
}
