//! The graph that some values reach, as bytes that do not depend on where its objects lie.
//!
//! Objects are numbered in the order in which the code first refers to them, breadth first from the
//! roots, and written in that order. A reference is the distance back from the last number given,
//! and 0 stands for an object not met before. One object is its kind code (0 for a pair; bit 5 set
//! when flags follow), then
//!
//! * pair: two words;
//! * string: the text, as a count and bytes;
//! * symbol, keyword: the name likewise, then whether it is the one that the table has (1);
//! * dictionary, set: count, whether hashes follow (1) or can be computed (0), then per entry key,
//!   value if a dictionary, hash if so;
//! * raw kinds: count and bytes;
//! * other kinds: count and words.
//!
//! The names of code that the words refer to stand behind the objects.
//! INVARIANT: the bytes depend on the graph alone; two graphs with the same bytes are alike.
//! Nothing reads the bytes: they are hashed. Read next: `image/instance.rs`.

use super::code::{CodeWriter, FLAGGED, PAIR};
use super::names::NamesWriter;
use super::{CodeNames, ImageError, write_chunk};
use crate::heap::kind::{Sameness, record_type};
use crate::heap::{Flags, Heap, Kind, LiveRegisters, clear_dead_words};
use crate::value::Value;

/// Writes everything that `roots` reach.
///
/// # Errors
/// [`ImageError::UnnamedCode`] if a closure or frame refers to code that `code` cannot name.
pub(super) fn graph(heap: &Heap, roots: &[Value], code: &dyn CodeNames) -> Result<Vec<u8>, ImageError> {
    let writer = write(heap, roots, code)?;
    let (bytes, names) = (writer.code.finish(), writer.names);
    let chunk = write_chunk("graph", |out| {
        out.byte_string(&bytes);
        names.write(out);
    });
    Ok(chunk.bytes)
}

/// Lists all objects that `roots` reach, in the order of their numbers.
///
/// # Errors
/// As [`graph`].
pub(super) fn objects(heap: &Heap, roots: &[Value], code: &dyn CodeNames) -> Result<Vec<Value>, ImageError> {
    Ok(write(heap, roots, code)?.objects)
}

fn write<'a>(heap: &'a Heap, roots: &[Value], code: &'a dyn CodeNames) -> Result<GraphWriter<'a>, ImageError> {
    let mut writer = GraphWriter {
        heap,
        live: code,
        names: NamesWriter::new(code),
        numbers: vec![0; heap.statistics().words_used / 2],
        objects: Vec::new(),
        code: CodeWriter::default(),
    };
    writer.code.varint(roots.len() as u64);
    for &root in roots {
        writer.word(root)?;
    }
    let mut next = 0;
    while let Some(&object) = writer.objects.get(next) {
        writer.object(object)?;
        next += 1;
    }
    Ok(writer)
}

struct GraphWriter<'a> {
    heap: &'a Heap,
    live: &'a dyn LiveRegisters,
    names: NamesWriter<'a>,
    /// For every second word of the heap, one more than the number of its object, or 0 if it was
    /// not met. Only touched pages of it take memory.
    numbers: Vec<u32>,
    /// The objects met, by number.
    objects: Vec<Value>,
    code: CodeWriter,
}

impl GraphWriter<'_> {
    fn object(&mut self, object: Value) -> Result<(), ImageError> {
        let heap = self.heap;
        let Some(header) = heap.header(object) else {
            self.code.byte(PAIR);
            self.word(heap.car(object))?;
            return self.word(heap.cdr(object));
        };
        if header.flags == Flags::NONE {
            self.code.byte(header.kind.code());
        } else {
            self.code.byte(header.kind.code() | FLAGGED);
            self.code.varint(header.flags.bits().into());
        }
        if header.kind.is_raw() {
            self.bytes(heap.raw_bytes(object));
            return Ok(());
        }
        match header.kind.sameness() {
            Sameness::Text => self.bytes(heap.string_text(object).as_bytes()),
            Sameness::Name => {
                self.bytes(heap.symbol_name(object).as_bytes());
                self.code.byte(heap.is_interned(object).into());
            }
            Sameness::Table => self.table(object)?,
            Sameness::Identity | Sameness::Parts | Sameness::Record if header.kind == Kind::Frames => {
                self.frames(object)?;
            }
            Sameness::Identity | Sameness::Parts | Sameness::Record => self.fields(object, header.kind)?,
            Sameness::Number | Sameness::Numbers | Sameness::Bytes => self.fields(object, header.kind)?,
        }
        Ok(())
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.code.varint(bytes.len() as u64);
        self.code.raw(bytes);
    }

    fn fields(&mut self, object: Value, kind: Kind) -> Result<(), ImageError> {
        let words = self.heap.field_words(object);
        self.code.varint(words.len() as u64);
        for (field, &word) in words.iter().enumerate() {
            // Serial numbers differ between heaps that are alike.
            let is_serial = kind == Kind::RecordType && field == record_type::SERIAL;
            self.word(if is_serial { Value::ZERO } else { Value::from_bits(word) })?;
        }
        Ok(())
    }

    /// Writes frames without their dead registers, because what those hold depends on when the heap
    /// was collected.
    fn frames(&mut self, frames: Value) -> Result<(), ImageError> {
        let mut words = self.heap.field_words(frames).to_vec();
        clear_dead_words(&mut words, self.live);
        self.code.varint(words.len() as u64);
        words.into_iter().try_for_each(|word| self.word(Value::from_bits(word)))
    }

    fn table(&mut self, table: Value) -> Result<(), ImageError> {
        let heap = self.heap;
        let entries = || {
            std::iter::successors(heap.table_next(table, 0), |entry| {
                heap.table_next(table, entry.ordinal + 1)
            })
        };
        let has_hashes = !heap.is_by_identity(table) && !entries().all(|entry| is_atom(heap, entry.key));
        self.code.varint(heap.table_count(table) as u64);
        self.code.byte(has_hashes.into());
        for entry in entries() {
            self.word(entry.key)?;
            if heap.is_kind(table, Kind::Dictionary) {
                self.word(entry.value)?;
            }
            if has_hashes {
                self.code
                    .varint(heap.entry_hash(table, entry.ordinal).as_fixnum().unwrap_or(0) as u64);
            }
        }
        Ok(())
    }

    fn word(&mut self, word: Value) -> Result<(), ImageError> {
        if !word.is_reference() {
            return self.code.word(word, &mut self.names);
        }
        let met = self.objects.len() as u64;
        match self.numbers[word.index() / 2] {
            0 => {
                self.objects.push(word);
                self.numbers[word.index() / 2] = met as u32 + 1;
                self.code.reference(0);
            }
            number => self.code.reference(met + 1 - u64::from(number)),
        }
        Ok(())
    }
}

/// Whether the hash of a key depends on no other object of the graph.
fn is_atom(heap: &Heap, key: Value) -> bool {
    match heap.kind_of(key).map(Kind::sameness) {
        Some(Sameness::Name | Sameness::Number | Sameness::Numbers | Sameness::Text | Sameness::Bytes) => true,
        Some(Sameness::Identity | Sameness::Parts | Sameness::Record | Sameness::Table) => false,
        None => !key.is_pair(),
    }
}
