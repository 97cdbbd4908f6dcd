//! Thawing: what `image/freeze.rs` wrote, into a heap.
//!
//! First every object is allocated and its words are decoded, then references are resolved, then tables are filled and shapes checked.
//! INVARIANT: no count is believed before as many bytes stand behind it, so memory stays proportional to the image.
//! It does not change existing objects, except that symbols may get their keywords; on an error what was allocated is garbage.
//! Read next: `image/shape.rs`.

use super::code::{CodeReader, Decoded};
use super::freeze::{FLAGGED, Framing, PAIR};
use super::names::NamesReader;
use super::packed::PackedReader;
use super::shape::{do_chains_end, is_well_formed, may_be_field};
use super::{Chunk, ChunkName, CodeNames, Image, ImageError, VERSION};
use crate::heap::kind::record_type;
use crate::heap::{Flags, Heap, Kind, Register};
use crate::value::Value;

/// Makes the frozen values anew in `heap` and returns them in the order in which they were given.
///
/// # Errors
/// [`ImageError`]; the heap then holds unreachable objects and is otherwise as it was.
pub fn thaw(image: &Image, heap: &mut Heap, code: &dyn CodeNames) -> Result<Vec<Value>, ImageError> {
    check_name(&image.root)?;
    let mut reader = PackedReader::new(&image.root);
    reader.record("image")?;
    match reader.integer()? {
        VERSION => {}
        version => return Err(ImageError::UnknownVersion(version)),
    }
    let mut root_code = CodeReader::new(reader.bytes()?, reader.chunk());
    let names = NamesReader::read(&mut reader, code)?;
    let mut thawing = Thawing {
        heap,
        code,
        names,
        objects: Vec::new(),
        words: Vec::new(),
        hashes: Vec::new(),
    };
    let root_count = thawing.roots(&mut root_code)?;
    reader.sequence()?;
    if reader.is_at_record() {
        thawing.chunk(&mut reader)?;
    }
    let mut chunks = image.chunks.iter();
    while !reader.is_at_end() {
        let name = ChunkName(reader.hash()?);
        let chunk = chunks
            .next()
            .filter(|chunk| chunk.name == name)
            .ok_or(ImageError::MissingChunk(name))?;
        check_name(chunk)?;
        let mut chunk_reader = PackedReader::new(chunk);
        thawing.chunk(&mut chunk_reader)?;
        chunk_reader.finish()?;
    }
    reader.end()?;
    reader.end()?;
    reader.finish()?;
    thawing.finish(root_count)
}

/// Checks that a chunk's bytes have the hash that names it.
pub(super) fn check_name(chunk: &Chunk) -> Result<(), ImageError> {
    if ChunkName::of(&chunk.bytes) == chunk.name {
        Ok(())
    } else {
        Err(ImageError::WrongName(chunk.name))
    }
}

/// An object whose words are decoded but not resolved.
struct Pending {
    object: Value,
    /// How many of the decoded words are its own.
    words: usize,
    /// For a table, how many hashes are its own.
    hashes: usize,
}

struct Thawing<'a> {
    heap: &'a mut Heap,
    code: &'a dyn CodeNames,
    names: NamesReader<'a>,
    /// The objects, by number.
    objects: Vec<Pending>,
    /// The words of the roots and then of all objects.
    words: Vec<Decoded>,
    hashes: Vec<u64>,
}

