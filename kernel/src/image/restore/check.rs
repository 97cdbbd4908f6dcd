//! Whether restored words are a heap.
//!
//! INVARIANT: what passes can be walked, collected and run.
//! It does not read chunks. Read next: `image/shape.rs`.

use super::super::shape::{do_chains_end, is_well_formed, may_be_field};
use super::Raw;
use crate::heap::kind::extent;
use crate::heap::{Header, Heap, Kind, Register};
use crate::image::{CodeNames, ImageError};
use crate::value::{Immediate, Value};

/// Checks every reference, then every shape, and that no word that was written as bytes is read otherwise; returns the dictionaries and sets.
pub(super) fn check(heap: &Heap, code: &dyn CodeNames, raw: &Raw) -> Result<Vec<Value>, ImageError> {
    let words = heap.old_words();
    let mut starts = vec![false; words.len().div_ceil(2)];
    let mut objects = Vec::new();
    let mut index = 0;
    while index < words.len() {
        let first_word = Value::from_bits(words[index]);
        let next = index + extent(first_word);
        let is_raw = Header::from_value(first_word).is_some_and(|header| header.kind.is_raw());
        if next > words.len() || raw.has(index..if is_raw { index + 1 } else { next }) {
            return Err(ImageError::WrongShape(None));
        }
        starts[index / 2] = true;
        objects.push(reference_to(words, index));
        index = next;
    }
    let is_start = |index: usize| starts.get(index / 2) == Some(&true);
    let is_sound = |word: &u64| {
        let word = Value::from_bits(*word);
        !word.is_reference() || is_start(word.index()) && reference_to(words, word.index()) == word
    };
    let fields = |object: Value| match heap.header(object) {
        Some(header) if header.kind.is_raw() => &[],
        Some(_) => heap.field_words(object),
        None => &words[object.index()..object.index() + 2],
    };
    let registers = || Register::ALL.iter().map(|&register| heap.register(register));
    // Shapes are looked at once every reference is known to lead somewhere, except those that follow from the fields.
    let mut shapes = Vec::new();
    for &object in &objects {
        let is_plain = object.is_pair() || heap.is_kind(object, Kind::Vector);
        let are_sound = |word: &u64| is_sound(word) && (!is_plain || may_be_field(Value::from_bits(*word)));
        if !fields(object).iter().all(are_sound) {
            return Err(match fields(object).iter().all(is_sound) {
                true => ImageError::WrongShape(heap.kind_of(object)),
                false => ImageError::DanglingReference,
            });
        }
        if !is_plain {
            shapes.push(object);
        }
    }
    if !registers().all(|word| is_sound(&word.to_bits())) {
        return Err(ImageError::DanglingReference);
    }
    if let Some(&object) = shapes.iter().find(|&&object| !is_well_formed(heap, code, object)) {
        return Err(ImageError::WrongShape(heap.kind_of(object)));
    }
    let has_sound_registers = registers().all(may_be_field) && heap.has_sound_registers();
    if has_sound_registers && do_chains_end(heap, shapes.iter().copied()) {
        let is_table = |object: &Value| matches!(heap.kind_of(*object), Some(Kind::Dictionary | Kind::Set));
        shapes.retain(is_table);
        Ok(shapes)
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
