//! Whether restored words are a heap.
//!
//! INVARIANT: what passes can be walked, collected and run.
//! It does not read chunks. Read next: `image/shape.rs`.

use super::super::shape::{do_chains_end, is_sound_raw, is_well_formed, may_be_field};
use super::Raw;
use crate::heap::{Header, Heap, Kind, Register};
use crate::image::{CodeNames, ImageError};
use crate::value::{Immediate, Value};

/// Checks every reference, then every shape, and that no word that was written as bytes is read
/// otherwise; returns the dictionaries and sets.
pub(super) fn check(heap: &Heap, code: &dyn CodeNames, raw: &Raw) -> Result<Vec<Value>, ImageError> {
    let (starts, shapes) = Starts::find(heap, raw)?;
    let registers = || Register::ALL.iter().map(|&register| heap.register(register));
    let others = Register::ALL.iter().filter(|register| !TABLES.contains(register));
    if !others
        .map(|&register| heap.register(register))
        .all(|word| starts.are_sound_for(word))
    {
        return Err(ImageError::DanglingReference);
    }
    // Shapes are looked at once every reference is known to lead somewhere, except those that
    // follow from the fields.
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

/// The registers of tables whose elements the kernel writes and trusts. Nothing but its register
/// refers to such a table: through anything else a program could write to it.
const TABLES: [Register; 4] = [
    Register::Globals,
    Register::Constants,
    Register::Symbols,
    Register::HostRoots,
];

/// The tag of a reference to a pair.
const PAIR: u8 = Value::pair_at(0).tag();
/// The tag of a reference to an object that is neither a pair nor a procedure.
const OBJECT: u8 = Value::object_at(0).tag();
/// Where a tag is in what is known of two words.
const TAG: u8 = 0b111;
/// Says, beside the tag, that an object of characters begins there.
const CHARACTERS: u8 = 0b1000;
/// One of the [`TABLES`] begins there: it fits no reference.
const TABLE: u8 = Value::NIL.tag();

/// For each two words what begins there, if an object does: the tag of references to it, and
/// [`CHARACTERS`]; or [`TABLE`].
///
/// One walk checks the words. Before `walked` it has found every object; after it, the references
/// so far say which objects must begin there, and the walk finds whether they do.
struct Starts {
    begins: Vec<u8>,
    /// Two words each.
    walked: usize,
}

impl Starts {
    /// Walks the words; returns with what it finds the objects whose shape follows from more than
    /// their fields. All words that were written as bytes must lie in objects of bytes.
    fn find(heap: &Heap, raw: &Raw) -> Result<(Starts, Vec<Value>), ImageError> {
        let (twos, rest) = heap.old_words().as_chunks();
        if !rest.is_empty() {
            return Err(ImageError::WrongShape(None));
        }
        let mut starts = Starts {
            begins: vec![0; twos.len()],
            walked: 0,
        };
        starts.expect_tables(heap)?;
        let mut shapes = Vec::new();
        let mut bytes_left = raw.count();
        loop {
            starts.pairs(twos)?;
            let place = starts.walked;
            let Some(&[first, _]) = twos.get(place) else {
                break;
            };
            let header = Header::from_value(Value::from_bits(first)).ok_or(ImageError::WrongShape(None))?;
            let object = starts.object(heap, header)?;
            if header.kind.is_raw() {
                bytes_left -= raw.count_within(place * 2 + 1..starts.walked * 2);
            } else if !matches!(header.kind, Kind::String | Kind::Vector) {
                shapes.push(object);
            }
        }
        match bytes_left {
            0 => Ok((starts, shapes)),
            _ => Err(ImageError::WrongShape(None)),
        }
    }

    /// Lets no reference lead to the [`TABLES`], each of which must be another object.
    fn expect_tables(&mut self, heap: &Heap) -> Result<(), ImageError> {
        for register in TABLES {
            let table = heap.register(register);
            if table.is_reference() {
                match self.begins.get_mut(table.index() / 2) {
                    Some(begins) if *begins == 0 && table.tag() == OBJECT => *begins = TABLE,
                    Some(_) => return Err(ImageError::WrongShape(None)),
                    None => return Err(ImageError::DanglingReference),
                }
            }
        }
        Ok(())
    }

    /// Walks the pairs that come next.
    fn pairs(&mut self, twos: &[[u64; 2]]) -> Result<(), ImageError> {
        let begins = self.begins.as_mut_slice();
        let mut walked = self.walked;
        for pair in &twos[walked..] {
            let (car, cdr) = (Value::from_bits(pair[0]), Value::from_bits(pair[1]));
            if car.is_immediate(Immediate::Header) {
                break;
            }
            let is_expected = matches!(begins[walked], 0 | PAIR);
            begins[walked] = PAIR;
            walked += 1;
            if !(is_expected && is_sound_field(car, begins, walked) && is_sound_field(cdr, begins, walked)) {
                return Err(fault(None, pair, begins, walked));
            }
        }
        self.walked = walked;
        Ok(())
    }

    /// Walks the object with this header, which comes next, and requires of it the shape of its
    /// kind, as far as that is known by now, as it is of most objects of most heaps.
    fn object(&mut self, heap: &Heap, header: Header) -> Result<Value, ImageError> {
        let Header { kind, length, .. } = header;
        let index = self.walked * 2;
        let object = match kind.is_procedure() {
            true => Value::procedure_at(index),
            false => Value::object_at(index),
        };
        let is_characters = matches!(kind, Kind::NarrowCharacters | Kind::WideCharacters);
        let found = object.tag() | if is_characters { CHARACTERS } else { 0 };
        self.begin(found, header.object_words() / 2)?;
        if kind.is_raw() {
            return match is_sound_raw(heap, object, kind) {
                true => Ok(object),
                false => Err(ImageError::WrongShape(Some(kind))),
            };
        }
        let fields = &heap.old_words()[index + 1..][..length as usize];
        let mut values = fields.iter().map(|word| Value::from_bits(*word));
        let (begins, walked) = (self.begins.as_mut_slice(), self.walked);
        let are_sound = if kind == Kind::Vector {
            values.all(|word| is_sound_field(word, begins, walked))
        } else if kind == Kind::String {
            length == 1 && values.all(|word| may_be_characters(word, begins, walked))
        } else {
            values.all(|word| !word.is_reference() || leads_to_object(word, begins, walked))
        };
        match are_sound {
            true => Ok(object),
            false => Err(fault(Some(kind), fields, begins, walked)),
        }
    }

    /// Takes note of what begins where the walk is, and passes over that many times two words,
    /// within which nothing may begin.
    fn begin(&mut self, found: u8, length: usize) -> Result<(), ImageError> {
        let object = self.begins[self.walked..].get_mut(..length);
        let (begins, inside) = object
            .and_then(<[u8]>::split_first_mut)
            .ok_or(ImageError::WrongShape(None))?;
        let is_expected = match *begins {
            TABLE => true,
            expected => expected == 0 || expected == found & TAG || expected == found,
        };
        if *begins != TABLE {
            *begins = found;
        }
        self.walked += length;
        match is_expected && inside.iter().all(|begins| *begins == 0) {
            true => Ok(()),
            false => Err(ImageError::DanglingReference),
        }
    }

    /// Whether a register's word is no reference, or leads to what the walk found.
    fn are_sound_for(&self, word: Value) -> bool {
        let begins = || self.begins.get(word.index() / 2);
        !word.is_reference() || begins().is_some_and(|begins| begins & TAG == word.tag())
    }
}

/// Whether `word` may stand in a field of an ordinary object.
#[inline(always)]
fn is_sound_field(word: Value, begins: &mut [u8], walked: usize) -> bool {
    // Most words of large vectors.
    if word.is_fixnum() {
        true
    } else if word.is_reference() {
        leads_to_object(word, begins, walked)
    } else {
        may_be_field(word)
    }
}

/// Whether an object that fits the reference begins where it leads, or may, if the walk has not
/// come there; then it must.
#[inline(always)]
fn leads_to_object(reference: Value, begins: &mut [u8], walked: usize) -> bool {
    let place = reference.index() / 2;
    let Some(begins) = begins.get_mut(place) else {
        return false;
    };
    if *begins == 0 && place >= walked {
        *begins = reference.tag();
    }
    *begins & TAG == reference.tag()
}

/// The same of an object of characters, which is what a string may have.
fn may_be_characters(word: Value, begins: &mut [u8], walked: usize) -> bool {
    const FOUND: u8 = OBJECT | CHARACTERS;
    let place = word.index() / 2;
    match begins.get_mut(place).filter(|_| word.is_object()) {
        Some(begins) if *begins == FOUND => true,
        Some(begins) if place >= walked && matches!(*begins, 0 | OBJECT) => {
            *begins = FOUND;
            true
        }
        _ => false,
    }
}

/// Says what is wrong with fields of which one is not sound.
#[cold]
fn fault(kind: Option<Kind>, fields: &[u64], begins: &mut [u8], walked: usize) -> ImageError {
    let mut references = fields
        .iter()
        .map(|word| Value::from_bits(*word))
        .filter(|word| word.is_reference());
    match references.all(|word| leads_to_object(word, begins, walked)) {
        true => ImageError::WrongShape(kind),
        false => ImageError::DanglingReference,
    }
}

#[cfg(test)]
mod tests;
