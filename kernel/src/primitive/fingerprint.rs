//! The fingerprint of a procedure: the hash of its code and of the values that it has captured.
//!
//! INVARIANT: no address, index or load order enters a hash, so equal procedures have equal
//! fingerprints in any heap and any process; sharing and cycles among captured values count.
//! It does not hash code; [`Names`](crate::names::Names) does.
//! Read next: `../names.rs`.

use std::collections::BTreeMap;

use super::{Context, PrimitiveError, wrong_type};
use crate::heap::kind::{Flags, record_type};
use crate::heap::{Heap, Kind, rate};
use crate::names::Fingerprint;
use crate::value::{Immediate, Value};

/// The bytes before a part that no kind of object has.
const WORD: u8 = 0;
const PAIR: u8 = 1;
const PRIMITIVE: u8 = 2;
const AGAIN: u8 = 3;

/// Returns the fingerprint of a procedure and pays for it. A procedure that has captured nothing
/// has the hash of its code.
///
/// # Errors
/// `wrong-type` if the value is not a procedure; if the fuel is used up.
pub(super) fn fingerprint(context: &mut Context<'_>, procedure: Value) -> Result<Fingerprint, PrimitiveError> {
    let mut found = of_code(context, procedure).ok_or(wrong_type(0, "a procedure"))?;
    context.heap.spend(found.fuel)?;
    if captured(context.heap, procedure).next().is_some() {
        let mut walk = Walk::default();
        walk.pending.push(procedure);
        while let Some(part) = walk.pending.pop() {
            context.heap.spend(1)?;
            walk.add(context, part)?;
        }
        found.hash = *walk.hasher.finalize().as_bytes();
    }
    Ok(found)
}

fn of_code(context: &Context<'_>, procedure: Value) -> Option<Fingerprint> {
    if procedure.is_immediate(Immediate::Primitive) {
        let name = context.names.primitive_name(procedure.payload());
        return Some(Fingerprint::of_primitive(name));
    }
    let is_closure = procedure.is_procedure_object();
    is_closure.then(|| context.names.fingerprint(context.heap.field(procedure, 0).payload()))?
}

/// The values that a procedure has captured.
fn captured(heap: &Heap, procedure: Value) -> impl Iterator<Item = Value> + '_ {
    let length = if procedure.is_procedure_object() {
        heap.object_length(procedure)
    } else {
        0
    };
    (1..length).map(move |index| heap.field(procedure, index))
}

/// A walk through all that a procedure has captured, in an order that its structure gives.
#[derive(Default)]
struct Walk {
    hasher: blake3::Hasher,
    /// The objects that have been met, by their words, with their positions in the walk.
    met: BTreeMap<u64, u64>,
    pending: Vec<Value>,
}

impl Walk {
    fn tag(&mut self, tag: u8, count: usize) {
        self.hasher.update(&[tag]);
        self.hasher.update(&(count as u64).to_le_bytes());
    }

    /// Puts parts in front of what is pending.
    fn push(&mut self, parts: impl Iterator<Item = Value>) {
        let first = self.pending.len();
        self.pending.extend(parts);
        self.pending[first..].reverse();
    }

    fn add(&mut self, context: &Context<'_>, value: Value) -> Result<(), PrimitiveError> {
        let heap = &*context.heap;
        let header = heap.header(value);
        if !value.is_pair() && header.is_none() {
            self.word(context, value);
            return Ok(());
        }
        let position = self.met.len() as u64;
        if let Some(earlier) = self.met.get(&value.to_bits()) {
            let earlier = *earlier as usize;
            self.tag(AGAIN, earlier);
            return Ok(());
        }
        self.met.insert(value.to_bits(), position);
        match header {
            None => {
                self.tag(PAIR, 0);
                self.push([heap.car(value), heap.cdr(value)].into_iter());
                Ok(())
            }
            Some(header) => self.object(context, value, header.kind),
        }
    }

    fn word(&mut self, context: &Context<'_>, value: Value) {
        if value.is_immediate(Immediate::Primitive) {
            let name = context.names.primitive_name(value.payload());
            self.tag(PRIMITIVE, name.len());
            self.hasher.update(name.as_bytes());
        } else {
            self.tag(WORD, 0);
            self.hasher.update(&value.to_bits().to_le_bytes());
        }
    }

    fn object(&mut self, context: &Context<'_>, value: Value, kind: Kind) -> Result<(), PrimitiveError> {
        let heap = &*context.heap;
        match kind {
            Kind::Closure => {
                let Some(code) = of_code(context, value) else {
                    self.tag(kind.code(), 0);
                    return Ok(());
                };
                heap.spend(code.fuel)?;
                self.tag(kind.code(), heap.object_length(value));
                self.hasher.update(&code.hash);
                self.push(captured(heap, value));
            }
            Kind::String => {
                heap.spend(heap.string_length(value) as u64 / rate::CHARACTERS)?;
                self.text(kind, &heap.string_characters(value).collect::<String>());
            }
            Kind::Symbol => self.text(kind, &heap.symbol_name(value)),
            Kind::Keyword => self.text(kind, &heap.symbol_name(heap.field(value, 0))),
            Kind::RecordType => self.text(kind, &heap.symbol_name(heap.field(value, record_type::NAME))),
            Kind::Vector | Kind::Ratio | Kind::Complex | Kind::Values | Kind::Record | Kind::Opaque => {
                self.tag(kind.code(), heap.object_length(value));
                self.push((0..heap.object_length(value)).map(|index| heap.field(value, index)));
            }
            Kind::Dictionary | Kind::Set => {
                self.tag(kind.code(), heap.table_count(value));
                self.push(entries(heap, value).into_iter());
            }
            // The data of an assigned variable are state; a procedure in one is part of the code.
            Kind::Cell => {
                let held = heap.field(value, 0);
                self.tag(kind.code(), 0);
                let is_code = held.is_procedure_object() || held.is_immediate(Immediate::Primitive);
                self.push(Some(held).filter(|_| is_code).into_iter());
            }
            Kind::NarrowCharacters | Kind::WideCharacters | Kind::Bytevector | Kind::Bignum | Kind::Flonum => {
                let bytes = heap.raw_bytes(value);
                heap.spend(bytes.len() as u64 / rate::BYTES)?;
                self.tag(kind.code(), bytes.len());
                self.hasher.update(&[u8::from(heap.flags(value).has(Flags::NEGATIVE))]);
                self.hasher.update(bytes);
            }
            Kind::Promise
            | Kind::Condition
            | Kind::PromptTag
            | Kind::Frames
            | Kind::Link
            | Kind::PromptLink
            | Kind::Port
            | Kind::Environment => self.tag(kind.code(), 0),
        }
        Ok(())
    }

    fn text(&mut self, kind: Kind, text: &str) {
        self.tag(kind.code(), text.len());
        self.hasher.update(text.as_bytes());
    }
}

/// The keys and values of a table, in the order of insertion.
fn entries(heap: &Heap, table: Value) -> Vec<Value> {
    let mut found = Vec::new();
    let mut next = heap.table_next(table, 0);
    while let Some(entry) = next {
        found.extend([entry.key, entry.value]);
        next = heap.table_next(table, entry.ordinal + 1);
    }
    found
}
