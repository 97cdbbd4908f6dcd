//! Restoring: a heap from a snapshot, word for word.
//!
//! INVARIANT: the words are walked and every reference and shape is checked before anything else sees the heap; memory stays within
//! the limits asked for.
//! It does not fill anything outside the heap, such as the machine's stack. Read next: `image/shape.rs`.

use super::code::{CodeReader, Decoded, unzigzag};
use super::freeze::{FLAGGED, PAIR};
use super::names::NamesReader;
use super::packed::PackedReader;
use super::shape::{do_chains_end, is_well_formed, may_be_field};
use super::snapshot::RANGE_WORDS;
use super::thaw::check_name;
use super::{Chunk, ChunkName, CodeNames, ImageError, VERSION};
use crate::heap::kind::extent;
use crate::heap::{Flags, Header, Heap, Kind, Limits, Register, lenient};
use crate::value::{Immediate, Value};

/// Makes the heap whose snapshot has this root; `fetch` finds the bytes of the other chunks, which it must have compared with their names: what they
/// cost to hash is a good part of what restoring costs. Other bytes give another heap or an error, and a heap whose next snapshot lies.
///
/// # Errors
/// [`ImageError`].
pub fn restore(
    root: &Chunk,
    limits: Limits,
    fetch: &mut dyn FnMut(ChunkName) -> Option<Vec<u8>>,
    code: &dyn CodeNames,
) -> Result<Heap, ImageError> {
    check_name(root)?;
    let mut reader = PackedReader::new(root);
    reader.record("heap")?;
    match reader.integer()? {
        VERSION => {}
        version => return Err(ImageError::UnknownVersion(version)),
    }
    let length = usize::try_from(reader.integer()?)
        .ok()
        .filter(|&length| length <= lenient(limits.bytes_max / 8));
    let length = length.ok_or(ImageError::HeapFull)?;
    let words_live = usize::try_from(reader.integer()?).map_err(|_| ImageError::HeapFull)?;
    let mut register_code = CodeReader::new(reader.bytes()?, reader.chunk());
    let names = NamesReader::read(&mut reader, code)?;
    let mut registers = [Value::FALSE; Register::COUNT];
    for register in &mut registers {
        *register = word_at(&mut register_code, 0, length, &names)?;
    }
    let mut chunk_names = Vec::new();
    reader.sequence()?;
    while !reader.is_at_end() {
        chunk_names.push(reader.hash()?);
    }
    reader.end()?;
    reader.end()?;
    reader.finish()?;
    let mut restoring = Restoring {
        words: Vec::with_capacity(Heap::room_for(length.min(chunk_names.len() * RANGE_WORDS))),
        length,
        open: None,
    };
    for &name in &chunk_names {
        let name = ChunkName(name);
        let bytes = fetch(name).ok_or(ImageError::MissingChunk(name))?;
        restoring.chunk(&Chunk { name, bytes }, code)?;
    }
    if restoring.words.len() != length || restoring.open.is_some() || !register_code.is_at_end() {
        return Err(ImageError::WrongShape(None));
    }
    let mut heap = Heap::from_words(limits, restoring.words, registers, words_live.min(length))?;
    let tables = check(&heap, code)?;
    heap.outdate_places(tables.into_iter());
    heap.record_snapshot(chunk_names);
    Ok(heap)
}

/// An object that the words so far do not end.
struct Open {
    is_raw: bool,
    /// Words still to come, padding included.
    words_left: usize,
    /// For a raw object, the bytes still to come.
    bytes_left: usize,
}

struct Restoring {
    words: Vec<u64>,
    /// How many words the heap has in the end.
    length: usize,
    open: Option<Open>,
}

impl Restoring {
    fn chunk(&mut self, chunk: &Chunk, code: &dyn CodeNames) -> Result<(), ImageError> {
        let mut reader = PackedReader::new(chunk);
        reader.record("words")?;
        let mut encoding = CodeReader::new(reader.bytes()?, reader.chunk());
        let names = NamesReader::read(&mut reader, code)?;
        reader.end()?;
        reader.finish()?;
        let end = (self.words.len() + RANGE_WORDS).min(self.length);
        self.continued(&mut encoding, end, &names)?;
        while self.words.len() < end {
            self.object(&mut encoding, end, &names)?;
        }
        if encoding.is_at_end() {
            Ok(())
        } else {
            Err(encoding.malformed("the end of the range"))
        }
    }

    fn continued(&mut self, code: &mut CodeReader<'_>, end: usize, names: &NamesReader<'_>) -> Result<(), ImageError> {
        let count = code.varint()?;
        let open = self.open.take();
        let expected = open
            .as_ref()
            .map_or(0, |open| open.words_left.min(end - self.words.len()));
        if count != expected as u64 {
            return Err(code.malformed("the rest of the object before"));
        }
        let Some(open) = open else { return Ok(()) };
        if code.byte()? != u8::from(open.is_raw) {
            return Err(code.malformed("the layout of the object before"));
        }
        if open.is_raw && code.varint()? != open.bytes_left.min(expected * 8) as u64 {
            return Err(code.malformed("the bytes left of the object before"));
        }
        self.payload(code, open, end, names)
    }

