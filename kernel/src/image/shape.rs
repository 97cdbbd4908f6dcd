//! Whether an object that came from outside is what its kind promises the rest of the kernel.
//!
//! INVARIANT: accessors of the heap, the collector, equality, hashing and tables neither fail nor
//! loop on well-formed objects; frames can be walked, and [`CodeNames`] has accepted each of them
//! and each closure.
//! It cannot tell which registers of a frame must hold cells. Read next: `heap/kind.rs`.

use std::collections::BTreeMap;

use super::CodeNames;
use crate::heap::kind::{condition, link, opaque, port, promise, prompt_link, record_type, symbol};
use crate::heap::{Flags, Heap, Kind};
use crate::value::{Immediate, Value};

/// Whether a word may stand in a field of an ordinary object: anything a variable may hold.
#[inline]
pub(super) fn may_be_field(word: Value) -> bool {
    word.tag() != Value::NIL.tag()
        || !(word.is_immediate(Immediate::Header)
            || word.is_immediate(Immediate::Return)
            || word.is_immediate(Immediate::Code))
}

/// Whether `object`, a reference to a pair or header in place, has the shape of its kind.
pub(super) fn is_well_formed(heap: &Heap, code: &dyn CodeNames, object: Value) -> bool {
    let Some(header) = heap.header(object) else {
        return object.is_pair() && may_be_field(heap.car(object)) && may_be_field(heap.cdr(object));
    };
    if header.kind.is_procedure() != object.is_procedure_object() {
        return false;
    }
    if header.kind.is_raw() {
        return is_sound_raw(heap, object, header.kind);
    }
    let fields = heap.field_words(object);
    let is_field = |word: Value| match header.kind == Kind::Frames {
        true => !word.is_immediate(Immediate::Header),
        false => may_be_field(word),
    };
    let are_fields = fields
        .iter()
        .skip((header.kind == Kind::Closure).into())
        .all(|&word| is_field(Value::from_bits(word)));
    are_fields
        && has_fields_of_kind(heap, object, header.kind, header.length as usize)
        && (header.kind != Kind::Closure || code.accepts_closure(heap, object))
        && (header.kind != Kind::Link || has_sound_frames(heap, code, object))
}

fn has_fields_of_kind(heap: &Heap, object: Value, kind: Kind, length: usize) -> bool {
    let field = |field: usize| heap.field(object, field);
    let is = |place: usize, kind: Kind| heap.is_kind(field(place), kind);
    let is_link = |place: usize| field(place) == Value::NIL || is(place, Kind::Link) || is(place, Kind::PromptLink);
    let is_count = |place: usize| field(place).as_fixnum().is_some_and(|count| count >= 0);
    match kind {
        Kind::Closure => length > 0 && field(0).is_immediate(Immediate::Code),
        Kind::String => length == 1 && is_characters(heap, field(0)),
        Kind::Symbol => {
            length == symbol::LENGTH
                && is_characters(heap, field(symbol::STORAGE))
                && is_count(symbol::HASH)
                && (!field(symbol::KEYWORD).is_true() || is(symbol::KEYWORD, Kind::Keyword))
        }
        Kind::Keyword => length == 1 && is(0, Kind::Symbol),
        Kind::Ratio => length == 2 && is_ratio(heap, object),
        Kind::Complex => length == 2 && is_real(heap, field(0)) && field(1) != Value::ZERO && is_real(heap, field(1)),
        Kind::Cell | Kind::PromptTag => length == 1,
        Kind::RecordType => {
            length == record_type::LENGTH
                && is(record_type::NAME, Kind::Symbol)
                && is_vector_of_symbols(heap, field(record_type::FIELD_NAMES))
                && is_count(record_type::SERIAL)
                && (!field(record_type::PARENT).is_true() || is(record_type::PARENT, Kind::RecordType))
        }
        Kind::Record => length > 0,
        Kind::Dictionary | Kind::Set => heap.is_sound_table(object),
        Kind::Promise => length == promise::LENGTH,
        Kind::Condition => length == condition::LENGTH && is(condition::KIND, Kind::Symbol),
        Kind::Link => {
            length == link::LENGTH && is(link::FRAMES, Kind::Frames) && is_link(link::NEXT) && is_count(link::LIMIT)
        }
        Kind::PromptLink => length == prompt_link::LENGTH && is_link(prompt_link::NEXT),
        Kind::Opaque => length == opaque::LENGTH && is_count(opaque::CLASS) && is_count(opaque::ID),
        Kind::Port => {
            let count = |place: usize| field(place).as_fixnum();
            length == port::LENGTH
                && is_count(port::FLAGS)
                && is(port::BUFFER, Kind::Bytevector)
                && is_count(port::START)
                && count(port::START) <= count(port::END)
                && count(port::END) <= Some(heap.object_length(field(port::BUFFER)) as i64)
        }
        Kind::Vector | Kind::Values | Kind::Frames | Kind::Environment => true,
        Kind::NarrowCharacters | Kind::WideCharacters | Kind::Bytevector | Kind::Bignum | Kind::Flonum => false,
    }
}

