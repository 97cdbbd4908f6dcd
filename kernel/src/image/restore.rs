//! Restoring: a heap from a snapshot, word for word.
//!
//! The last whole snapshot gives the words; those after it, each of which names the one before,
//! change them.
//! INVARIANT: the words are walked and every reference and shape is checked, once, before anything
//! else sees the heap; what was written as bytes is never read as a value; memory stays within the
//! limits asked for.
//! It does not fill anything outside the heap, such as the machine's stack. Read next:
//! `image/shape.rs`.

mod check;
mod raw;
mod root;

use std::ops::Range;

pub(super) use self::raw::Raw;
use self::root::{Changes, Root};
use super::chunk::ChunkReader;
use super::code::{CodeReader, Decoded, HEADER, PAIR, REPEATED, unzigzag};
use super::columns::{ColumnsReader, RestoredWords};
use super::names::NamesReader;
use super::snapshot::CHANGES_MAX;
use super::{Chunk, ChunkName, CodeNames, ImageError};
use crate::heap::{FullSnapshot, Heap, LastSnapshot, Limits};
use crate::value::Value;

/// Makes the heap whose snapshot has this root; `fetch` finds the bytes of the other chunks, which
/// it must have compared with their names: what they cost to hash is a good part of what restoring
/// costs. Other bytes give another heap or an error, and a heap whose next snapshot lies.
///
/// # Errors
/// [`ImageError`].
pub fn restore(
    root: &Chunk,
    limits: Limits,
    fetch: &mut dyn FnMut(ChunkName) -> Option<Vec<u8>>,
    code: &dyn CodeNames,
) -> Result<Heap, ImageError> {
    if ChunkName::of(&root.bytes) != root.name {
        return Err(ImageError::WrongName(root.name));
    }
    let mut find = |name: [u8; 32]| {
        let name = ChunkName(name);
        let bytes = fetch(name).ok_or(ImageError::MissingChunk(name))?;
        Ok(Chunk { name, bytes })
    };
    let mut roots = vec![root.clone()];
    while let Some(previous) = root::previous(&roots[roots.len() - 1])? {
        if roots.len() > CHANGES_MAX as usize {
            return Err(ImageError::TooManyChanges);
        }
        roots.push(find(previous)?);
    }
    let newest = Root::read(root, limits, code)?;
    let mut restoring = Restoring {
        newest_length: newest.length,
        ..Restoring::default()
    };
    let mut stored: Option<LastSnapshot> = None;
    while let Some(chunk) = roots.pop() {
        let mut read = Root::read(&chunk, limits, code)?;
        restoring.length = read.length;
        let length_bytes = chunk.bytes.len() as u64;
        match (read.changes.take(), &mut stored) {
            (None, None) => {
                let whole = restoring.whole(&read, &mut find, code)?;
                stored = Some(LastSnapshot::new(chunk.name.0, whole, read.length));
            }
            (Some(changes), Some(stored)) => {
                restoring.change(changes, stored)?;
                stored.add_changes(chunk.name.0, length_bytes, read.length);
            }
            (None, Some(_)) | (Some(_), None) => return Err(ImageError::WrongShape(None)),
        }
    }
    let Some(stored) = stored else {
        return Err(ImageError::WrongShape(None));
    };
    let words_live = newest.words_live.min(newest.length);
    let mut heap = Heap::from_words(limits, restoring.words, newest.registers, words_live)?;
    let tables = check::check(&heap, code, &restoring.raw)?;
    heap.outdate_identity_indexes(tables.into_iter());
    heap.record_snapshot(stored);
    Ok(heap)
}

#[derive(Default)]
struct Restoring {
    words: Vec<u64>,
    raw: Raw,
    /// How many words the heap has after the snapshot that is being read, and after the newest.
    length: usize,
    newest_length: usize,
}

impl Restoring {
    /// Reads the words of a whole snapshot.
    fn whole(
        &mut self,
        root: &Root<'_>,
        find: &mut dyn FnMut([u8; 32]) -> Result<Chunk, ImageError>,
        code: &dyn CodeNames,
    ) -> Result<FullSnapshot, ImageError> {
        let Root {
            chunk_names,
            range_words,
            ..
        } = root;
        let range_words = *range_words;
        let length = self.length.min(chunk_names.len().saturating_mul(range_words));
        // So that it need not move for what changes add, unless they say that they add very much.
        let room = self.newest_length.clamp(length, length + length / 2);
        self.words = Vec::with_capacity(Heap::room_for(room));
        let mut chunks = Vec::with_capacity(chunk_names.len());
        for &name in chunk_names {
            let chunk = find(name)?;
            chunks.push((name, chunk.bytes.len() as u32));
            let end = (self.words.len() + range_words).min(self.length);
            self.columns(&chunk, end, code)?;
        }
        if self.words.len() != self.length {
            return Err(ImageError::WrongShape(None));
        }
        Ok(FullSnapshot { range_words, chunks })
    }

    /// Replaces words, and puts objects behind those that stay.
    fn change(&mut self, changes: Changes<'_>, stored: &mut LastSnapshot) -> Result<(), ImageError> {
        let Changes { kept, mut code, names } = changes;
        if kept > self.words.len().min(self.length) || kept % 2 != 0 {
            return Err(code.malformed("the changes of the snapshot before"));
        }
        self.words.truncate(kept);
        self.raw.clear_from(kept);
        stored.keep(kept);
        let mut place: usize = 0;
        for _ in 0..code.count(3)? {
            let (passed, run) = (code.varint()?, code.varint()?);
            let count = usize::try_from(run / 2).ok().filter(|&count| count > 0);
            let start = usize::try_from(passed)
                .ok()
                .and_then(|passed| place.checked_add(passed));
            let end = start.zip(count).and_then(|(start, count)| start.checked_add(count));
            let (Some(start), Some(end)) = (start, end.filter(|&end| end <= kept)) else {
                return Err(code.malformed("changed words among those that stay"));
            };
            self.replace(&mut code, start..end, run % 2 != 0, &names)?;
            stored.outdate(start..end);
            place = end;
        }
        self.objects(&mut code, &names)?;
        if code.is_at_end() {
            Ok(())
        } else {
            Err(code.malformed("the end of the changes"))
        }
    }