    fn object(&mut self, code: &mut CodeReader<'_>, end: usize, names: &NamesReader<'_>) -> Result<(), ImageError> {
        let first = code.byte()?;
        if first == PAIR {
            let open = Open {
                is_raw: false,
                words_left: 2,
                bytes_left: 0,
            };
            return self.payload(code, open, end, names);
        }
        let kind = Kind::from_code(first & !FLAGGED).ok_or(code.malformed("a kind of object"))?;
        let flags = if first & FLAGGED == 0 {
            Ok(0)
        } else {
            u16::try_from(code.varint()?)
        };
        let length = u32::try_from(code.varint()?);
        let (Ok(flags), Ok(length)) = (flags, length) else {
            return Err(code.malformed("flags and length"));
        };
        let header = Header {
            kind,
            flags: Flags::from_bits(flags),
            length,
        };
        self.words.push(header.to_value().to_bits());
        let bytes_left = if kind.is_raw() { length as usize } else { 0 };
        let open = Open {
            is_raw: kind.is_raw(),
            words_left: header.object_words() - 1,
            bytes_left,
        };
        self.payload(code, open, end, names)
    }

    /// Reads the words of an object up to `end`; what is left stays open.
    fn payload(
        &mut self,
        code: &mut CodeReader<'_>,
        mut open: Open,
        end: usize,
        names: &NamesReader<'_>,
    ) -> Result<(), ImageError> {
        let count = open.words_left.min(end - self.words.len());
        if open.is_raw {
            let bytes = code.raw(open.bytes_left.min(count * 8))?;
            let start = self.words.len();
            self.words.resize(start + count, 0);
            bytemuck::cast_slice_mut(&mut self.words[start..])[..bytes.len()].copy_from_slice(bytes);
            open.bytes_left -= bytes.len();
        } else {
            for _ in 0..count {
                let word = word_at(code, self.words.len(), self.length, names)?;
                self.words.push(word.to_bits());
            }
        }
        open.words_left -= count;
        self.open = (open.words_left > 0).then_some(open);
        Ok(())
    }
}

/// Reads the word that stands at `place` of a heap of `length` words.
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
    let half = ((place / 2) as i64).checked_add(unzigzag(number / 3));
    let index = half
        .and_then(|half| usize::try_from(half).ok())
        .and_then(|half| half.checked_mul(2));
    let index = index
        .filter(|&index| index < length)
        .ok_or(ImageError::DanglingReference)?;
    Ok(match number % 3 {
        0 => Value::pair_at(index),
        1 => Value::procedure_at(index),
        _ => Value::object_at(index),
    })
}

/// Checks every reference, then every shape; returns the dictionaries and sets.
fn check(heap: &Heap, code: &dyn CodeNames) -> Result<Vec<Value>, ImageError> {
    let words = heap.old_words();
    let mut starts = vec![false; words.len().div_ceil(2)];
    let mut objects = Vec::new();
    let mut index = 0;
    while index < words.len() {
        starts[index / 2] = true;
        objects.push(reference_to(words, index));
        index += extent(Value::from_bits(words[index]));
    }
    let is_sound =
        |word: Value| !word.is_reference() || starts[word.index() / 2] && reference_to(words, word.index()) == word;
    let are_sound = |object: Value| match heap.header(object) {
        Some(header) if header.kind.is_raw() => true,
        Some(_) => heap
            .field_words(object)
            .iter()
            .all(|&word| is_sound(Value::from_bits(word))),
        None => is_sound(heap.car(object)) && is_sound(heap.cdr(object)),
    };
    let registers = || Register::ALL.iter().map(|&register| heap.register(register));
    if !objects.iter().all(|&object| are_sound(object)) || !registers().all(is_sound) {
        return Err(ImageError::DanglingReference);
    }
    if let Some(&object) = objects.iter().find(|&&object| !is_well_formed(heap, code, object)) {
        return Err(ImageError::WrongShape(heap.kind_of(object)));
    }
    let has_sound_registers = registers().all(may_be_field) && heap.has_sound_registers();
    if has_sound_registers && do_chains_end(heap, objects.iter().copied()) {
        let is_table = |object: &Value| matches!(heap.kind_of(*object), Some(Kind::Dictionary | Kind::Set));
        objects.retain(is_table);
        Ok(objects)
    } else {
        Err(ImageError::WrongShape(None))
    }
}

/// The reference that fits the object at `index`.
fn reference_to(words: &[u64], index: usize) -> Value {
    let first_word = Value::from_bits(words[index]);
    match Header::from_value(first_word) {
        Some(header) if header.kind.is_procedure() => Value::procedure_at(index),
        Some(_) => Value::object_at(index),
        None => {
            debug_assert!(!first_word.is_immediate(Immediate::Header));
            Value::pair_at(index)
        }
    }
}
