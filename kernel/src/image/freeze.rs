//! Freezing: the graph reachable from some values, in chunks.
//!
//! Objects are numbered in the order in which the code first refers to them, breadth first from the roots, and written in that order.
//! A reference is the distance back from the last number given, and 0 stands for an object not met before; so equal subgraphs mostly
//! have equal code wherever they stand. One object is: its kind code (0 for a pair; bit 5 set when flags follow), then
//!
//! * pair: two words;
//! * string, symbol, keyword: nothing, the text is the next of the chunk's texts;
//! * dictionary, set: count, whether hashes follow (1) or can be computed (0), then per entry key, value if a dictionary, hash if so;
//! * raw kinds: count and bytes;
//! * other kinds: count and words.
//!
//! Root chunk: `<image version #[roots] [unit…] [primitive…] [chunk…]>`, other chunks: `<objects #[code] [text…]>`; an only chunk
//! stands in the root's list itself, several are listed by name.
//! INVARIANT: the bytes depend on the graph alone, not on where its objects lie.
//! It does not write the heap's registers or anything the values do not reach. Read next: `image/thaw.rs`.

use super::code::CodeWriter;
use super::names::NamesWriter;
use super::packed::PackedWriter;
use super::{Chunk, CodeNames, Image, ImageError, VERSION};
use crate::heap::kind::{Sameness, record_type};
use crate::heap::{Flags, Heap, Kind, LiveRegisters, clear_dead_words};
use crate::value::Value;

/// The kind code of a pair.
pub(super) const PAIR: u8 = 0;
/// Set in a kind code when flags follow.
pub(super) const FLAGGED: u8 = 0x20;

/// How the content of an object is written.
pub(super) enum Framing {
    /// As a string among the texts.
    String,
    /// As a symbol among the texts.
    Name,
    /// As entries.
    Table,
    /// As a count and bytes.
    Bytes,
    /// As a count and words.
    Words,
}

impl Framing {
    /// How objects of `kind` are written.
    pub(super) fn of(kind: Kind) -> Framing {
        if kind.is_raw() {
            return Framing::Bytes;
        }
        match kind.sameness() {
            Sameness::Text => Framing::String,
            Sameness::Name => Framing::Name,
            Sameness::Table => Framing::Table,
            Sameness::Identity | Sameness::Parts | Sameness::Record => Framing::Words,
            Sameness::Number | Sameness::Numbers | Sameness::Bytes => Framing::Words,
        }
    }
}

/// A chunk ends after this many objects, so that a change of one leaves the others' boundaries alone.
const CHUNK_OBJECTS: usize = 256;
/// A chunk ends, too, at the first object that brings it beyond this.
const CHUNK_BYTES: usize = 16 * 1024;

/// Freezes everything that `roots` reach.
///
/// # Errors
/// [`ImageError::UnnamedCode`] if a closure or frame refers to code that `code` cannot name.
pub fn freeze(heap: &Heap, roots: &[Value], code: &dyn CodeNames) -> Result<Image, ImageError> {
    let mut freezing = Freezing {
        heap,
        live: code,
        names: NamesWriter::new(code),
        numbers: vec![0; heap.statistics().words_used / 2],
        objects: Vec::new(),
        code: CodeWriter::default(),
        texts: PackedWriter::default(),
    };
    freezing.code.varint(roots.len() as u64);
    for &root in roots {
        freezing.word(root)?;
    }
    let root_code = std::mem::take(&mut freezing.code).finish();
    let chunks = freezing.chunks()?;
    let mut writer = PackedWriter::default();
    writer.record("image");
    writer.integer(VERSION);
    writer.bytes(&root_code);
    freezing.names.write(&mut writer);
    writer.sequence();
    let chunks: Vec<Chunk> = if let [only] = &chunks[..] {
        writer.packed(only);
        Vec::new()
    } else {
        chunks.into_iter().map(Chunk::new).collect()
    };
    chunks.iter().for_each(|chunk| writer.bytes(&chunk.name.0));
    writer.end();
    writer.end();
    Ok(Image {
        root: Chunk::new(writer.finish()),
        chunks,
    })
}

struct Freezing<'a> {
    heap: &'a Heap,
    live: &'a dyn LiveRegisters,
    names: NamesWriter<'a>,
    /// For every second word of the heap, one more than the number of its object, or 0 if it was not met. Only touched pages of it
    /// take memory.
    numbers: Vec<u32>,
    /// The objects met, by number.
    objects: Vec<Value>,
    code: CodeWriter,
    texts: PackedWriter,
}

impl Freezing<'_> {
    /// The packed chunks of all objects met and to be met.
    fn chunks(&mut self) -> Result<Vec<Vec<u8>>, ImageError> {
        let mut chunks = Vec::new();
        let mut first = 0;
        let mut next = 0;
        while next < self.objects.len() {
            self.object(self.objects[next])?;
            next += 1;
            let is_full = next - first == CHUNK_OBJECTS || self.code.length_bytes() >= CHUNK_BYTES;
            if is_full || next == self.objects.len() {
                chunks.push(self.chunk());
                first = next;
            }
        }
        Ok(chunks)
    }

    fn chunk(&mut self) -> Vec<u8> {
        let mut writer = PackedWriter::default();
        writer.record("objects");
        writer.bytes(&std::mem::take(&mut self.code).finish());
        writer.sequence();
        writer.packed(&std::mem::take(&mut self.texts).finish());
        writer.end();
        writer.end();
        writer.finish()
    }

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
        match Framing::of(header.kind) {
            Framing::String => self.texts.string(&heap.string_text(object)),
            Framing::Name => self.texts.symbol(&heap.symbol_name(object)),
            Framing::Table => self.table(object)?,
            Framing::Bytes => {
                self.code.varint(header.length.into());
                self.code.raw(heap.raw_bytes(object));
            }
            Framing::Words if header.kind == Kind::Frames => self.frames(object)?,
            Framing::Words => {
                self.code.varint(header.length.into());
                for (field, &word) in heap.field_words(object).iter().enumerate() {
                    let is_serial = header.kind == Kind::RecordType && field == record_type::SERIAL;
                    self.word(if is_serial { Value::ZERO } else { Value::from_bits(word) })?;
                }
            }
        }
        Ok(())
    }

    /// Frames are written without what nobody will read, so that an image holds what its continuations can reach.
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

/// Whether the hash of a key depends on no other object that an image restores.
fn is_atom(heap: &Heap, key: Value) -> bool {
    match heap.kind_of(key).map(Kind::sameness) {
        Some(Sameness::Name | Sameness::Number | Sameness::Numbers | Sameness::Text | Sameness::Bytes) => true,
        Some(Sameness::Identity | Sameness::Parts | Sameness::Record | Sameness::Table) => false,
        None => !key.is_pair(),
    }
}
