//! Snapshots: a heap word for word, in chunks of a fixed range of words, so that a range that has not changed has its chunk already.
//!
//! Chunk: `<words #[code] [unit…] [primitive…]>`, the code of words `n·512` to `(n+1)·512`:
//!
//! * how many words continue an object that began before, and if any: 1 and the count of its bytes and these, or 0 and the words;
//! * objects: kind code (0 for a pair; bit 5 set when flags follow), flags, then for a pair two words, for raw kinds the length
//!   and the bytes, for others the length and the words, padding included; cut off where the range ends.
//!
//! A reference is the distance to the object's index, halved, from the word's own, zigzag, times three, plus 0 for a pair, 1 for a
//! procedure, 2 for another object. Root: `<heap version words live #[registers] [unit…] [primitive…] [chunk…]>`.
//! INVARIANT: a chunk depends only on its words and the names of the code they refer to.
//! It does not collect: the heap must be settled. Read next: `image/restore.rs`.

use std::ops::Range;

use super::code::{CodeWriter, zigzag};
use super::freeze::{FLAGGED, PAIR};
use super::names::NamesWriter;
use super::packed::PackedWriter;
use super::{Chunk, ChunkName, CodeNames, ImageError, VERSION};
use crate::heap::{Flags, Header, Heap, Register};
use crate::value::Value;

/// Words per chunk.
pub(super) const RANGE_WORDS: usize = 512;

/// A snapshot of a heap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The chunk that names all others.
    pub root: Chunk,
    /// The chunks that the heap's previous snapshot, if any, did not have.
    pub chunks: Vec<Chunk>,
}

/// Takes a snapshot; only ranges that changed since the heap's previous one are encoded.
///
/// # Errors
/// [`ImageError::UnnamedCode`] if a closure or frame refers to code that `code` cannot name.
///
/// # Panics
/// If a turn is open or there are young objects: call [`Heap::collect_minor`] before.
pub fn snapshot(heap: &mut Heap, code: &dyn CodeNames) -> Result<Snapshot, ImageError> {
    assert!(
        heap.is_settled(),
        "a snapshot is taken between turns, after a collection"
    );
    let length = heap.old_words().len();
    let mut names: Vec<[u8; 32]> = Vec::with_capacity(length.div_ceil(RANGE_WORDS));
    let mut chunks = Vec::new();
    for start in (0..length).step_by(RANGE_WORDS) {
        let range = start..(start + RANGE_WORDS).min(length);
        match heap.snapshot_names().get(names.len()) {
            Some(&name) if !heap.is_changed(range.clone()) => names.push(name),
            _ => {
                let covering = heap.object_covering(start);
                let chunk = chunk(heap.old_words(), range, covering, code)?;
                names.push(chunk.name.0);
                chunks.push(chunk);
            }
        }
    }
    let root = root(heap, &names, code)?;
    heap.record_snapshot(names);
    Ok(Snapshot { root, chunks })
}

fn root(heap: &Heap, chunk_names: &[[u8; 32]], code: &dyn CodeNames) -> Result<Chunk, ImageError> {
    let mut writer = PackedWriter::default();
    writer.record("heap");
    writer.integer(VERSION);
    writer.integer(heap.old_words().len() as u64);
    writer.integer(heap.words_live() as u64);
    let mut names = NamesWriter::new(code);
    let mut registers = CodeWriter::default();
    for &register in Register::ALL {
        put_word(&mut registers, 0, heap.register(register), &mut names)?;
    }
    writer.bytes(&registers.finish());
    names.write(&mut writer);
    writer.sequence();
    chunk_names.iter().for_each(|name| writer.bytes(name));
    writer.end();
    writer.end();
    Ok(Chunk::new(writer.finish()))
}