    fn replace(
        &mut self,
        code: &mut CodeReader<'_>,
        range: Range<usize>,
        is_raw: bool,
        names: &NamesReader<'_>,
    ) -> Result<(), ImageError> {
        if is_raw {
            let length = range.len().checked_mul(8).ok_or(ImageError::HeapFull)?;
            let bytes = code.raw(length)?;
            bytemuck::cast_slice_mut(&mut self.words[range.clone()]).copy_from_slice(bytes);
            self.raw.set(range);
            return Ok(());
        }
        for place in range {
            self.words[place] = match code.passes(HEADER) {
                true => code.header()?.to_value().to_bits(),
                false => word_at(code, place, self.length, names)?.to_bits(),
            };
            self.raw.clear(place);
        }
        Ok(())
    }

    /// Reads the chunk of the words up to `end`.
    fn columns(&mut self, chunk: &Chunk, end: usize, code: &dyn CodeNames) -> Result<(), ImageError> {
        let mut reader = ChunkReader::new(chunk)?;
        reader.record(&["columns"])?;
        let kinds = reader.bytes()?;
        let bytes = CodeReader::new(reader.bytes()?, reader.chunk());
        let names = NamesReader::read(&mut reader, code)?;
        reader.finish()?;
        let mut restored = RestoredWords {
            words: &mut self.words,
            raw: &mut self.raw,
            length: self.length,
        };
        ColumnsReader::new(kinds, bytes).read(&mut restored, end, &names)
    }

    /// Reads objects up to the end of the heap.
    fn objects(&mut self, code: &mut CodeReader<'_>, names: &NamesReader<'_>) -> Result<(), ImageError> {
        while self.words.len() < self.length {
            let room = self.length - self.words.len();
            if room >= 2 && code.passes(PAIR) {
                self.value(code, names)?;
                self.value(code, names)?;
            } else {
                self.object(code, room, names)?;
            }
        }
        Ok(())
    }

    /// Reads an object other than a pair, which has at most `room` words.
    fn object(&mut self, code: &mut CodeReader<'_>, room: usize, names: &NamesReader<'_>) -> Result<(), ImageError> {
        let header = code.header()?;
        if header.object_words() > room {
            return Err(code.malformed("an object that fits into the heap"));
        }
        self.words.push(header.to_value().to_bits());
        let count = header.object_words() - 1;
        if header.kind.is_raw() {
            let bytes = code.raw(header.length as usize)?;
            self.bytes(bytes, count);
        } else {
            self.values(code, count, names)?;
        }
        Ok(())
    }

    /// Puts bytes into the next `count` words.
    fn bytes(&mut self, bytes: &[u8], count: usize) {
        let start = self.words.len();
        self.raw.set(start..start + count);
        let (whole, rest) = bytes.as_chunks();
        for bytes in whole {
            self.words.push(u64::from_le_bytes(*bytes));
        }
        if !rest.is_empty() {
            let last = rest.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
            self.words.push(last);
        }
        if self.words.len() < start + count {
            self.words.resize(start + count, 0);
        }
    }

    /// Reads the next `count` words, which are values.
    fn values(&mut self, code: &mut CodeReader<'_>, count: usize, names: &NamesReader<'_>) -> Result<(), ImageError> {
        let end = self.words.len() + count;
        while self.words.len() < end {
            let word = self.value(code, names)?;
            // A reference is never said to be repeated.
            if word.is_reference() || !code.passes(REPEATED) {
                continue;
            }
            let repeated = code.varint()?;
            let repeated = usize::try_from(repeated)
                .ok()
                .filter(|&repeated| repeated <= end - self.words.len());
            let repeated = repeated.ok_or_else(|| code.malformed("as many words as the object has"))?;
            self.words.resize(self.words.len() + repeated, word.to_bits());
        }
        Ok(())
    }

    /// Reads the next word, which is a value.
    #[inline(always)]
    fn value(&mut self, code: &mut CodeReader<'_>, names: &NamesReader<'_>) -> Result<Value, ImageError> {
        let word = word_at(code, self.words.len(), self.length, names)?;
        self.words.push(word.to_bits());
        Ok(word)
    }
}

/// Reads the word that stands at `place` of a heap of `length` words.
#[inline(always)]
fn word_at(
    code: &mut CodeReader<'_>,
    place: usize,
    length: usize,
    names: &NamesReader<'_>,
) -> Result<Value, ImageError> {
    let number = match code.word(names)? {
        Decoded::Word(word) => return Ok(word),
        Decoded::Reference(number) => number,
    };
    // A third of a number leads to no overflow. What lies before the first word lies beyond the
    // last one too.
    let half = (place / 2) as i64 + unzigzag(number / 3);
    if half as u64 >= length.div_ceil(2) as u64 {
        return Err(ImageError::DanglingReference);
    }
    let index = half as usize * 2;
    Ok(match number % 3 {
        0 => Value::pair_at(index),
        1 => Value::procedure_at(index),
        _ => Value::object_at(index),
    })
}