impl Thawing<'_> {
    fn roots(&mut self, code: &mut CodeReader<'_>) -> Result<usize, ImageError> {
        let count = code.count(1)?;
        self.take_words(code, count)?;
        if code.is_at_end() {
            Ok(count)
        } else {
            Err(code.malformed("nothing"))
        }
    }

    fn chunk(&mut self, reader: &mut PackedReader<'_>) -> Result<(), ImageError> {
        reader.record("objects")?;
        let mut code = CodeReader::new(reader.bytes()?, reader.chunk());
        reader.sequence()?;
        while !code.is_at_end() {
            let pending = self.object(&mut code, reader)?;
            self.objects.push(pending);
        }
        reader.end()?;
        reader.end()
    }

    fn object(&mut self, code: &mut CodeReader<'_>, texts: &mut PackedReader<'_>) -> Result<Pending, ImageError> {
        let first = code.byte()?;
        if first == PAIR {
            let object = self.heap.cons(Value::UNSPECIFIED, Value::UNSPECIFIED)?;
            self.take_words(code, 2)?;
            return Ok(Pending {
                object,
                words: 2,
                hashes: 0,
            });
        }
        let kind = Kind::from_code(first & !FLAGGED).ok_or(code.malformed("a kind of object"))?;
        let flags = if first & FLAGGED != 0 {
            self.flags(code)?
        } else {
            Flags::NONE
        };
        let without_words = |object: Value| Pending {
            object,
            words: 0,
            hashes: 0,
        };
        let pending = match Framing::of(kind) {
            Framing::String => without_words(self.heap.string(texts.string()?)?),
            Framing::Name => {
                let name = texts.symbol()?;
                let interned = if kind == Kind::Symbol {
                    self.heap.intern(name)?
                } else {
                    self.heap.keyword(name)?
                };
                return Ok(without_words(interned));
            }
            Framing::Table => self.table(kind, code)?,
            Framing::Bytes => {
                let count = code.count(1)?;
                without_words(self.heap.make_raw(kind, Flags::NONE, code.raw(count)?)?)
            }
            Framing::Words => {
                let words = code.count(1)?;
                let object = self.heap.allocate(kind, words)?;
                self.take_words(code, words)?;
                Pending {
                    object,
                    words,
                    hashes: 0,
                }
            }
        };
        self.heap.set_flags(pending.object, flags);
        Ok(pending)
    }

    fn flags(&self, code: &mut CodeReader<'_>) -> Result<Flags, ImageError> {
        let bits = u16::try_from(code.varint()?).ok().filter(|&bits| bits != 0);
        bits.map(Flags::from_bits).ok_or(code.malformed("flags"))
    }

    fn table(&mut self, kind: Kind, code: &mut CodeReader<'_>) -> Result<Pending, ImageError> {
        let is_dictionary = kind == Kind::Dictionary;
        let count = code.count(if is_dictionary { 2 } else { 1 })?;
        let has_hashes = match code.byte()? {
            0 => false,
            1 => true,
            _ => return Err(code.malformed("whether hashes follow")),
        };
        for _ in 0..count {
            self.take_words(code, if is_dictionary { 2 } else { 1 })?;
            if has_hashes {
                self.hashes.push(code.varint()?);
            }
        }
        let object = if is_dictionary {
            self.heap.make_dictionary()?
        } else {
            self.heap.make_set()?
        };
        let words = if is_dictionary { count * 2 } else { count };
        Ok(Pending {
            object,
            words,
            hashes: if has_hashes { count } else { 0 },
        })
    }

    fn take_words(&mut self, code: &mut CodeReader<'_>, count: usize) -> Result<(), ImageError> {
        for _ in 0..count {
            let word = code.word(&self.names)?;
            self.words.push(word);
        }
        Ok(())
    }

    fn finish(mut self, root_count: usize) -> Result<Vec<Value>, ImageError> {
        let words = self.resolved()?;
        let (roots, mut rest) = words.split_at(root_count);
        let objects = std::mem::take(&mut self.objects);
        let (mut hashes, mut tables) = (std::mem::take(&mut self.hashes).into_iter(), Vec::new());
        for &Pending { object, words, hashes } in &objects {
            let (own, others) = rest.split_at(words);
            rest = others;
            match self.heap.kind_of(object) {
                Some(Kind::Dictionary | Kind::Set) => tables.push((object, own, hashes)),
                _ => self.fill(object, own),
            }
        }
        for (table, own, hash_count) in tables {
            let hashes: Vec<u64> = hashes.by_ref().take(hash_count).collect();
            self.fill_table(table, own, &hashes)?;
        }
        let is_misshapen = |pending: &&Pending| !is_well_formed(self.heap, self.code, pending.object);
        if let Some(pending) = objects.iter().find(is_misshapen) {
            return Err(ImageError::WrongShape(self.heap.kind_of(pending.object)));
        }
        let do_chains_end = do_chains_end(self.heap, objects.iter().map(|pending| pending.object));
        if do_chains_end && roots.iter().all(|&root| may_be_field(root)) {
            Ok(roots.to_vec())
        } else {
            Err(ImageError::WrongShape(None))
        }
    }

    /// The decoded words with references resolved; every object must be referred to, in the order of their numbers.
    fn resolved(&mut self) -> Result<Vec<Value>, ImageError> {
        let mut met = 0;
        let mut words = Vec::with_capacity(self.words.len());
        for word in std::mem::take(&mut self.words) {
            words.push(match word {
                Decoded::Word(word) => word,
                Decoded::Reference(distance) => {
                    let number = usize::try_from(distance).ok().and_then(|distance| {
                        met += usize::from(distance == 0);
                        met.checked_sub(distance.max(1))
                    });
                    let pending = number.and_then(|number| self.objects.get(number));
                    pending.ok_or(ImageError::DanglingReference)?.object
                }
            });
        }
        if met == self.objects.len() {
            Ok(words)
        } else {
            Err(ImageError::DanglingReference)
        }
    }

    fn fill(&mut self, object: Value, words: &[Value]) {
        if object.is_pair() {
            self.heap.set_car(object, words[0]);
            self.heap.set_cdr(object, words[1]);
            return;
        }
        for (field, &word) in words.iter().enumerate() {
            self.heap.set_field(object, field, word);
        }
        if self.heap.is_kind(object, Kind::RecordType) && words.len() == record_type::LENGTH {
            let serial = self.heap.register(Register::RecordTypeSerial).as_fixnum().unwrap_or(0);
            self.heap
                .set_field(object, record_type::SERIAL, Value::length(serial as usize));
            self.heap
                .set_register(Register::RecordTypeSerial, Value::length(serial as usize + 1));
        }
    }

    fn fill_table(&mut self, table: Value, words: &[Value], hashes: &[u64]) -> Result<(), ImageError> {
        let is_dictionary = self.heap.is_kind(table, Kind::Dictionary);
        if !words.iter().all(|&word| may_be_field(word) && word != Value::ABSENT) {
            return Err(ImageError::WrongShape(self.heap.kind_of(table)));
        }
        let entries: Vec<(Value, Value)> = if is_dictionary {
            words.chunks_exact(2).map(|entry| (entry[0], entry[1])).collect()
        } else {
            words.iter().map(|&key| (key, key)).collect()
        };
        Ok(self.heap.fill_fresh_table(table, &entries, hashes)?)
    }
}