/// Encodes the words of `range`, whose first word belongs to the object at `covering`.
fn chunk(words: &[u64], range: Range<usize>, covering: usize, code: &dyn CodeNames) -> Result<Chunk, ImageError> {
    let mut names = NamesWriter::new(code);
    let mut encoding = CodeWriter::default();
    let mut index = range.start;
    if covering == range.start {
        encoding.varint(0);
    } else {
        index = continued(&mut encoding, words, range.clone(), covering, &mut names)?;
    }
    while index < range.end {
        index = object(&mut encoding, words, index..range.end, &mut names)?;
    }
    let mut writer = PackedWriter::default();
    writer.record("words");
    writer.bytes(&encoding.finish());
    names.write(&mut writer);
    writer.end();
    Ok(Chunk::new(writer.finish()))
}

/// Encodes the part of the object at `covering`, which began before `range`, and returns where it ends.
fn continued(
    encoding: &mut CodeWriter,
    words: &[u64],
    range: Range<usize>,
    covering: usize,
    names: &mut NamesWriter<'_>,
) -> Result<usize, ImageError> {
    let header = header_at(words, covering).ok_or(ImageError::WrongShape(None))?;
    let end = range.end.min(covering + header.object_words());
    encoding.varint((end - range.start) as u64);
    encoding.byte(header.kind.is_raw().into());
    if header.kind.is_raw() {
        let before = (range.start - covering - 1) * 8;
        let bytes = payload_bytes(words, range.start, end, (header.length as usize).saturating_sub(before));
        encoding.varint(bytes.len() as u64);
        encoding.raw(bytes);
    } else {
        put_words(encoding, words, range.start..end, names)?;
    }
    Ok(end)
}

/// Encodes the object that begins at `range.start`, as far as `range` goes, and returns where it ends.
fn object(
    encoding: &mut CodeWriter,
    words: &[u64],
    range: Range<usize>,
    names: &mut NamesWriter<'_>,
) -> Result<usize, ImageError> {
    let Some(header) = header_at(words, range.start) else {
        encoding.byte(PAIR);
        put_words(encoding, words, range.start..range.start + 2, names)?;
        return Ok(range.start + 2);
    };
    if header.flags == Flags::NONE {
        encoding.byte(header.kind.code());
    } else {
        encoding.byte(header.kind.code() | FLAGGED);
        encoding.varint(header.flags.bits().into());
    }
    encoding.varint(header.length.into());
    let end = range.end.min(range.start + header.object_words());
    if header.kind.is_raw() {
        encoding.raw(payload_bytes(words, range.start + 1, end, header.length as usize));
    } else {
        put_words(encoding, words, range.start + 1..end, names)?;
    }
    Ok(end)
}

/// The bytes of the words from `start` to `end`, at most `length` of them.
fn payload_bytes(words: &[u64], start: usize, end: usize, length: usize) -> &[u8] {
    let bytes: &[u8] = bytemuck::cast_slice(&words[start..end]);
    &bytes[..bytes.len().min(length)]
}

fn put_words(
    encoding: &mut CodeWriter,
    words: &[u64],
    range: Range<usize>,
    names: &mut NamesWriter<'_>,
) -> Result<(), ImageError> {
    range
        .into_iter()
        .try_for_each(|place| put_word(encoding, place, Value::from_bits(words[place]), names))
}

fn put_word(
    encoding: &mut CodeWriter,
    place: usize,
    word: Value,
    names: &mut NamesWriter<'_>,
) -> Result<(), ImageError> {
    if !word.is_reference() {
        return encoding.word(word, names);
    }
    let class = if word.is_pair() {
        0
    } else if word.is_procedure_object() {
        1
    } else {
        2
    };
    let distance = (word.index() / 2) as i64 - (place / 2) as i64;
    encoding.reference(zigzag(distance) * 3 + class);
    Ok(())
}

fn header_at(words: &[u64], index: usize) -> Option<Header> {
    Header::from_value(Value::from_bits(words[index]))
}

impl Snapshot {
    /// The name under which the whole is known.
    pub fn name(&self) -> ChunkName {
        self.root.name
    }
}