/// Whether the frames of a segment can be walked from the last that is not cleared down, the link's
/// limit is where one of them ends, and the code accepts each.
///
/// The collector walks from the limit of one link to that of another, so all links of a segment
/// must agree on where frames are.
fn has_sound_frames(heap: &Heap, code: &dyn CodeNames, segment: Value) -> bool {
    let frames = heap.field(segment, link::FRAMES);
    let limit = heap.field(segment, link::LIMIT).as_fixnum().unwrap_or(0) as usize;
    let is_cleared = |word: &&u64| **word == Value::ZERO.to_bits();
    let cleared = heap.field_words(frames).iter().rev().take_while(is_cleared).count();
    let mut remaining = heap.object_length(frames) - cleared;
    let mut ends_frame = limit == 0;
    while remaining > 0 {
        ends_frame |= remaining == limit;
        let point = heap.field(frames, remaining - 1);
        let words = point.detail() as usize;
        if !point.is_immediate(Immediate::Return) || words < 2 || words > remaining {
            return false;
        }
        let start = remaining - words;
        // Registers that are read no more may hold anything, also return points of calls that are
        // over.
        if !code.accepts_frame(heap, point.payload(), heap.field(frames, start)) {
            return false;
        }
        remaining = start;
    }
    ends_frame
}

/// Whether the chain of continuation segments from each of `objects` that is one comes to an end.
pub(super) fn do_chains_end(heap: &Heap, objects: impl Iterator<Item = Value>) -> bool {
    let next_of = |object: Value| match heap.kind_of(object) {
        Some(Kind::Link) => Some(heap.field(object, link::NEXT)),
        Some(Kind::PromptLink) => Some(heap.field(object, prompt_link::NEXT)),
        _ => None,
    };
    // The walk that first came to each segment: meeting one of an earlier walk is an end, meeting
    // one of the same walk a cycle.
    let mut walks = BTreeMap::new();
    for (walk, first) in objects.enumerate() {
        let mut segment = first;
        while let Some(next) = next_of(segment) {
            match walks.insert(segment.index(), walk) {
                None => segment = next,
                Some(earlier) if earlier == walk => return false,
                Some(_) => break,
            }
        }
    }
    true
}

fn is_vector_of_symbols(heap: &Heap, vector: Value) -> bool {
    let is_symbol = |word: &u64| heap.is_kind(Value::from_bits(*word), Kind::Symbol);
    heap.is_kind(vector, Kind::Vector) && heap.field_words(vector).iter().all(is_symbol)
}

/// Whether a string may keep its characters there.
#[inline]
fn is_characters(heap: &Heap, storage: Value) -> bool {
    heap.is_kind(storage, Kind::NarrowCharacters) || heap.is_kind(storage, Kind::WideCharacters)
}

fn is_ratio(heap: &Heap, ratio: Value) -> bool {
    let is_integer = |value: Value| value.is_fixnum() || heap.is_kind(value, Kind::Bignum);
    let (numerator, denominator) = (heap.field(ratio, 0), heap.field(ratio, 1));
    let is_above_one = match denominator.as_fixnum() {
        Some(denominator) => denominator > 1,
        None => is_integer(denominator) && !heap.flags(denominator).has(Flags::NEGATIVE),
    };
    is_integer(numerator) && is_above_one
}

/// Whether a part of a complex number is a number of its own; that it is sound is checked where it
/// is restored.
fn is_real(heap: &Heap, part: Value) -> bool {
    heap.is_number(part) && !heap.is_kind(part, Kind::Complex)
}

/// Whether the bytes of a raw object are what its kind promises.
pub(super) fn is_sound_raw(heap: &Heap, object: Value, kind: Kind) -> bool {
    let bytes = heap.raw_bytes(object);
    if kind == Kind::NarrowCharacters {
        bytes.is_ascii()
    } else if kind == Kind::WideCharacters {
        let (places, rest) = bytes.as_chunks();
        rest.is_empty()
            && places
                .iter()
                .all(|place| char::from_u32(u32::from_le_bytes(*place)).is_some())
    } else if kind == Kind::Bignum {
        let is_trimmed = bytes.last().is_some_and(|&last| last != 0);
        is_trimmed
            && heap
                .as_big_integer(object)
                .is_some_and(|integer| !Heap::is_fixnum_integer(&integer))
    } else if kind == Kind::Flonum {
        bytes.len() == 8
            && heap
                .as_flonum(object)
                .is_some_and(|number| Value::flonum(number).is_none())
    } else {
        kind == Kind::Bytevector
    }
}
