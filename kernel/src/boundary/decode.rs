//! Packed bytes to heap values.
//!
//! INVARIANT: values are built bottom-up from complete parts, and nothing is collected meanwhile, so no root is needed.
//! It does not check the bytes. Read next: `boundary/scan.rs`.

use num_bigint::BigInt;

use super::convert::Builder;
use super::error::BoundaryError;
use super::packed::Compound;
use super::scan::{Atom, Sink, SinkFault, scan};
use super::{Capabilities, Limits};
use crate::heap::{Flags, Heap, HeapFull, Kind};
use crate::value::Value;

pub(super) fn decode(
    heap: &mut Heap,
    bytes: &[u8],
    limits: Limits,
    capabilities: &mut dyn Capabilities,
) -> Result<Value, BoundaryError> {
    let mut decoder = Decoder {
        heap,
        capabilities,
        values: Vec::new(),
        open: Vec::new(),
        embedded: None,
    };
    scan(bytes, limits, &mut decoder)?;
    Ok(decoder.values.pop().unwrap_or(Value::UNSPECIFIED))
}

struct Decoder<'a> {
    heap: &'a mut Heap,
    capabilities: &'a mut dyn Capabilities,
    values: Vec<Value>,
    /// What is open, and how many values stood before it.
    open: Vec<(Compound, usize)>,
    /// Takes the events inside an embedded value, which is for the host to understand.
    embedded: Option<Builder>,
}

impl From<HeapFull> for SinkFault {
    fn from(_: HeapFull) -> SinkFault {
        SinkFault::HeapFull
    }
}

impl Sink for Decoder<'_> {
    fn atom(&mut self, atom: Atom<'_>) -> Result<(), SinkFault> {
        if let Some(builder) = &mut self.embedded {
            return builder.atom(atom);
        }
        let value = match atom {
            Atom::Boolean(truth) => Value::boolean(truth),
            Atom::Double(number) => double(self.heap, number)?,
            Atom::Integer(bytes) => integer(self.heap, bytes)?,
            Atom::String(text) => self.heap.string(text)?,
            Atom::Bytes(bytes) => self.heap.bytevector(bytes)?,
            Atom::Symbol(name) => match name.strip_prefix(':') {
                Some(keyword) => self.heap.keyword(keyword)?,
                None => self.heap.intern(name)?,
            },
        };
        self.values.push(value);
        Ok(())
    }

    fn open(&mut self, compound: Compound) -> Result<(), SinkFault> {
        match (&mut self.embedded, compound) {
            (Some(builder), _) => builder.open(compound),
            (None, Compound::Embedded) => {
                self.embedded = Some(Builder::default());
                Ok(())
            }
            (None, Compound::Record | Compound::Sequence | Compound::Set | Compound::Dictionary) => {
                self.open.push((compound, self.values.len()));
                Ok(())
            }
        }
    }

    fn close(&mut self) -> Result<(), SinkFault> {
        let value = match &mut self.embedded {
            Some(builder) if !builder.is_complete() => return builder.close(),
            Some(builder) => {
                let embedded = builder.finished();
                self.embedded = None;
                let reference = self.capabilities.admit(&embedded).ok_or(SinkFault::UnknownCapability)?;
                self.heap.make_opaque(reference.class, reference.id, Value::FALSE)?
            }
            None => {
                let Some((compound, bottom)) = self.open.pop() else {
                    return Ok(());
                };
                let value = compound_value(self.heap, compound, &self.values[bottom..])?;
                self.values.truncate(bottom);
                value
            }
        };
        self.values.push(value);
        Ok(())
    }
}

fn compound_value(heap: &mut Heap, compound: Compound, parts: &[Value]) -> Result<Value, SinkFault> {
    match (compound, parts) {
        (Compound::Record, [label, fields @ ..]) => Ok(heap.make_record(*label, fields)?),
        (Compound::Set, _) => {
            let set = heap.make_set()?;
            for &member in parts {
                heap.table_put(set, member, member)?;
            }
            full_table(heap, set, parts.len())
        }
        (Compound::Dictionary, _) => {
            let dictionary = heap.make_dictionary()?;
            for entry in parts.chunks_exact(2) {
                heap.table_put(dictionary, entry[0], entry[1])?;
            }
            full_table(heap, dictionary, parts.len() / 2)
        }
        (Compound::Sequence | Compound::Embedded | Compound::Record, _) => Ok(heap.list(parts, Value::NIL)?),
    }
}

/// Keys that differ as bytes may be equal here: two embedded values that the host takes for one.
fn full_table(heap: &Heap, table: Value, entries: usize) -> Result<Value, SinkFault> {
    if heap.table_count(table) == entries {
        Ok(table)
    } else {
        Err(SinkFault::DuplicateKey)
    }
}

fn integer(heap: &mut Heap, bytes: &[u8]) -> Result<Value, HeapFull> {
    if bytes.len() > 8 {
        return heap.big_integer(&BigInt::from_signed_bytes_be(bytes));
    }
    let sign = if bytes.first().is_some_and(|first| first & 0x80 != 0) {
        -1
    } else {
        0
    };
    heap.integer(bytes.iter().fold(sign, |number, &byte| number << 8 | i64::from(byte)))
}

/// A double, bit for bit: the payload of a NaN is part of the value outside, so it is kept inside.
fn double(heap: &mut Heap, number: f64) -> Result<Value, HeapFull> {
    if number.is_nan() {
        heap.make_raw(Kind::Flonum, Flags::NONE, &number.to_bits().to_le_bytes())
    } else {
        heap.flonum(number)
    }
}
