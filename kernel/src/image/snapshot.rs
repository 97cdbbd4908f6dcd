//! Snapshots: a heap word for word, whole or as what has changed since the snapshot before.
//!
//! A whole one has chunks of a fixed range of words, so that a range that has not changed since the
//! last whole one has its chunk already. Chunk: `<columns #[kinds] #[bytes] [unit…] [primitive…]>`,
//! in the encoding of `image/columns.rs`. Root: `<heap 1 words live range #[registers] [unit…]
//! [primitive…] [chunk…]>`.
//!
//! Root of what has changed: `<changes 1 previous words live kept #[registers] #[code] [unit…]
//! [primitive…]>`, where `previous` names the root of the snapshot before, of whose words the first
//! `kept` stay where they are. Code: a count of runs, and for each run how many words to pass over,
//! how many to replace, doubled, plus 1 if bytes follow and not words; then the objects that come
//! behind those that stay, in the code of `image/code.rs`: kind code (0 for a pair; bit 5 set when
//! flags follow), flags, then for a pair two words, for raw kinds the length and the bytes, for
//! others the length and the words, padding included. There a reference is the distance to the
//! object's index, halved, from the word's own, zigzag, times three, plus 0 for a pair, 1 for a
//! procedure, 2 for another object.
//! INVARIANT: a chunk depends only on its words and the names of the code they refer to.
//! It does not collect: the heap must be settled. Read next: `image/restore.rs`.

mod changes;

pub(super) use changes::CHANGES_MAX;

use std::ops::Range;

use super::code::{CodeWriter, HEADER, PAIR, REPEATED, zigzag};
use super::columns::ColumnsWriter;
use super::names::NamesWriter;
use super::{Chunk, ChunkName, CodeNames, ImageError, VERSION, write_chunk};
use crate::heap::{FullSnapshot, Header, Heap, LastSnapshot, Register};
use crate::value::Value;

/// Words per chunk of a small heap, of which many are alike, and of a large one, which is to be
/// read fast.
const SMALL_RANGE_WORDS: usize = 512;
const LARGE_RANGE_WORDS: usize = 4096;
/// Heaps from this size on are large.
const LARGE_WORDS: usize = 1 << 17;

/// One part in this many of a first snapshot's length is the length of changes that are free after
/// it.
const CREDIT_SHARE: u64 = 8;

/// A snapshot of a heap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The chunk that names all others.
    pub root: Chunk,
    /// The chunks that the heap's previous snapshots, if any, did not have.
    pub chunks: Vec<Chunk>,
    /// The number of bytes that need not wait for records to pay for them: a whole snapshot
    /// replaces the snapshots of changes before it. A first snapshot is free, and so are changes of
    /// an eighth of its length, because every heap has just one.
    pub excused_bytes: u64,
}

/// Takes a snapshot; only what changed since the heap's previous one is encoded, and ranges that
/// changed since the last whole one where that is shorter in the long run.
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
    heap.begin_pace();
    heap.note_changes();
    if changes::are_worth_it(heap) {
        return changes::snapshot(heap, code);
    }
    let length = heap.old_words().len();
    let range_words = match length < LARGE_WORDS {
        true => SMALL_RANGE_WORDS,
        false => LARGE_RANGE_WORDS,
    };
    let mut all: Vec<([u8; 32], u32)> = Vec::with_capacity(length.div_ceil(range_words));
    let (mut chunks, mut length_bytes) = (Vec::new(), 0);
    for start in (0..length).step_by(range_words) {
        let range = start..(start + range_words).min(length);
        let before = heap
            .last_snapshot()
            .filter(|stored| stored.full.range_words == range_words);
        if let Some(chunk) = before.and_then(|stored| stored.chunk_of(all.len(), range.clone())) {
            all.push(chunk);
            continue;
        }
        let covering = heap.object_covering(start);
        let chunk = chunk(heap.old_words(), range, covering, code)?;
        length_bytes += chunk.bytes.len() as u64;
        all.push((chunk.name.0, chunk.bytes.len() as u32));
        chunks.push(chunk);
    }
    let root = root(heap, range_words, &all, code)?;
    length_bytes += root.bytes.len() as u64;
    let excused_bytes = match heap.last_snapshot() {
        Some(stored) => length_bytes.min(stored.changes_bytes),
        None if heap.had_snapshot() => 0,
        None => length_bytes + length_bytes / CREDIT_SHARE,
    };
    let whole = FullSnapshot {
        range_words,
        chunks: all,
    };
    heap.record_snapshot(LastSnapshot::new(root.name.0, whole, length));
    Ok(Snapshot {
        root,
        chunks,
        excused_bytes,
    })
}

fn root(
    heap: &Heap,
    range_words: usize,
    chunks: &[([u8; 32], u32)],
    code: &dyn CodeNames,
) -> Result<Chunk, ImageError> {
    let mut names = NamesWriter::new(code);
    let registers = registers(heap, &mut names)?;
    Ok(write_chunk("heap", |out| {
        out.unsigned(VERSION);
        out.unsigned(heap.old_words().len() as u64);
        out.unsigned(heap.words_live() as u64);
        out.unsigned(range_words as u64);
        out.byte_string(&registers);
        names.write(out);
        out.sequence(|out| chunks.iter().for_each(|(name, _)| out.byte_string(name)));
    }))
}

fn registers(heap: &Heap, names: &mut NamesWriter<'_>) -> Result<Vec<u8>, ImageError> {
    let mut registers = CodeWriter::default();
    for &register in Register::ALL {
        put_word(&mut registers, 0, heap.register(register), names)?;
    }
    Ok(registers.finish())
}

/// Encodes the words of `range`, whose first word belongs to the object at `covering`.
fn chunk(words: &[u64], range: Range<usize>, covering: usize, code: &dyn CodeNames) -> Result<Chunk, ImageError> {
    let mut names = NamesWriter::new(code);
    let mut columns = ColumnsWriter::default();
    let mut index = covering;
    while index < range.end {
        let header = header_at(words, index);
        let next = index + header.map_or(2, Header::object_words);
        let mut fields = index.max(range.start)..next.min(range.end);
        if let Some(header) = header.filter(|_| index == fields.start) {
            columns.header(header);
            fields.start += 1;
        }
        let is_raw = header.is_some_and(|header| header.kind.is_raw());
        columns.words(fields.start, &words[fields], is_raw, &mut names)?;
        index = next;
    }
    let (kinds, bytes) = columns.finish();
    Ok(write_chunk("columns", |out| {
        out.byte_string(&kinds);
        out.byte_string(&bytes);
        names.write(out);
    }))
}

/// Encodes the object that begins at `range.start`, as far as `range` goes, and returns where it
/// ends.
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
    encoding.header(header);
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

/// The minimum number of repetitions that are counted.
const REPEATED_MIN: usize = 3;

fn put_words(
    encoding: &mut CodeWriter,
    words: &[u64],
    range: Range<usize>,
    names: &mut NamesWriter<'_>,
) -> Result<(), ImageError> {
    let mut place = range.start;
    while place < range.end {
        let word = Value::from_bits(words[place]);
        put_word(encoding, place, word, names)?;
        place += 1;
        // A reference is written relative to its place, so equal references differ.
        let alike = words[place..range.end]
            .iter()
            .take_while(|next| **next == word.to_bits());
        let repeated = if word.is_reference() { 0 } else { alike.count() };
        if repeated >= REPEATED_MIN {
            encoding.byte(REPEATED);
            encoding.varint(repeated as u64);
            place += repeated;
        }
    }
    Ok(())
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
