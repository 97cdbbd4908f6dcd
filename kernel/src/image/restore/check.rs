//! Whether restored words are a heap.
//!
//! INVARIANT: what passes can be walked, collected and run.
//! It does not read chunks. Read next: `image/shape.rs`.

use super::super::shape::{do_chains_end, is_characters, is_sound_raw, is_well_formed, may_be_field};
use super::Raw;
use crate::heap::kind::{extent, is_raw_header};
use crate::heap::{Header, Heap, Kind, Register};
use crate::image::{CodeNames, ImageError};
use crate::value::{Immediate, Value};

/// Checks every reference, then every shape, and that no word that was written as bytes is read otherwise; returns the dictionaries and sets.
pub(super) fn check(heap: &Heap, code: &dyn CodeNames, raw: &Raw) -> Result<Vec<Value>, ImageError> {
    let mut starts = Starts::find(heap.old_words(), raw)?;
    let registers = || Register::ALL.iter().map(|&register| heap.register(register));
    if !registers().all(|word| starts.are_sound_for(word)) {
        return Err(ImageError::DanglingReference);
    }
    starts.hide_tables(heap)?;
    let others = Register::ALL.iter().filter(|register| !TABLES.contains(register));
    if !others
        .map(|&register| heap.register(register))
        .all(|word| starts.are_sound_for(word))
    {
        return Err(ImageError::DanglingReference);
    }
    let shapes = check_references(heap, &starts)?;
    // Shapes are looked at once every reference is known to lead somewhere, except those that follow from the fields.
    let (mut tables, mut segments) = (Vec::new(), Vec::new());
    for object in shapes {
        let kind = heap.kind_of(object);
        if !is_well_formed(heap, code, object) {
            return Err(ImageError::WrongShape(kind));
        }
        match kind {
            Some(Kind::Dictionary | Kind::Set) => tables.push(object),
            Some(Kind::Link | Kind::PromptLink) => segments.push(object),
            _ => {}
        }
    }
    let has_sound_registers = registers().all(may_be_field) && heap.has_sound_registers();
    if has_sound_registers && do_chains_end(heap, segments.into_iter()) {
        Ok(tables)
    } else {
        Err(ImageError::WrongShape(None))
    }
}

/// The registers of tables whose elements the kernel writes and trusts. Nothing but its register refers to such a table: through anything else a program could write to it.
const TABLES: [Register; 4] = [
    Register::Globals,
    Register::Constants,
    Register::Symbols,
    Register::HostRoots,
];

/// The tag of a reference to a pair.
const PAIR: u8 = Value::pair_at(0).tag();

/// For each two words the tag of a reference to the object that begins there, or 0.
struct Starts(Vec<u8>);

impl Starts {
    /// Walks the words. All that were written as bytes must lie in objects of bytes.
    fn find(words: &[u64], raw: &Raw) -> Result<Starts, ImageError> {
        let mut starts = vec![0; words.len().div_ceil(2)];
        let mut bytes_left = raw.count();
        let mut index = 0;
        while let Some(&first) = words.get(index) {
            let first = Value::from_bits(first);
            if !first.is_immediate(Immediate::Header) {
                starts[index / 2] = PAIR;
                index += 2;
                continue;
            }
            let next = index + extent(first);
            if next > words.len() {
                return Err(ImageError::WrongShape(None));
            }
            if is_raw_header(first) {
                bytes_left -= raw.count_within(index + 1..next);
            }
            starts[index / 2] = reference_to(Header::from_value(first), index).tag();
            index = next;
        }
        match index == words.len() && bytes_left == 0 {
            true => Ok(Starts(starts)),
            false => Err(ImageError::WrongShape(None)),
        }
    }

    /// Makes references to the [`TABLES`] unsound, each of which must be another object.
    fn hide_tables(&mut self, heap: &Heap) -> Result<(), ImageError> {
        for register in TABLES {
            let table = heap.register(register);
            if table.is_reference() {
                if !self.are_sound_for(table) {
                    return Err(ImageError::WrongShape(heap.kind_of(table)));
                }
                self.0[table.index() / 2] = 0;
            }
        }
        Ok(())
    }

    /// Whether `word` may stand in a field of an ordinary object.
    #[inline(always)]
    fn are_sound_for_field(&self, word: Value) -> bool {
        // Most words of large vectors.
        if word.is_fixnum() {
            true
        } else if word.is_reference() {
            self.are_sound_for(word)
        } else {
            may_be_field(word)
        }
    }

    /// Says what is wrong with fields of which one is not sound.
    #[cold]
    fn fault(&self, kind: Option<Kind>, fields: &[u64]) -> ImageError {
        match fields.iter().all(|word| self.are_sound_for(Value::from_bits(*word))) {
            true => ImageError::WrongShape(kind),
            false => ImageError::DanglingReference,
        }
    }

    /// Whether `word` is no reference, or leads to the beginning of an object that fits it.
    #[inline(always)]
    fn are_sound_for(&self, word: Value) -> bool {
        !word.is_reference() || self.0.get(word.index() / 2) == Some(&word.tag())
    }
}

/// Walks the words once more, and looks at every field of each object; returns the objects whose shape follows from more than their fields.
fn check_references(heap: &Heap, starts: &Starts) -> Result<Vec<Value>, ImageError> {
    let words = heap.old_words();
    let is_sound_field = |word: &u64| starts.are_sound_for_field(Value::from_bits(*word));
    let mut shapes = Vec::new();
    let mut index = 0;
    while index < words.len() {
        let first = Value::from_bits(words[index]);
        let Some(header) = Header::from_value(first) else {
            let fields = &words[index..index + 2];
            if !(is_sound_field(&fields[0]) && is_sound_field(&fields[1])) {
                return Err(starts.fault(None, fields));
            }
            index += 2;
            continue;
        };
        let Header { kind, length, .. } = header;
        let next = index + extent(first);
        let fields = match kind.is_raw() {
            true => &[],
            false => &words[index + 1..][..length as usize],
        };
        let are_sound = match kind == Kind::Vector {
            true => fields.iter().all(is_sound_field),
            false => fields.iter().all(|word| starts.are_sound_for(Value::from_bits(*word))),
        };
        if !are_sound {
            return Err(starts.fault(Some(kind), fields));
        }
        let object = reference_to(Some(header), index);
        if !is_known_well_formed(heap, object, header, fields, &mut shapes) {
            return Err(ImageError::WrongShape(Some(kind)));
        }
        index = next;
    }
    Ok(shapes)
}

/// Whether an object has the shape of its kind, as far as that is known by now, as it is of most objects of most heaps; the others are put among `shapes`.
#[inline(always)]
fn is_known_well_formed(heap: &Heap, object: Value, header: Header, fields: &[u64], shapes: &mut Vec<Value>) -> bool {
    let Header { kind, length, .. } = header;
    if kind == Kind::String {
        return length == 1 && is_characters(heap, Value::from_bits(fields[0]));
    }
    if kind.is_raw() {
        return is_sound_raw(heap, object, kind);
    }
    if kind != Kind::Vector {
        shapes.push(object);
    }
    true
}

/// The reference that fits the object at `index`.
#[inline(always)]
fn reference_to(header: Option<Header>, index: usize) -> Value {
    match header {
        Some(header) if header.kind.is_procedure() => Value::procedure_at(index),
        Some(_) => Value::object_at(index),
        None => Value::pair_at(index),
    }
}
